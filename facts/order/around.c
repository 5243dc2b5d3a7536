/* around.c - the accesses around a race that make it a pattern. SPDX-License-Identifier: MIT */
#include "facts/order/around.h"

#include <stdlib.h>

#include "facts/order/depends.h"
#include "study/past.h"
#include "trace/touch.h"

enum { UNSET_MOST = 64 };

enum pattern around_pattern(const struct races_around *a, char *sentence, size_t room,
                            const struct around_words *words)
{
    struct pattern_case c = {.accesses = a->sides,
                             .unordered = true,
                             .one_frame = a->one_frame,
                             .updates = a->updates,
                             .unset = a->unset,
                             .variable = words ? words->variable : NULL};
    for (unsigned i = 0; i < a->sides; i++)
        c.access[i] = (struct pattern_access){.thread = a->side[i].at.thread,
                                              .write = a->side[i].write,
                                              .line = words ? words->line[i] : NULL};
    return pattern_find(&c, sentence, room);
}

/* ---- what was used before it was set ---- */

/* Races whose first access may be too early. */
struct early {
    struct races_pair *pair[UNSET_MOST];
    struct touch_range range[UNSET_MOST];
    size_t count;
    uint64_t last; /* the latest of these accesses */
};

/* Is it a read, with nothing but the write after it? Somebody who looks again is waiting for it. */
static bool may_be_early(const struct races_pair *p)
{
    return p->unset && p->kinds == RACES_READ_WRITE && !p->around.pattern;
}

static int take_touch(void *arg, const struct touch *t, struct err *err)
{
    struct early *e = arg;
    (void)err;
    if (t->insn > e->last)
        return 1;
    for (size_t i = 0; t->write && i < e->count; i++)
        if (t->insn < e->pair[i]->first.insn && t->addr < e->range[i].end &&
            e->range[i].start < t->addr + t->bytes)
            e->pair[i]->unset = false;
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct races_pair *x = *(struct races_pair *const *)a;
    const struct races_pair *y = *(struct races_pair *const *)b;
    return x->first.insn < y->first.insn ? -1 : x->first.insn > y->first.insn;
}

/* What is not zero was set before the program began. */
static int look_at_values(struct study *s, struct early *e, struct err *err)
{
    struct past *past = NULL;
    uint64_t at = UINT64_MAX; /* the past is there */
    int bad = 0;
    for (size_t i = 0; !bad && i < e->count; i++) {
        struct races_pair *p = e->pair[i];
        uint64_t value = 0;
        if (!p->unset)
            continue;
        if (!past)
            past = study_past(s, p->first.insn, &p->first.at, err);
        else if (at != p->first.insn)
            bad = past_go(past, p->first.insn, &p->first.at, err);
        at = p->first.insn;
        if (!past || bad) {
            bad = -1;
            break;
        }
        p->unset = past_read(past, p->addr, &value, p->bytes) == p->bytes && !value;
    }
    past_free(past);
    return bad;
}

static int settle_early(struct study *s, struct early *e, struct err *err)
{
    struct touch_visitor v = {.range = e->range, .ranges = e->count, .fn = take_touch, .arg = e};
    if (!e->count)
        return 0;
    qsort(e->pair, e->count, sizeof *e->pair, by_first);
    for (size_t i = 0; i < e->count; i++)
        e->range[i] = (struct touch_range){e->pair[i]->addr, e->pair[i]->addr + e->pair[i]->bytes};
    e->last = e->pair[e->count - 1]->first.insn;
    if (touch_pass(s->trace, &v, err) < 0 || look_at_values(s, e, err))
        return -1;
    for (size_t i = 0; i < e->count; i++) {
        struct races_pair *p = e->pair[i];
        if (!p->unset)
            continue;
        p->around = (struct races_around){.side = {p->first, p->then}, .sides = 2, .unset = true};
        p->around.pattern = around_pattern(&p->around, NULL, 0, NULL);
    }
    return 0;
}

int around_settle(struct study *s, struct races *races, struct err *err)
{
    struct early early = {.count = 0};
    for (size_t i = 0; i < races->pairs; i++) {
        struct races_pair *p = &races->pair[i];
        struct races_around *a = &p->around;
        if (a->pattern == PATTERN_LOST_UPDATE) {
            if (depends_by_value(s, a->side[0].insn, a->side[2].insn, &a->updates, err))
                return -1;
            a->pattern = around_pattern(a, NULL, 0, NULL);
        }
        if (may_be_early(p) && early.count < UNSET_MOST)
            early.pair[early.count++] = p;
        else
            p->unset = false;
    }
    return settle_early(s, &early, err);
}
