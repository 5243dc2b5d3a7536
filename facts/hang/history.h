/* history.h - who entered, took, gave back and signalled what threads wait for at the end.
 *
 * SPDX-License-Identifier: MIT
 *
 * By one replay with probes at the functions of facts/locks/calls.h, which tells of those objects
 * only, so that it costs little more than the replay itself. No trace is needed.
 */
#ifndef FACTS_HANG_HISTORY_H
#define FACTS_HANG_HISTORY_H

#include "facts/hang/stack.h"
#include "facts/locks/calls.h"
#include "facts/order/numbers.h"

enum { HISTORY_STACK = 1024, HISTORY_OBJECTS = 128 };

/* A call of such a function, when it was entered. */
struct history_call {
    struct calls_function is;
    struct position at; /* thread 0: there was none */
    uint64_t ticks;     /* of all threads */
    uint64_t order;     /* grows from call to call */
    struct stack_frame frame;
    uint64_t second; /* argument */
    uint32_t stack_bytes;
    uint8_t stack[HISTORY_STACK]; /* from its rsp on */
};

/* What one thread did with one object. */
struct history_party {
    gaddr object;
    uint32_t thread;             /* its number in positions */
    int64_t readers;             /* how often it was taken to read and not given back */
    struct history_call in, out; /* the last that takes or waits; that gives back or signals */
    struct history_call earlier; /* the one before `in` */
};

struct history {
    struct history_party *party;
    size_t parties;
    struct numbers known; /* object, thread: a party */
};

/* `word` are futexes: told is what was called with an object that may have one of them. */
int history_make(struct history *h, struct study *s, const gaddr *word, size_t words,
                 struct err *err);
void history_deinit(struct history *h); /* {0} is allowed */

/* Is it to be taken for reading? */
bool history_reads(const struct history_call *c);

/* The pc in the user's own code that called; 0: not known. */
gaddr history_line(struct study *s, const struct history_call *c);

#endif
