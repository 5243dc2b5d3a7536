/* rt.h - the runtime's own small libc: memory, text, allocation, fatal errors.
 *
 * SPDX-License-Identifier: MIT
 *
 * Everything here is callable from any thread that holds the baton, and from the exec helper.
 */
#ifndef ENGINE_RT_RT_H
#define ENGINE_RT_RT_H

#include <stdarg.h>

#include "engine/rt/types.h"

#pragma GCC visibility push(default)
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
#pragma GCC visibility pop
#ifndef ENGINE_HOSTED /* freestanding code gets no inline copies of a few bytes otherwise */
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#endif
bool rt_streq(const char *a, const char *b);
bool rt_prefix(const char *s, const char *prefix);
const char *rt_hex(const char *p, uint64_t *v); /* reads digits; returns what follows them */

/* Formats %s %d %u %x %lx %lu %ld %c %% (with 0 and width for numbers). Returns the length written,
 * without the terminating zero, never more than size - 1. */
size_t rt_format(char *out, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

size_t rt_vformat(char *out, size_t size, const char *fmt, va_list ap);

/* All lines go to this function instead, if it is set. */
extern void (*rt_line)(const char *line, size_t bytes);

/* One line `drdebug: ...` on the target's standard error, in one write. rt_say_to() has it go to
 * another descriptor from now on. */
void rt_say_to(int fd);
void rt_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The engine cannot go on: says why and ends the process with SIGABRT. If rt_dying is set, that is
 * called instead, and does not return. */
_Noreturn void rt_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern void (*rt_dying)(const char *text);

#define rt_check(cond)                                                                             \
    do {                                                                                           \
        if (!(cond))                                                                               \
            rt_die("internal error: %s:%d: %s", __FILE_NAME__, __LINE__, #cond);                   \
    } while (0)

#ifndef __FILE_NAME__
#define __FILE_NAME__ __FILE__
#endif

#endif
