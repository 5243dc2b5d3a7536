/* around.c - the accesses around a race that make it a pattern. SPDX-License-Identifier: MIT */
#include "facts/order/around.h"

#include <stdlib.h>

#include "facts/order/depends.h"
#include "study/look.h"
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
                             .variable = words ? words->variable : NULL,
                             .other = words ? words->other : NULL};
    for (unsigned i = 0; i < a->sides; i++)
        c.access[i] = (struct pattern_access){.thread = a->side[i].at.thread,
                                              .write = a->side[i].write,
                                              .other = a->side[i].addr != a->side[0].addr,
                                              .line = words ? words->line[i] : NULL,
                                              .value = words ? words->value[i] : NULL};
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

static int drop_written(struct study *s, struct early *e, struct err *err)
{
    struct touch_visitor v = {.range = e->range, .ranges = e->count, .fn = take_touch, .arg = e};
    if (!e->count)
        return 0;
    qsort(e->pair, e->count, sizeof *e->pair, by_first);
    for (size_t i = 0; i < e->count; i++)
        e->range[i] = (struct touch_range){e->pair[i]->first.addr,
                                           e->pair[i]->first.addr + e->pair[i]->first.bytes};
    e->last = e->pair[e->count - 1]->first.insn;
    return touch_pass(s->trace, &v, err) < 0 ? -1 : 0;
}

/* ---- values ---- */

/* Accesses whose values are of interest: those of patterns, and of what may be unset. NULL: the
 * values of this one are not, or it is the kernel's, and what was there in its time is not known.
 */
static struct races_side *valued(struct races *races, size_t i)
{
    struct races_around *a = &races->pair[i / PATTERN_ACCESSES].around;
    unsigned k = i % PATTERN_ACCESSES;
    return k < a->sides && !a->side[k].by_kernel ? &a->side[k] : NULL;
}

/* Reads them in one replay: what was there before a read, and behind a write. */
static int look_at_values(struct study *s, struct races *races, struct err *err)
{
    const size_t sides = races->pairs * PATTERN_ACCESSES;
    struct look *list = calloc(sides + 1, sizeof *list);
    struct races_side *side;
    size_t n = 0;
    if (!list)
        return err_set(err, "no memory");
    for (size_t i = 0; i < sides; i++)
        if ((side = valued(races, i)))
            list[n++] = (struct look){.insn = side->insn,
                                      .behind = side->write,
                                      .addr = side->addr,
                                      .bytes = side->bytes};
    int bad = look_at_all(s, list, n, err);
    n = 0;
    for (size_t i = 0; !bad && i < sides; i++)
        if ((side = valued(races, i))) {
            side->known = list[n].known;
            side->value = list[n++].value;
        }
    free(list);
    return bad;
}

/* ---- all of it ---- */

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
    if (drop_written(s, &early, err))
        return -1;
    for (size_t i = 0; i < early.count; i++) {
        struct races_pair *p = early.pair[i];
        if (p->unset)
            p->around =
                (struct races_around){.side = {p->first, p->then}, .sides = 2, .unset = true};
    }
    if (look_at_values(s, races, err))
        return -1;
    for (size_t i = 0; i < early.count; i++) {
        struct races_pair *p = early.pair[i];
        struct races_around *a = &p->around;
        /* What is not zero was set before the program began. */
        p->unset = p->unset && a->side[0].known && !a->side[0].value;
        if (p->unset)
            a->pattern = around_pattern(a, NULL, 0, NULL);
        else
            *a = (struct races_around){.pattern = PATTERN_NONE};
    }
    return 0;
}
