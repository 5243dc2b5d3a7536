/* feasible.c - orders that a run rules out. SPDX-License-Identifier: MIT */
#include "maple-bridge/feasible.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/locks/locks.h"
#include "facts/locks/orders.h"
#include "facts/order/clocks.h"
#include "facts/order/numbers.h"

enum { LOCKS = 8, TRIES = 64 };

/* Locks that were held each time; those beyond LOCKS are left out, which is on the safe side. */
struct held {
    gaddr lock[LOCKS];
    uint64_t since[LOCKS]; /* of use while a thread holds them: the instruction that took it */
    unsigned locks;
};

/* What a thread did at a site. */
struct visit {
    uint32_t site, thread;
    uint64_t first, last; /* instructions */
    uint32_t next;        /* of the same site, plus one; 0: none */
};

struct feasible {
    const struct locks *locks; /* kept with the study */
    struct clocks *clocks;
    size_t next; /* event of the locks */
    bool circle;
    struct held *now;     /* by thread */
    struct numbers sites; /* key, 0 */
    struct held *site;    /* at every access, by number */
    uint32_t *visits;     /* the first one of each, plus one */
    size_t site_count, visit_heads;
    struct numbers visited; /* site, thread */
    struct visit *visit;    /* in the same order */
    size_t visit_count;
    struct numbers pairs; /* key, key */
    struct held *pair;    /* from the first to the second one, by number */
    size_t pair_count;
};

/* Clocks without what threads synchronise by: making threads and their end. */
static struct clocks *loose_clocks(struct study *s, const struct sync *sync, struct err *err)
{
    bool *without = malloc(sync->variables + 1);
    if (!without) {
        err_set(err, "no memory");
        return NULL;
    }
    memset(without, true, sync->variables + 1);
    for (uint32_t i = 0; i < trace_threads(s->trace); i++) { /* who waits for a thread's end */
        const gaddr word = sync->thread[i].word;
        const size_t v = word ? sync_find(sync, word) : sync->variables;
        if (v < sync->variables && sync->variable[v].start <= word)
            without[v] = false;
    }
    struct clocks *c = clocks_new(s, sync, without, err);
    free(without);
    return c;
}

struct feasible *feasible_new(struct study *s, const struct sync *sync, struct err *err)
{
    struct feasible *f = calloc(1, sizeof *f);
    if (!f || !(f->now = calloc(trace_threads(s->trace) + 1, sizeof *f->now))) {
        free(f);
        err_set(err, "no memory");
        return NULL;
    }
    struct orders orders = {.edge = NULL};
    f->locks = locks_find(s, err);
    if (f->locks && orders_find(f->locks, &orders, err) == 0)
        f->circle = orders.circles > 0;
    orders_deinit(&orders);
    f->clocks = f->locks ? loose_clocks(s, sync, err) : NULL;
    if (f->clocks)
        return f;
    feasible_free(f);
    return NULL;
}

void feasible_free(struct feasible *f)
{
    if (!f)
        return;
    clocks_free(f->clocks);
    numbers_deinit(&f->sites);
    numbers_deinit(&f->visited);
    numbers_deinit(&f->pairs);
    free(f->now);
    free(f->site);
    free(f->visits);
    free(f->visit);
    free(f->pair);
    free(f);
}

/* ---- what the run did ---- */

/* A reader's lock keeps nobody out who only reads: it is left out. */
static void change(struct held *h, const struct locks_event *e)
{
    unsigned n = 0;
    for (unsigned i = 0; i < h->locks; i++)
        if (h->lock[i] != e->lock) {
            h->lock[n] = h->lock[i];
            h->since[n++] = h->since[i];
        }
    if (e->take && !e->shared && n < LOCKS) {
        h->lock[n] = e->lock;
        h->since[n++] = e->insn;
    }
    h->locks = n;
}

/* Leaves those in `all` that `h` has since before instruction `insn`. */
static void meet(struct held *all, const struct held *h, uint64_t insn, bool first)
{
    struct held both = {.locks = 0};
    for (unsigned i = 0; i < h->locks; i++) {
        bool there = first;
        for (unsigned k = 0; k < all->locks && !there; k++)
            there = all->lock[k] == h->lock[i];
        if (there && h->since[i] < insn)
            both.lock[both.locks++] = h->lock[i];
    }
    *all = both;
}

static int visit(struct feasible *f, uint32_t site, uint32_t thread, uint64_t insn)
{
    const uint32_t n = numbers_add(&f->visited, site, thread);
    if (n == NUMBERS_NONE)
        return -1;
    if (n == f->visit_count) {
        const struct visit v = {site, thread, insn, insn, f->visits[site]};
        if (array_append(&f->visit, &f->visit_count, v))
            return -1;
        f->visits[site] = n + 1;
    }
    f->visit[n].last = insn;
    return 0;
}

int feasible_touch(struct feasible *f, uint64_t key, uint32_t thread, uint64_t insn)
{
    const struct held none = {.locks = 0};
    for (; f->next < f->locks->events && f->locks->event[f->next].insn < insn; f->next++)
        change(&f->now[f->locks->event[f->next].thread], &f->locks->event[f->next]);
    const uint32_t n = numbers_add(&f->sites, key, 0);
    const bool first = n == f->site_count;
    if (n == NUMBERS_NONE || (first && (array_append(&f->site, &f->site_count, none) ||
                                        array_append(&f->visits, &f->visit_heads, 0))))
        return -1;
    meet(&f->site[n], &f->now[thread], UINT64_MAX, first);
    return visit(f, n, thread, insn);
}

int feasible_pair(struct feasible *f, uint64_t first, uint64_t insn, uint64_t then, uint32_t thread)
{
    const struct held none = {.locks = 0};
    const uint32_t n = numbers_add(&f->pairs, first, then);
    const bool new = n == f->pair_count;
    if (n == NUMBERS_NONE || (new &&array_append(&f->pair, &f->pair_count, none)))
        return -1;
    meet(&f->pair[n], &f->now[thread], insn, new);
    return 0;
}

/* ---- verdicts ---- */

static bool is_locked(const struct feasible *f, const struct agenda_step *step, const uint64_t *key,
                      const uint32_t *site, unsigned steps)
{
    const uint32_t n = numbers_find(&f->pairs, key[0], key[steps - 1]);
    if (steps < 3 || n == NUMBERS_NONE)
        return false;
    for (unsigned i = 1; i + 1 < steps; i++) {
        struct held both = f->pair[n];
        memset(both.since, 0, sizeof both.since);
        struct held all = f->site[site[i]];
        meet(&all, &both, UINT64_MAX, false);
        if (step[i].actor != step[0].actor && all.locks)
            return true;
    }
    return false;
}

static const struct visit *visit_of(const struct feasible *f, uint32_t site, uint32_t thread)
{
    const uint32_t n = numbers_find(&f->visited, site, thread);
    return n == NUMBERS_NONE ? NULL : &f->visit[n];
}

/* Can these two threads be the order's? */
static bool may(const struct feasible *f, const struct agenda_step *step, const uint32_t *site,
                unsigned steps, const uint32_t *thread)
{
    const struct visit *v[AGENDA_STEPS];
    for (unsigned i = 0; i < steps; i++)
        if (!(v[i] = visit_of(f, site[i], thread[step[i].actor & 1])))
            return false;
    for (unsigned i = 0; i < steps; i++)
        for (unsigned k = i + 1; k < steps; k++)
            if (v[i]->thread != v[k]->thread &&
                clocks_before(f->clocks, (struct clocks_point){v[k]->thread, v[k]->last},
                              (struct clocks_point){v[i]->thread, v[i]->first}))
                return false;
    return true;
}

enum feasible_verdict feasible_judge(const struct feasible *f, const struct agenda_step *step,
                                     const uint64_t *key, unsigned steps)
{
    uint32_t site[AGENDA_STEPS], thread[2], other = 0;
    for (unsigned i = 0; i < steps; i++) {
        if ((site[i] = numbers_find(&f->sites, key[i], 0)) == NUMBERS_NONE)
            return FEASIBLE_UNKNOWN;
        if (step[i].actor != step[0].actor)
            other = site[i];
    }
    if (is_locked(f, step, key, site, steps))
        return FEASIBLE_LOCKED;
    unsigned tries = 0;
    for (uint32_t a = f->visits[site[0]]; a; a = f->visit[a - 1].next)
        for (uint32_t b = f->visits[other]; b; b = f->visit[b - 1].next) {
            thread[step[0].actor & 1] = f->visit[a - 1].thread;
            thread[!(step[0].actor & 1)] = f->visit[b - 1].thread;
            if (thread[0] == thread[1])
                continue;
            if (++tries > TRIES || may(f, step, site, steps, thread))
                return FEASIBLE_YES;
        }
    /* A site that one thread alone came to: in another run it may be another one. */
    return tries ? FEASIBLE_ORDERED : FEASIBLE_UNKNOWN;
}

bool feasible_circle(const struct feasible *f)
{
    return f->circle;
}
