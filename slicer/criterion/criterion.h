/* criterion.h - what a slice is of, in the user's words.
 *
 * SPDX-License-Identifier: MIT
 *
 *     WHAT at WHERE            WHAT is a C expression (expression.h), %REG, or 0xADDR LEN; or
 *                              several: WHAT, WHAT
 *     uses of FILE:LINE        all that the line uses
 *     last write of WHAT       what the last instruction that wrote it used; `at WHERE` may follow
 *
 * WHERE is FILE:LINE or FUNCTION (behind that line's instance, see place.h), *ADDRESS, *START *END
 * (behind these instructions), a position like T1:2045:401136, or `end`, which is the default.
 * `thread N` and `frame N` may follow it: names and registers are those of that frame, 0 being the
 * innermost, of that thread; `instance N`: the Nth time that the line was reached.
 */
#ifndef SLICER_CRITERION_CRITERION_H
#define SLICER_CRITERION_CRITERION_H

#include "slicer/criterion/place.h"
#include "slicer/slice.h"
#include "study/output.h"

struct criterion_options {
    const char *text; /* NULL: the output, or the failure that ended the recording */
    const struct output_line *output;  /* what it is of; NULL: nothing that was written */
    const struct output_line *message; /* the last one on standard error; NULL: not known */
    uint64_t instance;
    uint32_t thread;
    bool values;                /* pointers that lead to the value do not count */
    struct slice_options slice; /* of use to find the last write */
};

struct criterion {
    struct slice_want *want;
    size_t wants;
    uint32_t thread; /* as in trace_step.thread */
    struct position position;
    gaddr pc;         /* in the line that it is about */
    gaddr scope;      /* names are those that are visible there; 0: at pc */
    uint32_t inlined; /* ... outside of so many calls that are inlined there */
    char what[512];   /* for people */
    char note[256];   /* what else they should know; may be empty */
};

/* -1 with *err set; code CRITERION_USAGE: the text is none. */
enum { CRITERION_USAGE = 200 };
int criterion_find(struct study *s, const struct criterion_options *options, struct criterion *out,
                   struct err *err);
void criterion_deinit(struct criterion *c);

/* For those who find criteria: adds a want. */
int criterion_want(struct criterion *c, struct slice_want want, struct err *err);
/* Takes `WHAT at WHERE` apart: WHAT is in `what`, of at least CRITERION_TEXT bytes, and *out is to
 * be deinitialized. 1: there is no `at`. */
enum { CRITERION_TEXT = 1024 };
int criterion_place(struct study *s, const char *text, char *what, struct place *out,
                    struct err *err);
/* slicer/criterion/expression.c: what a C expression reads there; wants of a register's locations,
 * and of all that an expression reads. */
struct expression;
int criterion_reads(struct study *s, const struct place *p, const char *text,
                    struct expression *out, struct err *err);
int criterion_register(struct criterion *out, const struct place *p, uint64_t first, uint64_t count,
                       struct err *err);
int criterion_expression(struct study *s, const struct criterion_options *options,
                         struct criterion *out, const struct place *p, const char *text,
                         struct err *err);
/* slicer/criterion/output.c: the bytes of a line that was written. */
int criterion_output(struct study *s, const struct output_line *line, struct criterion *out,
                     struct err *err);
/* slicer/criterion/failure.c */
int criterion_failure(struct study *s, const struct criterion_options *options,
                      struct criterion *out, struct err *err);
/* Without a trace: -1 with *err set: the recording's end is no failure. *message: what was written
 * last on standard error may be of use. */
int criterion_may_fail(struct study *s, bool *message, struct err *err);
/* slicer/criterion/deadlock.c: adds no want, if threads do not wait for each other at the end. */
int criterion_deadlock(struct study *s, struct criterion *out, struct err *err);

#endif
