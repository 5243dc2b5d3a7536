/* position.h - a point of an execution, and its token.
 *
 * SPDX-License-Identifier: MIT
 *
 * `count` is the thread's progress counter: it ticks on every backward, indirect, call and return
 * transfer, so that between two ticks the pc only grows and (thread, count, pc) is met once. The
 * token is `T2:48213:401136`: thread, count, pc in hexadecimal. In a recording of several processes
 * threads are counted in each, and the token of all but the first begins with the process:
 * `P2.T4:451350:5570a4d4422f`.
 */
#ifndef BASE_POSITION_H
#define BASE_POSITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct position {
    uint32_t thread;
    uint64_t count, pc;
    uint32_t process; /* 0: the first one, which the token leaves out; or 2, 3, ... */
};

enum { POSITION_TEXT = 64 };

void position_format(const struct position *at, char text[POSITION_TEXT]);
int position_parse(const char *text, struct position *at, struct err *err);

/* -1 if a recording cannot have the position: recordings are of one process so far. */
int position_check(const struct position *at, struct err *err);

#endif
