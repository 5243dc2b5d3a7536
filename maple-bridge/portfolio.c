/* portfolio.c - which recipe is tried next. SPDX-License-Identifier: MIT */
#include "maple-bridge/portfolio.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "maple-bridge/portfolio_int.h"

enum { PERIOD_EVENTS = 400, PERIOD_SWITCHES = 3 };

static uint64_t draw(struct portfolio *p)
{
    return hash_draw(&p->state);
}

static uint64_t below(struct portfolio *p, uint64_t n)
{
    return n ? draw(p) % n : 0;
}

/* ---- a recipe of each strategy ---- */

/* How many events a run has. */
static uint64_t length_of(const struct portfolio *p)
{
    return p->counted ? p->events / p->counted : 64;
}

static void make_random(struct portfolio *p, struct recipe *r)
{
    static const uint32_t depths[] = {0, 0, 4, 16};
    r->tactic = AGENDA_random;
    r->depth = depths[below(p, sizeof depths / sizeof depths[0])];
}

static void make_pct(struct portfolio *p, struct recipe *r)
{
    r->tactic = AGENDA_pct;
    r->depth = 2 + (uint32_t)below(p, 4);
    r->length = length_of(p);
}

static void make_pos(struct portfolio *p, struct recipe *r)
{
    (void)p;
    r->tactic = AGENDA_pos;
}

static uint64_t events_of(const struct portfolio *p, uint32_t group)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        n += p->expected[i][group];
    return n;
}

/* Any variable that was touched; group 0 is what libraries synchronise by. */
static void make_surw(struct portfolio *p, struct recipe *r)
{
    const uint32_t groups = p->profile->groups < AGENDA_GROUPS ? p->profile->groups : AGENDA_GROUPS;
    r->tactic = AGENDA_surw;
    r->group = (uint32_t)below(p, groups);
    for (uint32_t i = 0; i < groups && !events_of(p, r->group); i++) /* idle ones have none */
        r->group = (r->group + 1) % groups;
}

/* A read and a write of the same variable, or what was there before. */
static void make_wish(struct portfolio *p, struct agenda_order *o)
{
    const uint32_t most =
        p->profile->sites < AGENDA_SITES ? (uint32_t)p->profile->sites : AGENDA_SITES - 1;
    *o = (struct agenda_order){.negated = below(p, 4) == 0};
    for (int i = 0; i < 64 && !o->read; i++) {
        const uint32_t n = 1 + (uint32_t)below(p, most);
        const struct scout_site *s = scout_site(p->profile, n);
        if (s && s->reads && !s->idle)
            o->read = (uint16_t)n;
    }
    const struct scout_site *read = scout_site(p->profile, o->read);
    for (int i = 0; i < 64 && read && below(p, 8); i++) {
        const uint32_t n = 1 + (uint32_t)below(p, most);
        const struct scout_site *s = scout_site(p->profile, n);
        if (s && s->writes && s->group == read->group && s->sync == read->sync) {
            o->write = (uint16_t)n;
            break;
        }
    }
}

static void make_rff(struct portfolio *p, struct recipe *r)
{
    const uint64_t seed = r->seed;
    if (p->corpus.count && below(p, 3))
        *r = p->corpus.kept[below(p, p->corpus.count)];
    r->seed = seed;
    r->tactic = AGENDA_rff;
    const uint64_t how = below(p, 4);
    if (how == 0 && r->orders > 1) {
        r->orders--;
        r->order[below(p, r->orders + 1u)] = r->order[r->orders];
    } else if (how == 1 && r->orders) {
        r->order[below(p, r->orders)].negated ^= 1;
    } else if (r->orders < AGENDA_ORDERS) {
        make_wish(p, &r->order[r->orders++]);
    } else {
        make_wish(p, &r->order[below(p, r->orders)]);
    }
}

/* Sites of the user's own: libraries' are those of all locks. */
static uint32_t own_places(const struct portfolio *p, uint16_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i <= p->profile->sites && i < AGENDA_SITES; i++) {
        const struct scout_site *s = scout_site(p->profile, i);
        if (!s->idle && !s->sync)
            out[n++] = (uint16_t)i;
    }
    return n;
}

static uint16_t draw_place(struct portfolio *p, const uint16_t *own, uint32_t owns)
{
    const uint32_t most =
        p->profile->sites < AGENDA_SITES ? (uint32_t)p->profile->sites : AGENDA_SITES - 1;
    return owns && below(p, 8) ? own[below(p, owns)] : (uint16_t)(1 + below(p, most));
}

/* Three of four are the next place of all there are, where all threads wait; the numbers are passed
 * through in steps, so that neighbours do not follow one another. */
static void make_hold(struct portfolio *p, struct recipe *r)
{
    enum { BEHIND = 4, STEP = 1000003 };
    uint16_t own[AGENDA_SITES];
    const uint32_t owns = own_places(p, own);
    const uint64_t all = (uint64_t)owns * BEHIND, next = p->holds - p->holds / 4;
    const bool drawn = p->holds % 4 == 3 || next >= all;
    p->holds++;
    r->tactic = AGENDA_hold;
    r->steps = drawn && below(p, 2) ? 2 : 1;
    for (uint32_t i = 0; drawn && i < r->steps; i++)
        r->step[i] = (struct agenda_step){.site = draw_place(p, own, owns),
                                          .actor = (uint8_t)(below(p, 2) ? 0 : below(p, BEHIND)),
                                          .place = below(p, 2) == 0};
    if (!drawn)
        r->step[0] = (struct agenda_step){.site = own[next * STEP % all / BEHIND],
                                          .actor = (uint8_t)(next * STEP % all % BEHIND)};
}

static void make_maple(struct portfolio *p, struct recipe *r)
{
    const struct idioms_order *o = idioms_draw(&p->idioms, draw(p));
    if (!o) {
        make_pct(p, r);
        return;
    }
    r->tactic = AGENDA_idiom;
    r->steps = o->steps;
    memcpy(r->step, o->step, sizeof r->step);
}

/* ---- bounded enumeration, in the manner of PERIOD (Wen and others, ICSE 2022) ---- */

/* A switch is a thread, one of its events, and a thread that is next: how many there are, and the
 * one with a number. */
struct switches {
    uint32_t thread[AGENDA_THREADS];
    uint64_t events[AGENDA_THREADS];
    uint64_t threads, count;
};

static void count_switches(const struct portfolio *p, struct switches *s)
{
    uint64_t events = 0;
    *s = (struct switches){.threads = 0};
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        if (p->expected[i][AGENDA_GROUPS]) {
            s->thread[s->threads] = i;
            s->events[s->threads++] = p->expected[i][AGENDA_GROUPS];
            events += p->expected[i][AGENDA_GROUPS];
        }
    if (events <= PERIOD_EVENTS && s->threads > 1)
        s->count = events * (s->threads - 1);
}

static struct agenda_switch switch_at(const struct switches *s, uint64_t number)
{
    const uint64_t others = s->threads - 1;
    uint64_t t = 0, event = number / others, next = number % others;
    while (event >= s->events[t])
        event -= s->events[t++];
    return (struct agenda_switch){
        .thread = s->thread[t], .next = s->thread[next + (next >= t)], .event = event + 1};
}

/* The sets of one, two, three of n numbers, one after the other: the largest number counts up last.
 */
static unsigned set_at(uint64_t n, uint64_t index, uint64_t out[PERIOD_SWITCHES])
{
    if (index < n) {
        out[0] = index;
        return 1;
    }
    index -= n;
    if (index < n * (n - 1) / 2) {
        for (out[1] = 1; index >= out[1]; out[1]++)
            index -= out[1];
        out[0] = index;
        return 2;
    }
    index -= n * (n - 1) / 2;
    for (out[2] = 2; out[2] < n && index >= out[2] * (out[2] - 1) / 2; out[2]++)
        index -= out[2] * (out[2] - 1) / 2;
    if (out[2] >= n)
        return 0;
    for (out[1] = 1; index >= out[1]; out[1]++)
        index -= out[1];
    out[0] = index;
    return 3;
}

enum period { PERIOD_NEXT, PERIOD_UNKNOWN, PERIOD_OVER };

/* Unknown: no run has counted its events yet, or there are too many. */
static enum period find_period(const struct portfolio *p, struct recipe *r)
{
    struct switches all;
    uint64_t number[PERIOD_SWITCHES];
    count_switches(p, &all);
    if (!all.count)
        return PERIOD_UNKNOWN;
    r->tactic = AGENDA_script;
    r->switches = set_at(all.count, p->period, number);
    for (unsigned i = 0; i < r->switches; i++)
        r->script[i] = switch_at(&all, number[i]);
    return r->switches ? PERIOD_NEXT : PERIOD_OVER;
}

static void make_period(struct portfolio *p, struct recipe *r)
{
    if (find_period(p, r) == PERIOD_NEXT)
        p->period++;
    else
        make_pct(p, r);
}

static const struct {
    const char *name;
    unsigned share;
    void (*make)(struct portfolio *p, struct recipe *r);
} strategies[] = {
#define STRATEGY(name, share, help) {#name, share, make_##name},
#include "maple-bridge/strategies.def"
#undef STRATEGY
};
enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };
_Static_assert((int)STRATEGIES <= (int)STRATEGIES_MOST, "strategies");

/* ---- the portfolio ---- */

struct portfolio *portfolio_new(const struct scout *profile, uint64_t seed, const char *only,
                                struct err *err)
{
    struct portfolio *p = calloc(1, sizeof *p);
    if (!p) {
        err_set(err, "no memory");
        return NULL;
    }
    p->profile = profile;
    p->state = hash_fold(seed, 1);
    p->only = -1;
    for (int i = 0; only && i < (int)STRATEGIES; i++)
        if (strcmp(only, strategies[i].name) == 0)
            p->only = i;
    if ((only && p->only < 0) || idioms_make(&p->idioms, profile, err)) {
        if (only && p->only < 0)
            err_set(err, "'%s' is no strategy", only);
        portfolio_free(p);
        return NULL;
    }
    return p;
}

void portfolio_free(struct portfolio *p)
{
    if (p)
        idioms_deinit(&p->idioms);
    free(p);
}

const char *portfolio_name(int strategy)
{
    return strategies[strategy].name;
}

int portfolio_count(void)
{
    return STRATEGIES;
}

static void put(struct portfolio *p, int strategy)
{
    if (p->turns < ROUND * 2)
        p->turn[p->turns++] = strategy;
}

/* The one that has shown most new pairs per run lately. */
static int best(const struct portfolio *p)
{
    int b = 0;
    double most = -1;
    for (int i = 0; i < (int)STRATEGIES; i++) {
        double pays = (double)(p->score[i].news + 1) / (double)(p->score[i].runs + 1);
        if (pays > most) {
            most = pays;
            b = i;
        }
    }
    return b;
}

/* The shares of all, interleaved, and a quarter more for the best one. */
static void begin_round(struct portfolio *p)
{
    unsigned given[STRATEGIES] = {0};
    p->turns = p->next = 0;
    for (unsigned round = 0; round < ROUND; round++)
        for (int i = 0; i < (int)STRATEGIES; i++)
            if (given[i] < strategies[i].share) {
                given[i]++;
                put(p, i);
            }
    for (int i = p->turns - 1; i > 0; i--) { /* in any order */
        int k = (int)below(p, (uint64_t)i + 1), t = p->turn[i];
        p->turn[i] = p->turn[k];
        p->turn[k] = t;
    }
    if (p->runs) {
        const int b = best(p);
        for (int i = 0; i < ROUND / 4; i++)
            put(p, b);
    }
    for (int i = 0; i < (int)STRATEGIES; i++) {
        p->score[i].news /= 2;
        p->score[i].runs /= 2;
    }
}

int portfolio_best(const struct portfolio *p)
{
    return p->only >= 0 ? p->only : p->runs ? best(p) : -1;
}

/* Two of them have an end. */
static bool is_over(const struct portfolio *p)
{
    struct recipe r;
    if (p->only < 0 || !p->runs)
        return false;
    return (strategies[p->only].make == make_maple && !idioms_draw(&p->idioms, 0)) ||
           (strategies[p->only].make == make_period && find_period(p, &r) == PERIOD_OVER);
}

bool portfolio_next(struct portfolio *p, struct recipe *out, int *strategy)
{
    if (is_over(p))
        return false;
    if (p->next == p->turns)
        begin_round(p);
    *strategy = p->only >= 0 ? p->only : p->turn[p->next];
    p->next++;
    *out = (struct recipe){.seed = draw(p) >> 32};
    strategies[*strategy].make(p, out);
    p->runs++;
    return true;
}

void portfolio_at(struct portfolio *whole, uint64_t run, struct recipe *out, int *strategy)
{
    const uint64_t state = whole->state, period = whole->period, holds = whole->holds;
    unsigned shares = 0, lot;
    whole->state = hash_fold(hash_fold(state, 2) >> 7, run);
    whole->period += run;
    whole->holds += run;
    for (int i = 0; i < (int)STRATEGIES; i++)
        shares += strategies[i].share;
    lot = (unsigned)below(whole, shares);
    for (*strategy = 0; lot >= strategies[*strategy].share; ++*strategy)
        lot -= strategies[*strategy].share;
    if (whole->only >= 0)
        *strategy = whole->only;
    *out = (struct recipe){.seed = draw(whole) >> 32};
    strategies[*strategy].make(whole, out);
    whole->state = state;
    whole->period = period;
    whole->holds = holds;
}

/* How many of them nobody has seen before; for a part: not before it began. */
static uint64_t note_pairs(struct portfolio *p, const struct agenda_done *done)
{
    uint64_t news = 0;
    for (uint32_t i = 0; i < AGENDA_PAIRS; i++) {
        const uint16_t w = done->pair[i].write, r = done->pair[i].read;
        if (!r || w >= AGENDA_SITES || r >= AGENDA_SITES)
            continue;
        news += !portfolio_saw(p->whole ? p->whole : p, w, r);
        portfolio_see(p, w, r);
    }
    return news;
}

static void learn_order(struct portfolio *p, const struct recipe *r, uint32_t reached)
{
    struct idioms_order *o = idioms_find(&p->idioms, r);
    if (!o)
        return;
    o->tries++;
    o->exposed |= reached >= o->steps;
    o->failed += reached < o->steps;
}

void corpus_keep(struct corpus *c, const struct recipe *r, uint64_t run)
{
    if (c->count == CORPUS && run >= c->run[CORPUS - 1])
        return;
    size_t i = c->count < CORPUS ? c->count++ : CORPUS - 1;
    for (; i && c->run[i - 1] > run; i--) {
        c->run[i] = c->run[i - 1];
        c->kept[i] = c->kept[i - 1];
    }
    c->run[i] = run;
    c->kept[i] = *r;
}

/* Where the corpus is full, what is new takes the place of another one. */
static void keep_wishes(struct portfolio *p, const struct recipe *r, uint64_t run)
{
    if (p->whole || p->corpus.count < CORPUS)
        corpus_keep(&p->corpus, r, run);
    else
        p->corpus.kept[run % CORPUS] = *r;
}

void portfolio_learn(struct portfolio *p, uint64_t run, int strategy, const struct recipe *r,
                     const struct agenda_done *done)
{
    const uint64_t news = note_pairs(p, done);
    p->score[strategy].runs++;
    p->score[strategy].news += news;
    if (done->events > 4 && done->events < UINT32_MAX) {
        p->events += done->events;
        p->counted++;
    }
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        for (uint32_t k = 0; k <= AGENDA_GROUPS; k++)
            if (done->seen[i][k] > p->expected[i][k])
                p->expected[i][k] = done->seen[i][k];
    if (r->tactic == AGENDA_idiom)
        learn_order(p, r, done->reached);
    if (news && r->tactic == AGENDA_rff)
        keep_wishes(p, r, run);
}

/* Numbers of sites stay, those of groups do not. */
int portfolio_renew(struct portfolio *p, struct err *err)
{
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        memset(p->expected[i], 0, sizeof p->expected[i][0] * AGENDA_GROUPS);
    return idioms_make(&p->idioms, p->profile, err);
}

void portfolio_tell(const struct portfolio *p, struct agenda *agenda)
{
    agenda->length = length_of(p);
    memcpy(agenda->expected, p->expected, sizeof agenda->expected);
}

const struct idioms *portfolio_idioms(const struct portfolio *p)
{
    return &p->idioms;
}

uint64_t portfolio_pairs(const struct portfolio *p)
{
    return p->pairs;
}

uint64_t portfolio_orders(const struct portfolio *p, uint64_t *exposed)
{
    uint64_t tried = 0;
    *exposed = 0;
    for (size_t i = 0; i < p->idioms.orders; i++) {
        tried += p->idioms.order[i].tries > 0;
        *exposed += p->idioms.order[i].exposed;
    }
    return tried;
}
