/* store.h - the files that a pinball is made of, in a directory or in one packed file.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name is `head`, `events` or `files/...`; never absolute, never with `..`. In a directory only
 * regular files count, and links are not followed: a stranger's pinball leads nowhere else.
 */
#ifndef PINBALL_STORE_H
#define PINBALL_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "pinball/chunk.h"

enum { STORE_NAME_BYTES = 128 }; /* longest name, with NUL */

struct store;

/* A member that is open; the span's label is `PATH/NAME`. */
struct member {
    struct span span;
    bool own_fd;
    char label[STORE_NAME_BYTES + 256];
};

struct store *store_open(const char *path, struct err *err);
void store_close(struct store *store);

/* 1, or 0 if there is none (*member is then closed, with its label), or -1. */
int store_find(struct store *store, const char *name, struct member *member, struct err *err);
void store_close_member(struct member *member); /* NULL and closed ones are allowed */

bool store_is_packed(const struct store *store);
int store_fd(const struct store *store); /* of the directory or of the packed file */
const char *store_path(const struct store *store);
uint64_t store_bytes(const struct store *store); /* of a packed one */

#endif
