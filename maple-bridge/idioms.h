/* idioms.h - orders of accesses that may expose a bug (iRoots), made from a profile.
 *
 * SPDX-License-Identifier: MIT
 *
 * A candidate is an idiom with a site for each step. The first and last step of one thread must
 * have followed each other in a run, the other thread's must conflict with them.
 */
#ifndef MAPLE_BRIDGE_IDIOMS_H
#define MAPLE_BRIDGE_IDIOMS_H

#include "facts/order/numbers.h"
#include "maple-bridge/recipe.h"
#include "maple-bridge/scout.h"

struct idioms_order {
    uint8_t idiom; /* number of a row */
    uint8_t steps;
    uint8_t tries, failed; /* ... in which not all steps came in this order */
    bool exposed;
    enum feasible_verdict verdict; /* of the runs that were profiled */
    struct agenda_step step[AGENDA_STEPS];
};

struct idioms {
    struct idioms_order *order;
    size_t orders;
    struct numbers known; /* hashes of them, in the same order */
};

enum idioms_state {
    IDIOMS_PREDICTED,
    IDIOMS_EXPOSED,   /* forced */
    IDIOMS_FAILED,    /* tried often enough */
    IDIOMS_RULED_OUT, /* feasible.h */
};

enum idioms_state idioms_state_of(const struct idioms_order *o);
const char *idioms_state_name(enum idioms_state s); /* "predicted" */

/* Adds candidates that are not there yet, and judges all by the run that was profiled last. */
int idioms_make(struct idioms *s, const struct scout *p, struct err *err);
void idioms_deinit(struct idioms *s); /* {0} is empty */

/* The one with these steps; NULL: there is none. */
struct idioms_order *idioms_find(struct idioms *s, const struct recipe *r);
/* One that is worth a try, by lot; NULL: there is none left. */
const struct idioms_order *idioms_draw(const struct idioms *s, uint64_t lot);
/* All of them, untried. */
int idioms_copy(struct idioms *s, const struct idioms *from);

/* What a memo keeps: as scout_line(); sites are numbers up to `sites`. */
void idioms_write(const struct idioms *s, FILE *to);
int idioms_line(struct idioms *s, const char *line, size_t sites);

#endif
