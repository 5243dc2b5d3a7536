/* words.h - text that grows, and bytes in quotes as strace has them.
 *
 * SPDX-License-Identifier: MIT
 *
 * {0} is empty. If there is no memory the text ends early; it always ends with NUL once something
 * was added.
 */
#ifndef DEBUG_EVENTS_WORDS_H
#define DEBUG_EVENTS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
    char *data;
    size_t bytes, room;
};

void words_add(struct words *t, const char *more);
void words_addf(struct words *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void words_clear(struct words *t);
void words_deinit(struct words *t);

enum words_quotes { WORDS_PLAIN, WORDS_HEX /* every byte as \xNN */ };
/* "bytes", with escapes in octal. */
void words_quote(struct words *t, const uint8_t *bytes, size_t n, enum words_quotes how);
void words_address(struct words *t, uint64_t addr); /* NULL for 0 */

#endif
