/* numbers.h - numbers, times and sizes in options. SPDX-License-Identifier: MIT */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* `text` is what --OPTION of a verb was given. -1, or a status after a message: it is no number, or
 * not one of least to most. */
int numbers_option(const char *verb, const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *out);

/* Threads, as in 2 or 2,3, for --only-thread: behind the *count that are in the list. Likewise. */
int numbers_threads(const char *verb, const char *text, uint32_t *list, size_t *count, size_t most);

/* 90s, 10m, 2h; seconds if nothing is said. -1: it is no time, or 0. */
int numbers_time(const char *text, uint64_t *ns);

/* 262144, 256K, 4M. -1: it is no size, or 0. */
int numbers_size(const char *text, uint64_t *bytes);

#endif
