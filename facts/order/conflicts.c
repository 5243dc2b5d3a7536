/* conflicts.c - who touched the words of a trace. SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. A word's list has one entry for each thread, place, kind and set of bytes: the last one.
 * 2. If an entry is older than the last access from the same place as `now`, then that access has
 *    met it already; threads only learn, so the answer is the same.
 * 3. A list that is long loses what is before `now`: a later access that it conflicts with either
 *    is behind `now`, too, or conflicts with `now`, so the word does not go unreported.
 */
#include "facts/order/conflicts.h"

#include <stdlib.h>

#include "base/array.h"

enum { LONG = 64 };

struct entry {
    struct conflicts_access a;
    uint32_t next; /* number plus one */
};

struct conflicts {
    const struct clocks *clocks;
    conflicts_fn *fn;
    void *arg;
    struct entry *entry;
    size_t entries, room;
    uint32_t unused; /* a list of them */
};

struct conflicts *conflicts_new(const struct clocks *clocks, conflicts_fn *fn, void *arg,
                                struct err *err)
{
    struct conflicts *c = calloc(1, sizeof *c);
    if (!c) {
        err_set(err, "no memory");
        return NULL;
    }
    c->clocks = clocks;
    c->fn = fn;
    c->arg = arg;
    return c;
}

void conflicts_free(struct conflicts *c)
{
    if (!c)
        return;
    free(c->entry);
    free(c);
}

static bool is_before(const struct conflicts *c, const struct conflicts_access *a,
                      const struct conflicts_access *b)
{
    return clocks_before(c->clocks, (struct clocks_point){a->thread, a->insn},
                         (struct clocks_point){b->thread, b->insn});
}

/* What a look through a word's list shows. */
struct seen {
    uint32_t same;   /* the entry of the same thread, place, kind and bytes, plus one */
    uint32_t before; /* the last one of the thread, of some of the bytes, plus one */
    unsigned count;
    bool written;
};

static struct seen look(const struct conflicts *c, uint32_t head,
                        const struct conflicts_access *now)
{
    struct seen s = {0};
    for (uint32_t i = head; i; i = c->entry[i - 1].next, s.count++) {
        const struct conflicts_access *a = &c->entry[i - 1].a;
        if (!(a->mask & now->mask))
            continue;
        s.written = s.written || a->write;
        if (a->thread != now->thread)
            continue;
        if (a->site == now->site && a->mask == now->mask && a->write == now->write &&
            a->locks == now->locks)
            s.same = i;
        if (!s.before || c->entry[s.before - 1].a.insn < a->insn)
            s.before = i;
    }
    return s;
}

static int meet(struct conflicts *c, uint32_t head, gaddr word, const struct seen *seen,
                const struct conflicts_access *now, struct err *err)
{
    const uint64_t since = seen->same ? c->entry[seen->same - 1].a.insn : 0;
    struct conflicts_meeting m = {
        .word = word, .then = now, .before = seen->before ? &c->entry[seen->before - 1].a : NULL};
    for (uint32_t i = head; i; i = c->entry[i - 1].next) {
        const struct conflicts_access *a = &c->entry[i - 1].a;
        if (a->thread == now->thread || !(a->mask & now->mask) || !(a->write || now->write) ||
            (seen->same && a->insn < since))
            continue;
        m.first = a;
        m.ordered = is_before(c, a, now);
        if (c->fn(c->arg, &m, err))
            return -1;
    }
    return 0;
}

static void forget_ordered(struct conflicts *c, uint32_t *head, const struct conflicts_access *now)
{
    for (uint32_t *link = head; *link;) {
        uint32_t i = *link;
        struct entry *e = &c->entry[i - 1];
        if (!is_before(c, &e->a, now)) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        e->next = c->unused;
        c->unused = i;
    }
}

static int add(struct conflicts *c, uint32_t *head, const struct conflicts_access *now,
               struct err *err)
{
    uint32_t i = c->unused;
    if (i) {
        c->unused = c->entry[i - 1].next;
        c->entry[i - 1] = (struct entry){*now, *head};
    } else {
        if (c->entries == UINT32_MAX - 1 ||
            array_push(&c->entry, &c->entries, &c->room, (struct entry){*now, *head}))
            return err_set(err, "no memory");
        i = (uint32_t)c->entries;
    }
    *head = i;
    return 0;
}

int conflicts_take(struct conflicts *c, uint32_t *head, gaddr word,
                   const struct conflicts_access *now, struct err *err)
{
    struct seen seen = look(c, *head, now);
    struct conflicts_access mine = *now;
    if (meet(c, *head, word, &seen, now, err))
        return -1;
    if (seen.same) {
        mine.unset = c->entry[seen.same - 1].a.unset;
        c->entry[seen.same - 1].a = mine;
        return 0;
    }
    mine.unset = !seen.written;
    if (seen.count >= LONG)
        forget_ordered(c, head, now);
    return add(c, head, &mine, err);
}
