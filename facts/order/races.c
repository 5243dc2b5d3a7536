/* races.c - all races of a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * Three passes. The first finds out which words several threads touch and which synchronisation is
 * there by chance (survey.h); the second makes the clocks without that; the third takes each access
 * to a shared word to those it conflicts with (conflicts.h).
 *
 * With sets of locks, a second set of clocks leaves the locks out, too: what only they order is a
 * race where no lock is held on both sides.
 */
#include "facts/order/races.h"

#include <stdlib.h>

#include "base/array.h"
#include "facts/locks/locksets.h"
#include "facts/order/around.h"
#include "facts/order/conflicts.h"
#include "facts/order/numbers.h"
#include "facts/order/races_kept.h"
#include "facts/order/sites.h"
#include "facts/order/survey.h"
#include "facts/order/together.h"
#include "facts/order/touches.h"

struct search {
    struct study *study;
    const struct sync *sync;
    struct survey survey;
    struct clocks *clocks;
    struct clocks *loose; /* without locks; NULL: their sets do not count */
    struct locksets locksets;
    struct conflicts *conflicts;
    struct sites sites;
    struct numbers places;    /* pairs of sites */
    struct races_pair *found; /* by its number; race: RACE_NONE so far */
    size_t founds;
    const struct pass_step *step; /* that is executed */
    struct together together;
};

/* ---- accesses ---- */

/* Does any of these bytes belong to a synchronisation variable? */
static bool is_variable(const struct sync *s, gaddr addr, uint64_t bytes)
{
    if (!sync_may(s, addr))
        return false;
    size_t i = sync_find(s, addr);
    return i < s->variables && s->variable[i].start < addr + bytes;
}

static int take_word(struct search *q, struct shared_page *page, const struct touches_one *t,
                     gaddr from, gaddr to, struct err *err)
{
    const struct pass_step *st = q->step;
    const struct frame *f = st->frame;
    struct conflicts_access now = {
        .insn = st->insn + t->insn,
        .count = st->count,
        .frame = f ? f->serial : 0,
        .caller = f && f->parent ? f->parent->serial : 0,
        .cfa = f && f->kind != FRAME_ROOT ? f->slot + 8 : 0,
        .thread = st->step->thread,
        .mask = (uint8_t)((0xff >> (8 - (to - from))) << (from & 7)),
        .write = t->write,
        .by_kernel = t->noted,
    };
    if (!shared_has(page, from) || is_variable(q->sync, from, to - from))
        return 0;
    if (q->loose && locksets_go(&q->locksets, now.insn))
        return err_set(err, "no memory");
    now.locks = q->loose ? q->locksets.thread[now.thread].set : 0;
    now.site = sites_of(&q->sites, st->block->insn[t->insn].in.pc, st->frame);
    if (!page->own)
        page->own = calloc(SHARED_WORDS, sizeof *page->own);
    if (!page->own || now.site == NUMBERS_NONE)
        return err_set(err, "no memory");
    return conflicts_take(q->conflicts, &page->own[from % SHARED_PAGE / 8], from & ~7ull, &now,
                          err);
}

static int take_touch(void *arg, const struct pass_step *st, const struct touches_one *t,
                      struct err *err)
{
    struct search *q = arg;
    const gaddr end = t->addr + t->bytes;
    q->step = st;
    if (t->renews) {
        shared_forget(&q->survey.shared, t->addr, t->bytes);
        return 0;
    }
    for (gaddr at = t->addr; at < end;) {
        struct shared_page *page = shared_find(&q->survey.shared, at);
        gaddr next = page ? (at | 7) + 1 : (at | (SHARED_PAGE - 1)) + 1;
        if (page && take_word(q, page, t, at, next < end ? next : end, err))
            return -1;
        at = next;
    }
    return 0;
}

/* ---- what is met ---- */

static bool is_before(const struct clocks *c, const struct conflicts_meeting *m)
{
    return clocks_before(c, (struct clocks_point){m->first->thread, m->first->insn},
                         (struct clocks_point){m->then->thread, m->then->insn});
}

static bool is_library(const struct search *q, const struct conflicts_access *a)
{
    const gaddr *site = sites_at(&q->sites, a->site);
    return site[0] != site[1];
}

/* Memory of no module may have been given to another owner, in an order that the allocator made;
 * and a library's data are protected by its own locks, which order nobody else. */
static int is_handed_on(struct search *q, const struct conflicts_meeting *m, bool *out,
                        struct err *err)
{
    enum { OF_MODULE = 1, OF_NONE = 2 };
    struct shared_page *page = shared_find(&q->survey.shared, m->word);
    struct source_line l;
    *out = false;
    if (!page->mark) {
        source_line(q->study->source, m->word, &l);
        page->mark = l.module ? OF_MODULE : OF_NONE;
    }
    if (page->mark == OF_MODULE && !(is_library(q, m->first) && is_library(q, m->then)))
        return 0;
    const struct clocks *all = race_clocks(q->study, err);
    if (!all)
        return -1;
    *out = is_before(all, m);
    return 0;
}

/* `mask` are bytes of the word, at least one. */
static struct races_side side_of(const struct search *q, gaddr word, unsigned mask,
                                 const struct conflicts_access *a)
{
    const gaddr *site = sites_at(&q->sites, a->site);
    return (struct races_side){.at = {.thread = trace_thread(q->study->trace, a->thread),
                                      .count = a->count,
                                      .pc = site[0]},
                               .insn = a->insn,
                               .pc = site[0],
                               .line_pc = site[1],
                               .cfa = a->cfa,
                               .thread = a->thread,
                               .write = a->write,
                               .by_kernel = a->by_kernel,
                               .addr = word + (unsigned)__builtin_ctz(mask),
                               .bytes = (uint32_t)__builtin_popcount(mask)};
}

static struct races_pair pair_of(const struct search *q, const struct conflicts_meeting *m)
{
    unsigned both = m->first->mask & m->then->mask;
    struct races_pair p = {.first = side_of(q, m->word, both, m->first),
                           .then = side_of(q, m->word, both, m->then),
                           .unset = m->first->unset,
                           .unlocked = q->loose && is_before(q->clocks, m)};
    p.kind = !m->first->write ? RACES_READ_WRITE
             : m->then->write ? RACES_WRITE_WRITE
                              : RACES_WRITE_READ;
    return p;
}

static enum race judge(struct search *q, const struct races_pair *p)
{
    const struct races_side *write = p->then.write ? &p->then : &p->first;
    const struct races_side *other = p->then.write ? &p->first : &p->then;
    struct race_flow flow = {.write = {write->thread, write->insn, write->pc, write->cfa},
                             .read = {other->thread, other->insn, other->pc, other->cfa},
                             .addr = p->first.addr,
                             .bytes = p->first.bytes,
                             .overwrites = other->write};
    return race_judge(q->study, &flow);
}

/* The thread that runs was in `before` at its earlier access: are both in one call, or in calls
 * that it made? */
static bool in_one_frame(const struct search *q, const struct conflicts_access *before,
                         const struct conflicts_access *then)
{
    enum { DEEP = 32 };
    const struct frame *f = q->step->frame;
    if (before->caller && (before->caller == then->frame || before->caller == then->caller))
        return true;
    for (unsigned i = 0; f && i < DEEP; i++, f = f->parent)
        if (f->serial == before->frame)
            return true;
    return false;
}

static void keep_around(struct races_around *out, const struct races_around *a)
{
    if (a->pattern && (!out->pattern || a->pattern < out->pattern))
        *out = *a;
}

/* Did the instruction that wrote, of the step that is executed, read the same bytes before? What it
 * made of them took account of what was there. */
static bool reads_too(const struct search *q, const struct conflicts_access *then)
{
    const struct pass_step *st = q->step;
    for (unsigned k = 0; then->write && !then->by_kernel && k < st->block->accesses; k++) {
        const struct plan_access *a = &st->block->access[k];
        if (st->insn + a->insn == then->insn && a->mem.read && a->mem.write)
            return true;
    }
    return false;
}

/* Keeps the accesses if they make a better pattern than those that are kept. A thread
 * that comes again from the same place looks whether something has changed: that is no pattern. */
static void look_around(struct search *q, const struct conflicts_meeting *m,
                        struct races_around *out)
{
    const struct conflicts_access *before = m->before;
    unsigned mask = before ? before->mask & m->first->mask & m->then->mask : 0;
    if (!mask || before->site == m->then->site || out->pattern == PATTERN_LOST_UPDATE)
        return;
    /* Whether it is an update is looked at later (around.h). */
    struct races_around a = {
        .sides = 3, .one_frame = in_one_frame(q, before, m->then), .updates = true};
    bool between = before->insn < m->first->insn;
    a.side[0] = side_of(q, m->word, mask, between ? before : m->first);
    a.side[1] = side_of(q, m->word, mask, between ? m->first : before);
    a.side[2] = side_of(q, m->word, mask, m->then);
    a.side[2].write = m->then->write && !reads_too(q, m->then);
    a.pattern = around_pattern(&a, NULL, 0, NULL);
    keep_around(out, &a);
}

/* The other's access may be a race with what the thread did before. */
static void look_before(struct search *q, const struct conflicts_meeting *m)
{
    if (!m->before || m->before->insn > m->first->insn)
        return;
    uint32_t i = numbers_find(&q->places, m->before->site, m->first->site);
    if (i < q->founds && q->found[i].race)
        look_around(q, m, &q->found[i].around);
}

/* Two variables that were used together: both races show it. */
static void look_together(struct search *q, const struct conflicts_meeting *m, uint32_t place)
{
    const struct together_one *x = together_meet(&q->together, m);
    if (!x)
        return;
    unsigned x_mask = x->first.mask & x->then.mask, y_mask = m->first->mask & m->then->mask;
    struct races_around a = {
        .sides = 4,
        .one_frame = true,
        .side = {side_of(q, x->word, x_mask, &x->first), side_of(q, x->word, x_mask, &x->then),
                 side_of(q, m->word, y_mask, m->first), side_of(q, m->word, y_mask, m->then)}};
    a.pattern = around_pattern(&a, NULL, 0, NULL);
    uint32_t other = numbers_find(&q->places, x->first.site, x->then.site);
    keep_around(&q->found[place].around, &a);
    if (other < q->founds)
        keep_around(&q->found[other].around, &a);
}

/* A pair that counts: to the places that it is of. */
static int add_pair(struct search *q, const struct conflicts_meeting *m, struct err *err)
{
    uint32_t i = numbers_add(&q->places, m->first->site, m->then->site);
    if (i == NUMBERS_NONE ||
        (i == q->founds && array_append(&q->found, &q->founds, (struct races_pair){0})))
        return err_set(err, "no memory");
    struct races_pair *f = &q->found[i], p = pair_of(q, m);
    enum race race = f->race == RACE_CERTAIN ? RACE_CERTAIN : judge(q, &p);
    if (race > f->race || (race == f->race && f->unlocked && !p.unlocked)) {
        p.instances = f->instances;
        p.kinds = f->kinds;
        p.race = race;
        *f = p;
    }
    if (race) {
        f->instances++;
        f->kinds |= p.kind;
        look_around(q, m, &f->around);
        if (!is_library(q, m->first) && !is_library(q, m->then))
            look_together(q, m, i);
    }
    return 0;
}

static int meet(void *arg, const struct conflicts_meeting *m, struct err *err)
{
    struct search *q = arg;
    bool handed_on;
    look_before(q, m);
    together_see(&q->together, m);
    if (m->ordered)
        return 0;
    if (q->loose && locksets_meet(&q->locksets, m->first->locks, m->then->locks))
        return 0;
    if (is_handed_on(q, m, &handed_on, err))
        return -1;
    return handed_on ? 0 : add_pair(q, m, err);
}

/* ---- pairs of lines ---- */

static uint32_t line_of(struct search *q, struct numbers *lines, const struct races_side *s)
{
    struct source_line l;
    bool known = s->line_pc && study_line(q->study, s->line_pc, &l);
    return known ? numbers_add(lines, (uintptr_t)l.file, l.line)
                 : numbers_add(lines, s->line_pc ? s->line_pc : s->pc, UINT64_MAX);
}

static int by_time(const void *a, const void *b)
{
    const struct races_pair *x = a, *y = b;
    if (x->then.insn != y->then.insn)
        return x->then.insn < y->then.insn ? -1 : 1;
    return x->first.insn < y->first.insn ? -1 : x->first.insn > y->first.insn;
}

/* Those of the same two lines are one. What is certain counts for more than what came first. */
static void merge(struct races_pair *into, const struct races_pair *p)
{
    struct races_pair both = *into;
    const struct races_around *a = &into->around, *b = &p->around;
    bool certain = p->race > into->race || (p->race == into->race && by_time(p, into) < 0);
    if (into->unlocked == p->unlocked ? certain : into->unlocked)
        both = *p;
    both.around = !a->pattern || (b->pattern && b->pattern < a->pattern) ? *b : *a;
    both.kinds = into->kinds | p->kinds;
    both.instances = into->instances + p->instances;
    *into = both;
}

static int make_list(struct search *q, struct races *out, struct err *err)
{
    struct numbers lines = {0}, both = {0};
    int bad = 0;
    for (size_t i = 0; !bad && i < q->founds; i++) {
        const struct races_pair *p = &q->found[i];
        if (!p->race)
            continue;
        uint32_t a = line_of(q, &lines, &p->first), b = line_of(q, &lines, &p->then);
        uint32_t k = numbers_add(&both, a < b ? a : b, a < b ? b : a);
        if (a == NUMBERS_NONE || b == NUMBERS_NONE || k == NUMBERS_NONE)
            bad = err_set(err, "no memory");
        else if (k < out->pairs)
            merge(&out->pair[k], p);
        else if (array_append(&out->pair, &out->pairs, *p))
            bad = err_set(err, "no memory");
    }
    numbers_deinit(&lines);
    numbers_deinit(&both);
    if (!bad && out->pairs)
        qsort(out->pair, out->pairs, sizeof *out->pair, by_time);
    return bad;
}

/* ---- all of it ---- */

static void deinit(struct search *q)
{
    survey_deinit(&q->survey);
    clocks_free(q->clocks);
    clocks_free(q->loose);
    locksets_deinit(&q->locksets);
    conflicts_free(q->conflicts);
    sites_deinit(&q->sites);
    numbers_deinit(&q->places);
    free(q->found);
}

/* Clocks that the locks do not order, and who holds them. */
static int make_loose(struct search *q, struct err *err)
{
    enum { LOCK_BYTES = 56 }; /* a rwlock's; a mutex has 40 */
    const struct locks *l = locks_find(q->study, err);
    if (!l || locksets_init(&q->locksets, l, trace_threads(q->study->trace), err))
        return -1;
    for (size_t i = 0; i < l->events; i++) {
        gaddr lock = l->event[i].lock;
        gaddr end = lock + (l->event[i].kind == LOCKS_SPIN ? 4 : LOCK_BYTES);
        for (size_t k = sync_find(q->sync, lock);
             k < q->sync->variables && q->sync->variable[k].start < end; k++)
            q->survey.chance[k] = true;
    }
    q->loose = clocks_new(q->study, q->sync, q->survey.chance, err);
    return q->loose ? 0 : -1;
}

static int find(struct search *q, bool locksets, struct races *out, struct err *err)
{
    const struct touches_visitor visitor = {.touch = take_touch, .arg = q};
    q->sync = race_sync(q->study, err);
    if (!q->sync || survey_init(&q->survey, q->study, q->sync, err))
        return -1;
    q->clocks = clocks_new(q->study, q->sync, q->survey.chance, err);
    if (!q->clocks || (locksets && make_loose(q, err)))
        return -1;
    q->conflicts = conflicts_new(q->loose ? q->loose : q->clocks, meet, q, err);
    int bad = q->conflicts ? touches_pass(q->study, q->sync->first_chunk, &visitor, err) : -1;
    out->stopped = bad && err->code == TRACE_STOPPED; /* some are known */
    if ((bad && !out->stopped) || make_list(q, out, err))
        return -1;
    return around_settle(q->study, out, err);
}

static void free_races(void *made)
{
    struct races *r = made;
    free(r->pair);
    free(r);
}

const struct races *races_find(struct study *s, bool locksets, struct err *err)
{
    enum study_fact fact = locksets ? STUDY_LOCKSETS : STUDY_RACES;
    struct races *r = s->fact[fact].made;
    struct search q = {.study = s, .sites = {.study = s}};
    if (r)
        return r;
    r = calloc(1, sizeof *r);
    if (!r) {
        err_set(err, "no memory");
        return NULL;
    }
    if (trace_threads(s->trace) > 1 && !races_kept_get(s, locksets, r)) {
        int bad = find(&q, locksets, r, err);
        deinit(&q);
        if (bad) {
            free_races(r);
            return NULL;
        }
        if (!r->stopped)
            races_kept_put(s, locksets, r);
    }
    s->fact[fact].made = r;
    s->fact[fact].free = free_races;
    return r;
}

const char *races_kind_name(enum races_kind kind)
{
    return kind == RACES_WRITE_WRITE  ? "write/write"
           : kind == RACES_WRITE_READ ? "write/read"
                                      : "read/write";
}
