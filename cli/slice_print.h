/* slice_print.h - a slice on standard output. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_PRINT_H
#define CLI_SLICE_PRINT_H

#include "slicer/report/saved.h"
#include "slicer/report/values.h"

struct slice_print {
    struct study *study;
    const struct slice *slice;
    const struct criterion *criterion;
    const struct report *report;
    const char *text;            /* the criterion in the user's words */
    const struct saved *of;      /* what was asked for */
    size_t lines;                /* rows at most */
    bool all;                    /* every instruction */
    const struct values *values; /* NULL: not wanted */
    bool steps;                  /* of JSON: statements in order; the report needs its nodes */
};

/* "backward", "forward", "chop". */
const char *slice_print_kind(enum slice_kind kind);
/* What it was pruned by and limited to, each with `, ` between: "total, %rax"; "" if nothing. */
void slice_print_pruned(const struct saved *of, char *out, size_t room);
void slice_print_limits(const struct saved *of, char *out, size_t room);

/* slice_format_writer: `path` and `err` are not used. */
int slice_print_text(const struct slice_print *p, const char *path, struct err *err);

#endif
