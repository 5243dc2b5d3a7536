/* retest.h - the orders that a failure needed, on a program that was changed since.
 *
 * SPDX-License-Identifier: MIT
 *
 * A search leaves the critical orders of a failure in its pinball, in the file `maple`: for each
 * access whether it is a write, its function, line and the hash of the line's text. In another
 * build the access is found by these: in the same function, at the same line or at one with the
 * same text. What a deadlock needed is an order of locks; that another build cannot have one is
 * shown by the orders in which it takes its locks.
 */
#ifndef MAPLE_BRIDGE_RETEST_H
#define MAPLE_BRIDGE_RETEST_H

#include "maple-bridge/recipe.h"
#include "maple-bridge/reduce.h"

enum { RETEST_TRIES = 32, RETEST_STEPS = 3 };

enum retest_state {
    RETEST_UNMATCHED, /* an access was not found */
    RETEST_OPEN,      /* tried, and not forced so far */
    RETEST_FORCED,
    RETEST_ORDERED, /* cannot come: feasible.h */
    RETEST_LOCKED,
};

struct retest_access {
    bool write;
    uint64_t text;
    char function[SCOUT_FUNCTION], place[SCOUT_PLACE];
};

struct retest_order {
    enum retest_state state;
    bool locks; /* a deadlock's; there are no accesses */
    unsigned steps, tries;
    unsigned lacking; /* RETEST_UNMATCHED: number of the first access that no run had */
    struct retest_access access[RETEST_STEPS];
    struct agenda_step step[AGENDA_STEPS];
    uint64_t key[AGENDA_STEPS];
};

struct retest {
    struct retest_order order[REDUCE_PAIRS];
    unsigned orders;
};

/* Leaves them in the pinball. */
int retest_write(const char *dir, const struct reduced *r, const struct scout *profile,
                 bool deadlock, struct err *err);
int retest_read(const char *dir, struct retest *out, struct err *err);

/* A run was added to the profile. */
void retest_match(struct retest *t, const struct scout *profile);
/* The next try; false: there is none. */
bool retest_next(struct retest *t, uint64_t seed, struct recipe *out);
void retest_learn(struct retest *t, const struct recipe *r, uint32_t reached);

#endif
