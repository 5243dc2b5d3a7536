/* cut.h - a part of a recording, as a recording. SPDX-License-Identifier: MIT
 *
 * The part begins with the whole state of the program at a position, in place of the state right
 * after execve; what follows is the old log, as it is. Positions mean the same in both. A part that
 * ends before the old recording does ends with END_REGION.
 */
#ifndef REPLAYER_CUT_H
#define REPLAYER_CUT_H

#include "base/err.h"
#include "base/position.h"

struct pinball;

struct cut_options {
    const struct position *from, *to; /* to: before the instruction there; NULL: to the end */
    void (*message)(void *arg, const char *line); /* as in replay.h */
    void *arg;
};

/* Makes the directory `dir`, which must not be there (err->code EEXIST). err->code REPLAY_DIVERGED:
 * as in replay.h. */
int cut(struct pinball *pinball, const char *dir, const struct cut_options *options,
        struct err *err);

#endif
