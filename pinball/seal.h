/* seal.h - whether this user made a recording here.
 *
 * SPDX-License-Identifier: MIT
 *
 * A mark inside a pinball cannot tell, since anybody can write one. A seal can: an HMAC-SHA256 with
 * a key that only this user has, `drdebug/key` below $XDG_STATE_HOME or ~/.local/state, made with
 * the first recording. A seal is the last line of a text.
 *
 * 1. The head's is made with the user's key. Its line `nonce` is random, so no two heads are equal.
 * 2. An entry's of `index` or `extras` is made with a key that follows from the head, over the name
 *    of that file, the entry's number and its text. So nobody who has a recording of ours can
 *    change what it keeps, or add to it: kept files have the debug information, which names
 *    sources.
 * 3. An entry has the SHA-256 sums of contents. Code that trusts debug information because a
 *    recording is our own checks them first: pinball_file_check().
 *
 * Events, end and notes have no seal. They name no file, and they only drive the replaying process,
 * which is in a sandbox.
 */
#ifndef PINBALL_SEAL_H
#define PINBALL_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "pinball/sha256.h"
#include "pinball/text.h"

struct seal {
    bool made; /* {0}: none */
    uint8_t key[SHA256_BYTES];
};

/* Adds nonce and seal to a head. Without a key, adds nothing: the recording is a stranger's. */
void seal_head(struct seal *seal, struct text *text);
/* Adds a seal to entry `number` of `index` or `extras`; nothing if the head has none. */
void seal_entry(const struct seal *seal, const char *name, uint64_t number, struct text *text);

/* Whether the head has this user's seal, which *seal then is for the entries. */
bool seal_check_head(struct seal *seal, const char *text, size_t bytes);
bool seal_check_entry(const struct seal *seal, const char *name, uint64_t number, const char *text,
                      size_t bytes);

#endif
