/* turns.h - branches that another order of two threads would have turned.
 *
 * SPDX-License-Identifier: MIT
 *
 * What did not happen is in no slice. A branch of the slice's lines that read shared memory may
 * have gone its way because another thread wrote there just before, or not yet. Whether that
 * decided is tried: in a copy of the replay the memory gets the other value, and the thread goes on
 * to the branch.
 */
#ifndef SLICER_STORY_TURNS_H
#define SLICER_STORY_TURNS_H

#include "slicer/report/report.h"

enum { TURNS_MOST = 2, TURNS_TRIES = 20, TURNS_TEXT = 768 };

struct turn {
    struct position at;   /* of the read */
    struct position then; /* of the other thread's write */
    uint32_t row;         /* of the report, that the branch's line is in */
    char text[TURNS_TEXT];
};

/* The nearest to the criterion first. The report has flows. 0, or -1 with *err set. */
int turns_find(struct study *s, const struct report *r, struct turn out[TURNS_MOST], size_t *turns,
               struct err *err);

#endif
