/* slice_print.h - a slice on standard output. SPDX-License-Identifier: MIT */
#ifndef CLI_SLICE_PRINT_H
#define CLI_SLICE_PRINT_H

#include "slicer/correct/sets.h"
#include "slicer/report/saved.h"
#include "slicer/report/values.h"
#include "slicer/story/findings.h"
#include "slicer/story/missed.h"
#include "slicer/story/story.h"
#include "slicer/story/times.h"

struct slice_print {
    struct study *study;
    const struct slice *slice;
    const struct criterion *criterion;
    const struct report *report;
    const char *text;                /* the criterion in the user's words */
    const struct saved *of;          /* what was asked for */
    size_t lines;                    /* rows at most */
    bool all;                        /* every instruction */
    const struct values *values;     /* NULL: not wanted */
    const struct story *story;       /* NULL: none is to be told */
    const struct story_times *times; /* of its rows; NULL: not wanted */
    const struct findings *findings; /* with the story */
    const struct missed *missed;     /* the same */
    const struct report_row *told;   /* rows of a story that was printed before; NULL: none was */
    size_t tolds;
    bool only_story;         /* the rest is not known yet */
    const struct sets *sets; /* that it was combined with; NULL: none */
    const char *again;       /* the command that prints the same; "" if it is not known */
    bool steps;              /* of JSON: statements in order; the report needs its nodes */
};

/* "backward", "forward", "chop". */
const char *slice_print_kind(enum slice_kind kind);
/* What it was pruned by and limited to, each with `, ` between: "total, %rax"; "" if nothing. */
void slice_print_pruned(const struct saved *of, char *out, size_t room);
void slice_print_limits(const struct saved *of, char *out, size_t room);

/* cli/slice_story.c: findings and the story on standard output, and what is not in it by functions.
 */
void slice_story_print(const struct slice_print *p);
/* The criterion and the story alone, of a slice that is not known to its begin yet. */
void slice_print_first(const struct slice_print *p);
void slice_story_rest(const struct slice_print *p);
/* cli/slice_outside.c: fills in which calls brought what came from outside. */
void slice_outside_find(struct study *s, struct story *story);
/* Rows that are shown: without those that are not the user's, if there are others. To be freed. */
const struct report_row **slice_print_rows(const struct slice_print *p, size_t *count);

/* slice_format_writer: `path` and `err` are not used. */
int slice_print_text(const struct slice_print *p, const char *path, struct err *err);

#endif
