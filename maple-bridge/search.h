/* search.h - runs a program under one schedule after the other until it fails.
 *
 * SPDX-License-Identifier: MIT
 *
 * The first run is not perturbed. If it passes, its recording is profiled (scout.h), and the
 * portfolio's recipes are run in batches, several at once. The first run that fails, by its number,
 * is what was found: how many run at once changes nothing about that.
 */
#ifndef MAPLE_BRIDGE_SEARCH_H
#define MAPLE_BRIDGE_SEARCH_H

#include "maple-bridge/crew.h"
#include "maple-bridge/portfolio.h"
#include "maple-bridge/recipe.h"
#include "maple-bridge/reduce.h"
#include "maple-bridge/retest.h"

enum { SEARCH_BATCH = 16 };

enum search_goal {
    SEARCH_FAILURE,
    SEARCH_PROFILE, /* a memo's profile, until three runs in sequence show nothing new */
    SEARCH_ACTIVE,  /* orders of the memo's profile, until none is left to try */
    SEARCH_RETEST,  /* the orders of a failure, then hostile schedules */
    SEARCH_SHOW,    /* what the memo has; nothing is run */
};

struct search_state {
    uint64_t runs, failures, pairs, orders, exposed;
    uint64_t ns;          /* since the begin */
    const char *strategy; /* that has paid off most; NULL: none yet */
};

struct search_found {
    uint64_t run; /* 1: the unperturbed one */
    const char *dir;
    const char *strategy; /* NULL: the run was not perturbed */
    struct recipe recipe;
    const struct crew_outcome *outcome;
    bool deadlock; /* tell_deadlock() says more */
    uint64_t events, switches, hash;
};

struct search_options {
    struct crew_options crew;
    const char *dir; /* where the pinball goes: must not be there */
    int workers;
    uint64_t seed;
    uint64_t most_runs;          /* 0: any number */
    uint64_t most_ns;            /* runs begin until then; 0: any time */
    const char *strategy;        /* NULL: all of them */
    const struct recipe *recipe; /* this one alone, again and again; NULL: the portfolio's */
    enum search_goal goal;
    const char *memo;   /* a file; NULL: none */
    uint64_t iroot;     /* of the memo, from 1 on, instead of `recipe`; 0: none */
    const char *retest; /* the failure's pinball */
    uint32_t job, jobs; /* this is one of several, 1 to jobs; 0: there are none */
    struct scout_options scout;
    const char
        *slice;  /* a criterion: only what its slice in the first run has is varied; NULL: all */
    bool report; /* why the first failure came: reduce.h */
    bool pair;   /* ... with a pinball of the reduced run and one of its neighbour that passes */
    bool all;    /* goes on after a failure: distinct ones get a pinball each */
    volatile int *stop; /* not 0: it ends soon */
    /* Called after each batch, and for each failure that is kept. */
    void (*progress)(void *arg, const struct search_state *state);
    void (*found)(void *arg, const struct search_found *found);
    void (*reduced)(void *arg, const struct reduced *r);
    void (*known)(void *arg, const struct scout *profile,
                  const struct portfolio *portfolio); /* of a memo */
    void *arg;
};

struct search_result {
    uint64_t runs, failures;
    uint64_t hash; /* of the switches of the last run; with `recipe` ... */
    bool same;     /* ... all runs had that */
    uint32_t sites, threads;
    uint64_t ns;
    uint64_t orders[IDIOMS_RULED_OUT + 1]; /* by enum idioms_state */
    struct retest retest;
};

/* Adds up the parts that jobs left, files given by name, in the memo that they began with. */
int search_merge(const char *memo, char *const *part, uint32_t *failures, struct err *err);

/* 0: it came to its end; -1 with *err: the program could not be run, or the disk is full. */
int search_run(const struct search_options *o, struct search_result *out, struct err *err);

#endif
