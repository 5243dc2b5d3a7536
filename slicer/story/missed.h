/* missed.h - branches that kept lines of a slice from being executed once more.
 *
 * SPDX-License-Identifier: MIT
 *
 * A value may be wrong because a line that makes it was not executed: a check that went past it, a
 * search that ended too early. A slice has nothing of that, since what was not executed made
 * nothing. So branches are looked for that decide, by the code, whether an instruction of the slice
 * is executed, and whose latest executions led past it. What such an execution used has a slice of
 * its own; lines of that which the first slice has not are what is told.
 */
#ifndef SLICER_STORY_MISSED_H
#define SLICER_STORY_MISSED_H

#include "slicer/story/story.h"

enum { MISSED_ROWS = 4, MISSED_WORDS = 300 };

struct missed_row {
    struct report_row row; /* of a report of its own; strings are the study's */
    struct position at;
    const char *how; /* "not taken": the branch; else as of a row of a story */
    char words[MISSED_WORDS];
};

struct missed {
    struct missed_row row[MISSED_ROWS];
    size_t rows;
};

/* What is told beside a story. Rows of the story that say less give way. 0, or -1 with *err set. */
int missed_find(struct study *s, const struct slice *slice, const struct report *r,
                const struct criterion *c, const struct slice_options *options, struct story *t,
                struct missed *out, struct err *err);

#endif
