/* profile.h - where the instructions of a trace were executed: by function, line, call and stack.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every instruction of the trace is counted once, so that the sums of self are what the trace has.
 * Costs of a function that was called while it ran are counted once in `inclusive`. A handler's
 * instructions are also in the function that it interrupted.
 */
#ifndef FACTS_CALLS_PROFILE_H
#define FACTS_CALLS_PROFILE_H

#include "facts/calls/follow.h"
#include "study/study.h"

struct profile_function {
    const char *name, *module; /* the name of code without symbols is the module's; never NULL */
    const char *file;          /* NULL: no line */
    uint32_t line;
    gaddr entry;
    uint64_t calls, self, inclusive;
};

/* Instructions of a line, as code of a function. */
struct profile_line {
    const char *file; /* NULL: code without lines */
    uint32_t line, function;
    uint64_t self;
};

/* Calls from one place to one function. */
struct profile_call {
    const char *file; /* NULL: code without lines */
    uint32_t line, from, to;
    uint64_t calls, inclusive;
};

/* A stack of functions; a function that calls itself is there once. Those below come before. */
struct profile_stack {
    uint32_t under; /* number of the stack without its top function; PROFILE_BOTTOM: none */
    uint32_t function;
    uint64_t self;
};
enum { PROFILE_BOTTOM = UINT32_MAX };

struct profile {
    struct profile_function *function;
    struct profile_line *line; /* by function, file and line */
    struct profile_call *call; /* by calling function, file, line, and the called one */
    struct profile_stack *stack;
    size_t functions, lines, calls, stacks;
    size_t function_room, line_room, call_room, stack_room;
    uint64_t insns; /* all of them */
};

struct profile_options {
    uint32_t thread; /* only what this one executed; 0: all */
    struct follow_watch watch;
};

/* *out is {0} or was given back. 0, 1, -1. */
int profile_make(struct study *study, const struct profile_options *o, struct profile *out,
                 struct err *err);
void profile_deinit(struct profile *p);

#endif
