/* chaos.c - odd schedules, to make rare orders of threads happen. SPDX-License-Identifier: MIT */
#include "engine/sched/chaos.h"

#include "base/hash.h"
#include "engine/core/engine.h"

enum { LEAST_BITS = 3, MOST_BITS = 13, MOOD_CHANGES = 16, MOST_STEPS = 12 };

static uint64_t state;
static uint64_t mood; /* gives every thread a rank */
static unsigned until_change;

static uint64_t draw(void)
{
    if (!state)
        state = engine.opt.seed * 2 + 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return hash_fold(0, state) >> 16;
}

bool chaos_odds(unsigned of_256)
{
    return draw() % 256 < of_256;
}

uint64_t chaos_quantum(void)
{
    unsigned bits = LEAST_BITS + (unsigned)(draw() % (MOST_BITS - LEAST_BITS + 1));
    return 1 + draw() % (1ull << bits);
}

uint8_t chaos_steps(void)
{
    return chaos_odds(128) ? (uint8_t)(1 + draw() % MOST_STEPS) : 0;
}

static uint64_t rank(const struct thread *t)
{
    return hash_fold(mood, t->number);
}

static struct thread *by_rank(struct thread *queue)
{
    struct thread *best = queue;
    for (struct thread *t = queue; t; t = t->baton_next)
        if (rank(t) > rank(best))
            best = t;
    return best;
}

static struct thread *by_lot(struct thread *queue)
{
    uint64_t n = 0;
    for (struct thread *t = queue; t; t = t->baton_next)
        n++;
    for (n = n ? draw() % n : 0; n; n--)
        queue = queue->baton_next;
    return queue;
}

struct thread *chaos_choose(struct thread *queue)
{
    if (!until_change--) {
        mood = draw();
        until_change = (unsigned)(draw() % MOOD_CHANGES);
    }
    return mood & 1 ? by_rank(queue) : by_lot(queue);
}
