/* race.h - dependences across threads that nothing orders.
 *
 * SPDX-License-Identifier: MIT
 *
 * A value that one thread wrote and another one read is a race if no synchronisation made the write
 * happen before the read (clocks.h): in another run the read may come first. Where both are plain
 * moves of one word and debug information does not tell its type, it may be an atomic variable,
 * which moves do not tell from others: that is a race perhaps. docs/slicing.md has the rules.
 */
#ifndef SLICER_RACE_H
#define SLICER_RACE_H

#include "slicer/edges.h"
#include "slicer/study.h"

enum race { RACE_NONE, RACE_MAYBE, RACE_CERTAIN };

/* Finds out what a dependence is; what that needs of the trace is made at the first dependence that
 * crosses threads, and kept with the study. */
int race_find(struct study *s, const struct slice_dependence *d, enum race *out, struct err *err);

/* "", "race?" or "race". */
const char *race_name(enum race race);

struct race_facts;
void race_free(struct race_facts *facts); /* NULL is allowed */

#endif
