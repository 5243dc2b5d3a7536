/* exclude.h - what is to be left out, in the user's words. SPDX-License-Identifier: MIT
 *
 * FUNCTION with all that it calls, MODULE (a pattern for the name of its file), FILE:LINE or
 * FILE:FROM-TO; or all threads but some.
 */
#ifndef RELOGGER_EXCLUDE_H
#define RELOGGER_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trace/frames.h"

enum { EXCLUDE_WORDS = 32, EXCLUDE_THREADS = 64 };

struct study;
struct trace;

struct exclude {
    const char *word[EXCLUDE_WORDS];
    size_t words;
    uint32_t only[EXCLUDE_THREADS]; /* threads that are kept */
    size_t threads;                 /* 0: all */
    bool met[EXCLUDE_WORDS];        /* something was left out for the word */
};

bool exclude_thread(const struct exclude *e, uint32_t number);
bool exclude_frame(struct exclude *e, struct study *s, const struct frame *frame);
bool exclude_pc(struct exclude *e, struct study *s, gaddr pc);
/* A word that nothing was left out for is a mistake, and so is a thread that is not there. */
int exclude_check(const struct exclude *e, const struct trace *trace, struct err *err);

#endif
