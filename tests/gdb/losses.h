/* losses.h - end or stop the processes of a replay behind its back.
 *
 * SPDX-License-Identifier: MIT
 *
 * For tests of what a timeline does about it. All that descend from the caller are meant, so it
 * must have no other children.
 */
#ifndef TESTS_GDB_LOSSES_H
#define TESTS_GDB_LOSSES_H

#include <stdint.h>

/* Kills the draw-th of them, modulo how many there are, and waits until it has ended. */
void losses_one(uint64_t draw);
void losses_all(void);
/* Stops all of them, then lets them go on. */
void losses_pause(void);

/* From here on a helper kills one now and then, but while it is held, and no more than are allowed:
 * a slow machine has no more losses in a move than a fast one. */
void losses_begin(unsigned seed);
void losses_allow(int losses);
void losses_hold(void);
void losses_release(void);
void losses_end(void);

#endif
