/* calls.h - every execution of the functions that a name means.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions are found by name (source/functions.h), their executions in one pass over the trace
 * (follow.h). An inlined one is executed where the first instruction of an instance is, and the
 * instruction before that was not the instance's; where it ends nobody can say, since compilers mix
 * it with what is around.
 */
#ifndef FACTS_CALLS_CALLS_H
#define FACTS_CALLS_CALLS_H

#include "facts/calls/follow.h"
#include "source/functions.h"
#include "study/study.h"

struct call {
    struct position at; /* before its first instruction */
    struct position
        last;           /* before its last one, the return if it returned; thread 0: it has none */
    uint64_t first;     /* number of its first instruction */
    uint64_t end;       /* of its last one; UINT64_MAX: it has none */
    uint64_t inclusive; /* instructions, with those of functions that it called, handlers, too */
    uint64_t self;      /* without these */
    gaddr from;         /* the call or jump; 0: none */
    const struct functions_one *function;
    uint32_t depth; /* callers */
    uint32_t again; /* executions of the same function that were not over */
    uint8_t how;    /* enum follow_how */
    uint8_t ended;  /* enum follow_end */
};

struct calls_options {
    const char *pattern; /* see source/functions.h */
    bool countless;      /* nobody wants the counts of positions: they are 0, and it is faster */
    /* In the order in which they began. Not 0, which for an error is -1 with *err set, ends it. */
    int (*fn)(void *arg, const struct call *call, struct err *err);
    void *arg;
    struct follow_watch watch;
};

/* 0, -1, or what fn ended it with. Calls refer to *functions, which was {0}; the caller gives it
 * back. */
int calls_find(struct study *study, const struct calls_options *o, struct functions *functions,
               struct err *err);

const char *calls_how(const struct call *call);   /* "", "tail", "signal", "thread", "inlined" */
const char *calls_ended(const struct call *call); /* "", "tail", "unwound", "running" */

#endif
