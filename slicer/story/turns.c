/* turns.c - branches that another order of two threads would have turned.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. Branches of the user's lines, each with an instruction that loaded what it decided by, and the
 *    memory that was loaded in the slice.
 * 2. One pass over the trace finds all accesses there. A write of another thread directly before
 *    or behind a load might have come on its other side, if both threads ran at both moments and
 *    they do not hold a lock together.
 * 3. The nearest of these are tried.
 */
#include "slicer/story/turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/locks/locks.h"
#include "facts/order/story.h"
#include "study/look.h"
#include "study/past.h"
#include "trace/touch.h"
#include "trace/walk.h"

enum {
    BRANCHES = 64,
    RANGES = 64,
    HOPS = 6,           /* instructions between a load and its branch */
    ACCESSES = 1 << 18, /* that are looked at */
    WORD = 8,
};

struct branch {
    gaddr pc, load;
    uint32_t row, distance;
};

struct life {
    uint64_t first, last; /* instructions of a thread; first > last: none */
};

struct chance {
    const struct branch *branch;
    const struct touch *read, *write;
    uint64_t gap; /* instructions between them */
    bool later;   /* the write came behind the read */
};

struct finder {
    struct study *study;
    const struct report *report;
    struct branch branch[BRANCHES];
    size_t branches;
    struct touch_range range[RANGES];
    size_t ranges;
    struct touch *touch;
    size_t touches, touch_room;
    struct life *life; /* by thread */
    struct chance chance[BRANCHES * 2];
    size_t chances;
};

/* ---- branches ---- */

static void add_range(struct finder *t, const struct flows_edge *x)
{
    for (size_t i = 0; i < t->ranges; i++)
        if (t->range[i].start == x->addr)
            return;
    if (t->ranges < RANGES)
        t->range[t->ranges++] = (struct touch_range){x->addr, x->addr + x->bytes};
}

static void add_branch(struct finder *t, uint32_t node, uint32_t load)
{
    const struct flows *f = t->report->flows;
    const struct branch new = {.pc = f->node[node].pc,
                               .load = f->node[load].pc,
                               .row = f->row_of[node],
                               .distance = t->report->row[f->row_of[node]].distance};
    for (size_t i = 0; i < t->branches; i++)
        if (t->branch[i].pc == new.pc && t->branch[i].load == new.load)
            return;
    if (t->branches < BRANCHES)
        t->branch[t->branches++] = new;
}

/* In the user's own code: what a library does within itself is its own affair. */
static bool is_own(const struct finder *t, uint32_t node)
{
    struct source_line l;
    return study_own(t->study, t->report->flows->node[node].pc, &l);
}

/* Finds what a branch's node loaded for it: from memory that is not of the frame. */
static void find_loads(struct finder *t, uint32_t node, uint32_t at, unsigned hops)
{
    const struct flows *f = t->report->flows;
    uint32_t count;
    const struct flows_edge *x = flows_of(f, at, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (x[i].kind != SLICE_VALUE)
            continue;
        if (x[i].memory && x[i].bytes <= WORD && is_own(t, at)) {
            add_branch(t, node, at);
            add_range(t, &x[i]);
        }
        bool near = !x[i].memory && x[i].on < f->nodes && hops &&
                    f->node[x[i].on].thread == f->node[node].thread &&
                    f->row_of[x[i].on] == f->row_of[node];
        if (near)
            find_loads(t, node, x[i].on, hops - 1);
    }
}

static void find_branches(struct finder *t)
{
    const struct flows *f = t->report->flows;
    for (uint32_t node = f->nodes; node-- > 0;) {
        uint32_t row = f->row_of[node];
        if (f->node[node].branch && row < t->report->rows && t->report->row[row].own &&
            is_own(t, node))
            find_loads(t, node, node, HOPS);
    }
}

/* ---- accesses ---- */

static int take_touch(void *arg, const struct touch *x, struct err *err)
{
    struct finder *t = arg;
    if (x->by != TOUCH_INSN || x->bytes > WORD)
        return 0;
    if (t->touches == ACCESSES)
        return 1;
    return array_push(&t->touch, &t->touches, &t->touch_room, *x) ? err_set(err, "no memory") : 0;
}

static int live_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct life *l = &((struct finder *)arg)->life[w->thread];
    (void)err;
    l->first = w->insns < l->first ? w->insns : l->first;
    l->last = w->insns + w->step->insns;
    return 0;
}

static int live_note(void *arg, const struct trace_walk *w, struct err *err)
{
    (void)arg, (void)w, (void)err;
    return 0;
}

static int find_accesses(struct finder *t, struct err *err)
{
    const struct trace_visitor visitor = {.step = live_step, .note = live_note};
    const struct touch_visitor v = {
        .range = t->range, .ranges = t->ranges, .fn = take_touch, .arg = t};
    uint32_t threads = trace_threads(t->study->trace);
    t->life = calloc(threads + 1ull, sizeof *t->life);
    if (!t->life)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < threads; i++)
        t->life[i].first = UINT64_MAX;
    return touch_pass(t->study->trace, &v, err) < 0 ||
                   trace_walk_all(t->study->trace, 0, &visitor, t, err)
               ? -1
               : 0;
}

/* ---- chances ---- */

static bool overlap(const struct touch *x, const struct touch *y)
{
    return x->addr < y->addr + y->bytes && y->addr < x->addr + x->bytes;
}

/* The next access that writes some of the read's bytes, before or behind it; NULL: none. */
static const struct touch *neighbour(const struct finder *t, size_t read, bool later)
{
    const struct touch *r = &t->touch[read];
    size_t i = read;
    while (later ? i + 1 < t->touches : i > 0) {
        i = later ? i + 1 : i - 1;
        const struct touch *x = &t->touch[i];
        if (x->write && overlap(x, r))
            return x;
    }
    return NULL;
}

/* Did it make a difference for good? A thread that asks again and again takes notice of a later
 * write in its next turn; and what was written before the read counts if it was there for a while
 * only: the other thread writes again. */
static bool for_good(const struct finder *t, size_t read, const struct touch *w, bool later)
{
    const struct touch *r = &t->touch[read];
    for (size_t i = read + 1; i < t->touches; i++) {
        const struct touch *x = &t->touch[i];
        bool again = x->read && x->thread == r->thread && x->insn > w->insn;
        if (overlap(x, r) && later && again)
            return false;
        if (overlap(x, r) && !later && x->write && x->thread == w->thread)
            return true;
    }
    return later;
}

static bool both_run(const struct finder *t, const struct touch *a, const struct touch *b)
{
    const struct life *x = &t->life[a->thread], *y = &t->life[b->thread];
    uint64_t from = a->insn < b->insn ? a->insn : b->insn;
    uint64_t to = a->insn < b->insn ? b->insn : a->insn;
    return x->first <= from && y->first <= from && x->last > to && y->last > to;
}

static void add_chance(struct finder *t, struct chance c)
{
    for (size_t i = 0; i < t->chances; i++) {
        struct chance *is = &t->chance[i];
        if (is->branch != c.branch || is->later != c.later)
            continue;
        if (c.gap < is->gap)
            *is = c;
        return;
    }
    t->chance[t->chances++] = c;
}

static void find_chances(struct finder *t)
{
    for (size_t i = 0; i < t->touches; i++) {
        const struct touch *r = &t->touch[i];
        for (int later = 0; !r->write && later < 2; later++) {
            const struct touch *w = neighbour(t, i, later);
            if (!w || w->thread == r->thread || w->addr > r->addr ||
                w->addr + w->bytes < r->addr + r->bytes || !both_run(t, r, w) ||
                !for_good(t, i, w, later))
                continue;
            uint64_t gap = later ? w->insn - r->insn : r->insn - w->insn;
            for (size_t k = 0; k < t->branches; k++)
                if (t->branch[k].load == r->at.pc)
                    add_chance(t, (struct chance){&t->branch[k], r, w, gap, later});
        }
    }
}

static int by_nearness(const void *a, const void *b)
{
    const struct chance *x = a, *y = b;
    if (x->branch->distance != y->branch->distance)
        return x->branch->distance < y->branch->distance ? -1 : 1;
    if (x->gap != y->gap)
        return x->gap < y->gap ? -1 : 1;
    return x->branch->pc < y->branch->pc ? -1 : x->branch->pc > y->branch->pc;
}

/* Do the two hold a lock together? *both: they do. */
static int hold_lock(struct study *s, const struct chance *c, bool *both, struct err *err)
{
    const struct locks *l = locks_find(s, err);
    size_t reads = 0, writes = 0;
    const struct locks_event **r = l ? locks_held(l, c->read->insn, &reads, err) : NULL;
    const struct locks_event **w = r ? locks_held(l, c->write->insn, &writes, err) : NULL;
    *both = false;
    for (size_t i = 0; w && i < reads; i++)
        for (size_t k = 0; k < writes; k++)
            *both = *both || (r[i]->thread == c->read->thread && w[k]->thread == c->write->thread &&
                              r[i]->lock == w[k]->lock && !(r[i]->shared && w[k]->shared));
    bool bad = !w;
    free(r);
    free(w);
    return bad ? -1 : 0;
}

/* Leaves the best. */
static int choose(struct finder *t, struct err *err)
{
    size_t n = 0;
    bool locked;
    qsort(t->chance, t->chances, sizeof *t->chance, by_nearness);
    for (size_t i = 0; i < t->chances && n < TURNS_TRIES; i++) {
        if (hold_lock(t->study, &t->chance[i], &locked, err))
            return -1;
        if (!locked)
            t->chance[n++] = t->chance[i];
    }
    t->chances = n;
    return 0;
}

/* ---- trying ---- */

/* What the load read, and what it would have read. */
static struct look what_read(const struct chance *c)
{
    return (struct look){
        .insn = c->read->insn, .addr = c->read->addr, .bytes = (uint32_t)c->read->bytes};
}

static struct look what_else(const struct chance *c)
{
    struct look l = what_read(c);
    l.insn = c->write->insn;
    l.behind = c->later;
    return l;
}

static int try_one(struct past *past, const struct chance *c, const struct look *is,
                   const struct look *other, bool *turned, struct err *err)
{
    struct replay_attempt a = {.addr = is->addr,
                               .value = other->value,
                               .bytes = 0,
                               .thread = c->read->at.thread,
                               .steps = REPLAY_ATTEMPT_STEPS,
                               .branch = c->branch->pc};
    uint64_t as_it_was, otherwise;
    *turned = false;
    if (past_try(past, &a, &as_it_was, err))
        return -1;
    a.bytes = is->bytes;
    if (past_try(past, &a, &otherwise, err))
        return -1;
    *turned = as_it_was && otherwise && as_it_was != otherwise;
    return 0;
}

static void tell(struct study *s, const struct chance *c, const struct look *is,
                 const struct look *other, struct turn *out)
{
    enum { VALUE = 80 };
    char name[STORY_NAME], value[VALUE], instead[VALUE], here[STORY_NAME], there[STORY_NAME];
    struct source_type type;
    const struct races_side read = {
        .pc = c->read->at.pc, .addr = is->addr, .bytes = is->bytes, .at = c->read->at};
    const struct races_side write = {
        .pc = c->write->at.pc, .addr = is->addr, .bytes = is->bytes, .at = c->write->at};
    if (!story_name(s, &read, name, &type) && !story_name(s, &write, name, &type))
        snprintf(name, sizeof name, "0x%" PRIx64, is->addr);
    source_value_write(&type, &is->value, is->bytes, value, sizeof value);
    source_value_write(&type, &other->value, is->bytes, instead, sizeof instead);
    study_place(s, c->read->at.pc, here, sizeof here);
    study_place(s, c->write->at.pc, there, sizeof there);
    out->at = c->read->at;
    out->then = c->write->at;
    out->row = c->branch->row;
    snprintf(out->text, sizeof out->text,
             "T%" PRIu32 " read %s from %.100s at %.100s, %s T%" PRIu32
             " wrote %s to it at %.100s; "
             "with %s, the branch goes the other way",
             c->read->at.thread, value, name, here, c->later ? "before" : "after",
             c->write->at.thread, c->later ? instead : value, there, instead);
}

static int by_read(const void *a, const void *b)
{
    const struct chance *x = a, *y = b;
    return x->read->insn < y->read->insn ? -1 : x->read->insn > y->read->insn;
}

/* Keeps the nearest, one for a row. */
static void keep(const struct finder *t, struct turn out[TURNS_MOST], size_t *turns,
                 const struct turn *new)
{
    const struct report_row *row = t->report->row;
    size_t at = *turns;
    for (size_t i = 0; i < *turns; i++)
        if (out[i].row == new->row)
            return;
    while (at && row[out[at - 1].row].distance > row[new->row].distance)
        at--;
    if (at == TURNS_MOST)
        return;
    *turns += *turns < TURNS_MOST;
    for (size_t i = *turns - 1; i > at; i--)
        out[i] = out[i - 1];
    out[at] = *new;
}

/* The replay goes forwards, so chances are tried in the order of their reads. */
static int try_all(struct finder *t, struct look *look, struct turn out[TURNS_MOST], size_t *turns,
                   struct err *err)
{
    struct past *past = past_new_trying(t->study, err);
    int bad = past ? 0 : -1;
    for (size_t i = 0; !bad && i < t->chances; i++) {
        const struct chance *c = &t->chance[i];
        const struct look *is = &look[2 * i], *other = is + 1;
        struct turn turn;
        bool turned;
        if (!is->known || !other->known || is->value == other->value)
            continue;
        bad = past_go(past, c->read->insn, &c->read->at, err) ||
              try_one(past, c, is, other, &turned, err);
        if (bad || !turned)
            continue;
        tell(t->study, c, is, other, &turn);
        keep(t, out, turns, &turn);
    }
    past_free(past);
    return bad ? -1 : 0;
}

static int look_and_try(struct finder *t, struct turn out[TURNS_MOST], size_t *turns,
                        struct err *err)
{
    struct look look[2 * TURNS_TRIES];
    qsort(t->chance, t->chances, sizeof *t->chance, by_read);
    for (size_t i = 0; i < t->chances; i++) {
        look[2 * i] = what_read(&t->chance[i]);
        look[2 * i + 1] = what_else(&t->chance[i]);
    }
    return look_at_all(t->study, look, 2 * t->chances, err) || try_all(t, look, out, turns, err)
               ? -1
               : 0;
}

int turns_find(struct study *s, const struct report *r, struct turn out[TURNS_MOST], size_t *turns,
               struct err *err)
{
    struct finder *t = calloc(1, sizeof *t);
    int bad = t ? 0 : err_set(err, "no memory");
    *turns = 0;
    if (t && s->pinball && r->flows) {
        t->study = s;
        t->report = r;
        find_branches(t);
        bad = t->branches ? find_accesses(t, err) : 0;
        if (!bad)
            find_chances(t);
        bad = bad || (t->chances && choose(t, err));
        bad = bad || (t->chances && look_and_try(t, out, turns, err));
    }
    if (t) {
        free(t->touch);
        free(t->life);
    }
    free(t);
    return bad ? -1 : 0;
}
