/* chaos.c - odd schedules, to make rare orders of threads happen.
 *
 * SPDX-License-Identifier: MIT
 *
 * With `--chaos` a thread runs for a few ticks or for many, is taken off before system calls, and
 * the next one is chosen by lot or by a liking for some threads that changes now and then, so that
 * one may be kept waiting while all others run. Every choice comes from one seed.
 */
#include "base/hash.h"
#include "engine/core/engine.h"
#include "engine/sched/schedule.h"

enum { TICK = 128, CALL = 48, STEPS = 128 }; /* of 256: how likely a switch is there */
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

static bool odds(unsigned of_256)
{
    return draw() % 256 < of_256;
}

static uint64_t quantum(void)
{
    unsigned bits = LEAST_BITS + (unsigned)(draw() % (MOST_BITS - LEAST_BITS + 1));
    return 1 + draw() % (1ull << bits);
}

static bool is_over(struct thread *t, bool spins)
{
    (void)spins;
    if (!odds(TICK))
        return false;
    if (t->step || !odds(STEPS))
        return true;
    schedule_end_in(t, (uint8_t)(1 + draw() % MOST_STEPS));
    return false;
}

static bool at_call(struct thread *t)
{
    (void)t;
    return odds(CALL);
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

static struct thread *choose(struct thread *queue)
{
    if (!until_change--) {
        mood = draw();
        until_change = (unsigned)(draw() % MOOD_CHANGES);
    }
    return mood & 1 ? by_rank(queue) : by_lot(queue);
}

const struct schedule chaos_schedule = {.name = "chaos",
                                        .choose = choose,
                                        .quantum = quantum,
                                        .is_over = is_over,
                                        .at_call = at_call,
                                        .exact = true};
