/* sets.h - a slice, less or more of it by others. SPDX-License-Identifier: MIT */
#ifndef SLICER_CORRECT_SETS_H
#define SLICER_CORRECT_SETS_H

#include "slicer/criterion/criterion.h"

enum sets_how {
    SETS_MINUS,   /* without what the other one has */
    SETS_COMMON,  /* what both have */
    SETS_PLUS,    /* what either has */
    SETS_CORRECT, /* the other one's value is right (correct.h) */
    SETS_STRICT,  /* ... by instructions of one variable operand alone */
};

enum { SETS_MOST = 16 };

struct sets {
    struct {
        enum sets_how how;
        const char *text; /* the caller's */
    } term[SETS_MOST];
    size_t terms;
};

/* Adds what the terms of SETS_PLUS want to a criterion. */
int sets_widen(struct study *s, const struct sets *sets, const struct criterion_options *options,
               struct criterion *of, struct err *err);
/* The part of a backward slice that the other terms leave, one after the other. To be freed. NULL
 * with *err set. */
struct slice *sets_narrow(struct study *s, const struct sets *sets,
                          const struct criterion_options *options, const struct criterion *of,
                          const struct slice *slice, struct err *err);
/* Is there a term that leaves something out? */
bool sets_any(const struct sets *sets);

/* In the words of the command line: `--minus`. */
const char *sets_option(enum sets_how how);

#endif
