/* chance.h - calls whose synchronisation orders threads by chance alone.
 *
 * SPDX-License-Identifier: MIT
 *
 * An allocator, the C library and the dynamic loader have locks of their own. That two threads have
 * called malloc() or printf() one after the other says nothing about what they did before: in
 * another run the order is another. What the program asks for does count: locks, semaphores and
 * their kin, also where a library asks for them (a queue of GLib's).
 *
 * Knows a call by the symbol of the function that was entered, and uses the frames' marks.
 */
#ifndef FACTS_ORDER_CHANCE_H
#define FACTS_ORDER_CHANCE_H

#include "study/study.h"

struct frame;
struct chance;

struct chance *chance_new(struct study *s, struct err *err);
void chance_free(struct chance *c); /* NULL is allowed */

/* Is what the frame's code does part of such a call? NULL: no. */
bool chance_is(struct chance *c, struct frame *f);

/* ... or of one by which the program synchronises its threads? */
bool chance_synchronises(struct chance *c, struct frame *f);

/* Is the function an allocator's, by its name as a symbol table has it? */
bool chance_allocates(const char *name);

#endif
