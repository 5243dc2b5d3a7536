/* times.h - all executions of what a row of a story says flowed. SPDX-License-Identifier: MIT */
#ifndef SLICER_STORY_TIMES_H
#define SLICER_STORY_TIMES_H

#include "slicer/report/values.h"

enum { TIMES_MOST = 200 }; /* that are listed */

struct story_times {
    struct slice_dependence *list; /* in the order of the execution: the latest; to be freed */
    size_t listed;
    uint64_t count;
};

/* Those between the same two instructions. -1: no memory. */
int times_list(const struct flows *f, const struct slice_dependence *use, struct story_times *out);

struct times_values {
    const char *first, *last;       /* of those listed whose values are known */
    const char *smallest, *largest; /* NULL: not all of them are numbers */
};

/* Values that were looked at with all of the list; false: none is known. */
bool times_values(const struct story_times *t, const struct values *v, struct times_values *out);

#endif
