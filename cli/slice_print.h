/* slice_print.h - a slice on standard output. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_PRINT_H
#define CLI_SLICE_PRINT_H

#include "slicer/values.h"

struct slice_print {
    struct study *study;
    const struct slice *slice;
    const struct criterion *criterion;
    const struct report *report;
    const char *text;            /* the criterion in the user's words */
    size_t lines;                /* rows at most */
    bool all;                    /* every instruction */
    const struct values *values; /* NULL: not wanted */
    bool steps;                  /* of JSON: statements in order; the report needs its nodes */
};

void slice_print_text(const struct slice_print *p);
void slice_print_json(const struct slice_print *p);

#endif
