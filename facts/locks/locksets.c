/* locksets.c - the sets of locks that threads hold. SPDX-License-Identifier: MIT */
#include "facts/locks/locksets.h"

#include <stdlib.h>
#include <string.h>

int locksets_init(struct locksets *s, const struct locks *locks, uint32_t threads, struct err *err)
{
    *s = (struct locksets){.locks = locks, .thread = calloc(threads + 1, sizeof *s->thread)};
    return s->thread ? 0 : err_set(err, "no memory");
}

void locksets_deinit(struct locksets *s)
{
    free(s->thread);
    numbers_deinit(&s->sets);
    *s = (struct locksets){0};
}

/* Takes the lock out of the list, and puts it in again if it was taken. */
static void change(struct locksets_thread *t, const struct locks_event *e)
{
    unsigned i = 0;
    while (i < t->locks && (t->lock[i] & ~1ull) < e->lock)
        i++;
    if (i < t->locks && (t->lock[i] & ~1ull) == e->lock)
        memmove(&t->lock[i], &t->lock[i + 1], sizeof *t->lock * (--t->locks - i));
    if (!e->take || t->locks == LOCKSETS_MOST)
        return;
    memmove(&t->lock[i + 1], &t->lock[i], sizeof *t->lock * (t->locks++ - i));
    t->lock[i] = e->lock | (e->shared ? 1 : 0);
}

int locksets_go(struct locksets *s, uint64_t insn)
{
    for (; s->next < s->locks->events && s->locks->event[s->next].insn < insn; s->next++) {
        const struct locks_event *e = &s->locks->event[s->next];
        struct locksets_thread *t = &s->thread[e->thread];
        change(t, e);
        t->set = 0;
        for (unsigned i = 0; i < t->locks; i++) {
            uint32_t number = numbers_add(&s->sets, t->set, t->lock[i]);
            if (number == NUMBERS_NONE)
                return -1;
            t->set = number + 1;
        }
    }
    return 0;
}

bool locksets_meet(const struct locksets *s, uint32_t a, uint32_t b)
{
    while (a && b) {
        const uint64_t *x = s->sets.pair[a - 1], *y = s->sets.pair[b - 1];
        if ((x[1] & ~1ull) == (y[1] & ~1ull)) {
            if (!(x[1] & y[1] & 1))
                return true;
            a = (uint32_t)x[0];
            b = (uint32_t)y[0];
        } else if (x[1] > y[1]) {
            a = (uint32_t)x[0];
        } else {
            b = (uint32_t)y[0];
        }
    }
    return false;
}
