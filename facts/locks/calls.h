/* calls.h - functions that take, give back and wait, by their symbols. SPDX-License-Identifier: MIT
 */
#ifndef FACTS_LOCKS_CALLS_H
#define FACTS_LOCKS_CALLS_H

#include "facts/locks/locks.h"

enum calls_does {
    CALLS_TAKES,        /* and returns when it has it */
    CALLS_TRIES,        /* or not */
    CALLS_TAKES_SHARED, /* for reading */
    CALLS_TRIES_SHARED,
    CALLS_GIVES, /* back; or signals */
    CALLS_WAITS, /* and takes nothing */
    CALLS_MAKES, /* initialises or destroys it */
};

struct calls_function {
    enum locks_kind kind; /* LOCKS_NONE: another function */
    enum calls_does does;
};

/* By a name as a symbol table has it. */
struct calls_function calls_known(const char *name);

/* What the first argument was, when the function's first block was executed; 0: its code does not
 * show that. */
gaddr calls_argument(struct code *code, const struct code_block *b, const uint64_t *values);

#endif
