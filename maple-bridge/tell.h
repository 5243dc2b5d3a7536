/* tell.h - what a failure is, in words: lines, stacks, values, and the pattern that facts/ knows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MAPLE_BRIDGE_TELL_H
#define MAPLE_BRIDGE_TELL_H

#include "maple-bridge/reduce.h"

/* Fills in what the pairs' accesses read or wrote, by which calls, and what that is: from the
 * pinball in dir, whose trail is `d`. What cannot be found out stays empty. */
void tell_pairs(const char *dir, const struct agenda_done *d, struct reduced *r);

/* Tells a line for each thread that is part of a deadlock: what it waits for and where, in the
 * user's own code, and who holds that since where. */
void tell_deadlock(const char *dir, void (*line)(void *arg, const char *text), void *arg);

#endif
