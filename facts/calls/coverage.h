/* coverage.h - how often each line was executed.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line is executed when a thread comes to its code from another line's in the same call, when a
 * call begins there, or when it does the same again without leaving it: so a call on a line does
 * not count it twice, and a loop on one line counts each round, as gcov does. Lines of files that
 * are the user's (study_line()) count, those that were never executed too.
 */
#ifndef FACTS_CALLS_COVERAGE_H
#define FACTS_CALLS_COVERAGE_H

#include "facts/calls/follow.h"
#include "study/study.h"

struct coverage_line {
    const char *file;
    uint32_t line;
    uint64_t count;
};

struct coverage_function {
    const char *file, *name;
    uint32_t line;
    uint64_t count; /* executions; inlined ones are not */
};

struct coverage {
    struct coverage_line *line; /* by file and line */
    size_t lines, line_room;
    struct coverage_function *function; /* by file, line and name */
    size_t functions;
};

struct coverage_options {
    uint32_t thread; /* only what this one executed; 0: all */
    struct follow_watch watch;
};

/* *out is {0} or was given back. 0, 1, -1. */
int coverage_make(struct study *study, const struct coverage_options *o, struct coverage *out,
                  struct err *err);
void coverage_deinit(struct coverage *c);

#endif
