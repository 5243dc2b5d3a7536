/* idioms.c - orders of accesses that may expose a bug. SPDX-License-Identifier: MIT */
#include "maple-bridge/idioms.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { ORDERS_MOST = 20000, FAILED_MOST = 2, TRIES_MOST = 6 };

struct place {
    uint8_t actor, place;
};

static const struct idiom {
    uint8_t number, steps;
    struct place step[AGENDA_STEPS];
} idioms[] = {
#define STEP(actor, place)                                                                         \
    {                                                                                              \
        actor, place                                                                               \
    }
#define IDIOM(number, ...)                                                                         \
    {number, sizeof((struct place[]){__VA_ARGS__}) / sizeof(struct place), {__VA_ARGS__}},
#include "maple-bridge/idioms.def"
#undef IDIOM
#undef STEP
};
enum { IDIOMS = sizeof idioms / sizeof idioms[0] };

void idioms_deinit(struct idioms *s)
{
    free(s->order);
    numbers_deinit(&s->known);
    *s = (struct idioms){0};
}

static uint64_t hash_of(const struct agenda_step *step)
{
    uint64_t h = 0;
    for (unsigned i = 0; i < AGENDA_STEPS; i++)
        h = hash_fold(h ^ h >> 29,
                      (uint64_t)step[i].site << 16 | step[i].actor << 8 | step[i].place);
    return h ^ h >> 32;
}

static int add(struct idioms *s, const struct idiom *i, const uint32_t *site)
{
    struct idioms_order o = {.idiom = i->number, .steps = i->steps};
    for (unsigned k = 0; k < o.steps; k++)
        o.step[k] = (struct agenda_step){(uint16_t)site[k], i->step[k].actor, i->step[k].place};
    if (s->orders == ORDERS_MOST)
        return 0;
    const uint32_t n = numbers_add(&s->known, hash_of(o.step), 0);
    if (n == NUMBERS_NONE)
        return -1;
    return n < s->orders ? 0 : array_append(&s->order, &s->orders, o);
}

struct idioms_order *idioms_find(struct idioms *s, const struct recipe *r)
{
    const uint32_t n = numbers_find(&s->known, hash_of(r->step), 0);
    return n == NUMBERS_NONE ? NULL : &s->order[n];
}

static uint32_t number_of(const struct scout *p, uint64_t key)
{
    const struct scout_site *s = scout_find(p, key);
    size_t n = s ? (size_t)(s - p->site) + 1 : 0;
    return n < AGENDA_SITES ? (uint32_t)n : 0;
}

/* A library's access is an event only if it reads and writes at once: it takes something or gives
 * it back. */
static bool is_event(const struct scout_site *s)
{
    return s && !s->idle && (!s->sync || (s->reads && s->writes));
}

static bool conflict(const struct scout *p, uint32_t a, uint32_t b)
{
    const struct scout_site *x = scout_site(p, a), *y = scout_site(p, b);
    return is_event(x) && is_event(y) && x->group == y->group && x->sync == y->sync &&
           (x->writes || y->writes);
}

/* Idiom 1: any two sites of a variable. */
static int make_pairs(struct idioms *s, const struct scout *p)
{
    const uint32_t most = p->sites < AGENDA_SITES ? (uint32_t)p->sites : AGENDA_SITES - 1;
    for (uint32_t a = 1; a <= most; a++)
        for (uint32_t b = 1; b <= most; b++)
            if (conflict(p, a, b) && add(s, &idioms[0], (uint32_t[]){a, b}))
                return -1;
    return 0;
}

/* What a library does to a lock is worth an order only against what it does to another one. */
static bool is_own(const struct scout *p, uint32_t a)
{
    const struct scout_site *s = scout_site(p, a);
    return s && !s->sync;
}

/* Idiom 2: one access between two of a thread. */
static int make_between(struct idioms *s, const struct scout *p, uint32_t a, uint32_t b)
{
    const uint32_t most = p->sites < AGENDA_SITES ? (uint32_t)p->sites : AGENDA_SITES - 1;
    for (uint32_t r = 1; r <= most; r++)
        if (is_own(p, a) && conflict(p, a, r) && conflict(p, r, b) &&
            add(s, &idioms[1], (uint32_t[]){a, r, b}))
            return -1;
    return 0;
}

/* Idioms 3 to 5: two accesses of each thread. */
static int make_around(struct idioms *s, const struct scout *p, const struct scout_pair *own,
                       uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < p->pairs; i++) {
        const uint32_t c = number_of(p, p->pair[i].first), d = number_of(p, p->pair[i].then);
        int bad = 0;
        if (own->same != p->pair[i].same)
            continue;
        const bool owns = is_own(p, a) || is_own(p, b);
        if (own->same && owns && conflict(p, a, c) && conflict(p, d, b))
            bad = add(s, &idioms[2], (uint32_t[]){a, c, d, b});
        else if (!own->same && owns && conflict(p, a, c) && conflict(p, d, b))
            bad = add(s, &idioms[3], (uint32_t[]){a, c, d, b});
        if (!bad && !own->same && conflict(p, b, c) && conflict(p, a, d))
            bad = add(s, &idioms[4], (uint32_t[]){a, c, d, b});
        if (bad)
            return -1;
    }
    return 0;
}

/* What one run has done is possible; what one rules out, another one may do. */
static void judge(struct idioms *s, const struct scout *p)
{
    for (size_t i = 0; p->feasible && i < s->orders; i++) {
        struct idioms_order *o = &s->order[i];
        uint64_t key[AGENDA_STEPS];
        for (unsigned k = 0; k < o->steps; k++)
            key[k] = scout_site(p, o->step[k].site)->key;
        if (o->verdict == FEASIBLE_YES)
            continue;
        const enum feasible_verdict v = feasible_judge(p->feasible, o->step, key, o->steps);
        o->verdict = v == FEASIBLE_UNKNOWN ? o->verdict : v;
    }
}

int idioms_make(struct idioms *s, const struct scout *p, struct err *err)
{
    int bad = 0;
    for (size_t i = 0; !bad && i < p->pairs; i++) {
        const uint32_t a = number_of(p, p->pair[i].first), b = number_of(p, p->pair[i].then);
        if (!a || !b)
            continue;
        bad = (p->pair[i].same && make_between(s, p, a, b)) || make_around(s, p, &p->pair[i], a, b);
    }
    if (!bad)
        bad = make_pairs(s, p);
    if (!bad)
        judge(s, p);
    return bad ? err_set(err, "no memory") : 0;
}

enum idioms_state idioms_state_of(const struct idioms_order *o)
{
    return o->exposed                                                        ? IDIOMS_EXPOSED
           : o->failed >= FAILED_MOST || o->tries >= TRIES_MOST              ? IDIOMS_FAILED
           : o->verdict == FEASIBLE_ORDERED || o->verdict == FEASIBLE_LOCKED ? IDIOMS_RULED_OUT
                                                                             : IDIOMS_PREDICTED;
}

const char *idioms_state_name(enum idioms_state s)
{
    static const char *const names[] = {"predicted", "exposed", "failed", "ruled out"};
    return names[s];
}

const struct idioms_order *idioms_draw(const struct idioms *s, uint64_t lot)
{
    for (size_t i = 0; i < s->orders; i++) {
        const struct idioms_order *o = &s->order[(lot + i) % s->orders];
        if (idioms_state_of(o) == IDIOMS_PREDICTED)
            return o;
    }
    return NULL;
}

/* ---- in a memo ---- */

int idioms_copy(struct idioms *s, const struct idioms *from)
{
    for (size_t i = 0; i < from->orders; i++) {
        struct idioms_order o = from->order[i];
        o.tries = o.failed = 0;
        o.exposed = false;
        if (numbers_add(&s->known, hash_of(o.step), 0) != s->orders ||
            array_append(&s->order, &s->orders, o))
            return -1;
    }
    return 0;
}

void idioms_write(const struct idioms *s, FILE *to)
{
    for (size_t i = 0; i < s->orders; i++) {
        const struct idioms_order *o = &s->order[i];
        fprintf(to, "order %u %u %u %d %d", o->idiom, o->tries, o->failed, o->exposed, o->verdict);
        for (unsigned k = 0; k < o->steps; k++)
            fprintf(to, " %u", o->step[k].site);
        fputc('\n', to);
    }
}

int idioms_line(struct idioms *s, const char *line, size_t sites)
{
    unsigned number, tries, failed, exposed, verdict;
    uint32_t site[AGENDA_STEPS];
    int n = 0;
    if (sscanf(line, "order %u %u %u %u %u%n", &number, &tries, &failed, &exposed, &verdict, &n) !=
        5)
        return 0;
    if (number < 1 || number > IDIOMS || tries > UINT8_MAX || failed > tries ||
        verdict > FEASIBLE_LOCKED)
        return -1;
    const struct idiom *i = &idioms[number - 1];
    for (unsigned k = 0; k < i->steps; k++) {
        char *end;
        const unsigned long v = strtoul(line + n, &end, 10);
        if (!v || v > sites || v >= AGENDA_SITES)
            return -1;
        n = (int)(end - line);
        site[k] = (uint32_t)v;
    }
    const size_t had = s->orders;
    if (line[n] || add(s, i, site) || s->orders != had + 1)
        return -1;
    struct idioms_order *o = &s->order[had];
    o->tries = (uint8_t)tries;
    o->failed = (uint8_t)failed;
    o->exposed = exposed;
    o->verdict = (enum feasible_verdict)verdict;
    return 1;
}
