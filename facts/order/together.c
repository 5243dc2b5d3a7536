/* together.c - races of two variables that two calls use together. SPDX-License-Identifier: MIT */
#include "facts/order/together.h"

/* Is it about bytes that the meeting is about, too? Two variables may lie in one word. */
static bool is_same(const struct together_one *x, const struct conflicts_meeting *m)
{
    return x->word == m->word &&
           (x->first.mask & x->then.mask & m->first->mask & m->then->mask) != 0;
}

void together_see(struct together *t, const struct conflicts_meeting *m)
{
    for (unsigned i = 0; i < t->count; i++) {
        struct together_one *x = &t->last[i];
        if (is_same(x, m) && x->first.thread == m->then->thread &&
            x->then.thread == m->first->thread)
            x->word = 0;
    }
}

static bool in_one_call(const struct conflicts_access *a, const struct conflicts_access *b)
{
    return a->frame && a->frame == b->frame && a->thread == b->thread && a->site != b->site;
}

static bool fits(const struct together_one *x, const struct conflicts_meeting *m)
{
    const struct conflicts_access *other_x = &x->then, *other_y = m->first;
    bool writes = x->first.write && m->then->write;
    return x->word && !is_same(x, m) && in_one_call(&x->first, m->then) &&
           in_one_call(other_x, other_y) && x->first.insn < other_y->insn &&
           ((other_x->write && other_y->write) || (writes && !other_x->write && !other_y->write));
}

const struct together_one *together_meet(struct together *t, const struct conflicts_meeting *m)
{
    const struct together_one *found = NULL;
    for (unsigned i = 0; !found && i < t->count; i++) {
        unsigned back = (t->next + TOGETHER_MOST - 1 - i) % TOGETHER_MOST; /* the nearest first */
        if (fits(&t->last[back], m))
            found = &t->last[back];
    }
    if (found)
        return found;
    t->last[t->next] = (struct together_one){m->word, *m->first, *m->then};
    t->next = (t->next + 1) % TOGETHER_MOST;
    t->count += t->count < TOGETHER_MOST;
    return NULL;
}
