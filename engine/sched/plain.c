/* plain.c - turns of a millisecond, first come, first served.
 *
 * SPDX-License-Identifier: MIT
 *
 * A turn ends earlier if the thread only waits for others, as long as the log has room for that.
 *
 * Turns of a millisecond hide bugs: what takes two processors a few instructions at the same time
 * would need a turn that ends right there. So a recording has bursts of short turns, half of which
 * end between two ticks: one when a thread is new, others as often as they cost 2 % of the time.
 */
#include "base/hash.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

/* Ticks take longer when every one of them comes to the runtime. */
enum { QUANTUM_TICKS = 20000, QUANTUM_UNLINKED = 500, SLICE_CYCLES = 2500000 };

/* A burst has so many turns of so many ticks, and steps, at most. A turn costs about so many
 * cycles, and bursts of new threads may use as many beforehand as DEBT_TURNS. */
enum { BURST_TURNS = 96, BURST_TICKS = 64, BURST_STEPS = 12, TURN_CYCLES = 30000 };
enum { SHARE = 50, DEBT_TURNS = 16 * BURST_TURNS };

static struct {
    uint64_t lot;
    uint32_t left;    /* turns of the burst under way */
    uint32_t threads; /* made when the last burst began */
    uint64_t turns;   /* of all bursts */
} burst;

static uint64_t draw(void)
{
    burst.lot = hash_fold(burst.lot ^ burst.lot >> 29, __builtin_ia32_rdtsc());
    return burst.lot >> 32;
}

/* Begins one if it is time for it. */
static bool in_burst(void)
{
    if (burst.left)
        return true;
    if (!session || engine.thread_count < 2)
        return false;
    const uint64_t earned = (__builtin_ia32_rdtsc() - engine.start_tsc) / SHARE / TURN_CYCLES;
    const bool is_new = burst.threads != engine.threads_made;
    if (burst.turns + BURST_TURNS > earned + (is_new ? DEBT_TURNS : 0))
        return false;
    burst.threads = engine.threads_made;
    burst.left = BURST_TURNS;
    return true;
}

static struct thread *choose(struct thread *queue)
{
    while (queue && spin_rests(queue))
        queue = queue->baton_next;
    return queue;
}

static uint64_t quantum(void)
{
    if (in_burst())
        return 1 + draw() % BURST_TICKS;
    return engine.opt.link ? QUANTUM_TICKS : QUANTUM_UNLINKED;
}

/* The short turn of a burst is over, or will be in a few instructions. */
static bool ends_short(struct thread *t)
{
    if (!burst.left || t->step)
        return false;
    burst.left--;
    burst.turns++;
    if (draw() % 2)
        return true;
    schedule_end_in(t, (uint8_t)(1 + draw() % BURST_STEPS));
    return false;
}

static bool is_over(struct thread *t, bool spins)
{
    uint64_t turn = __builtin_ia32_rdtsc() - t->baton_since;
    return turn >= SLICE_CYCLES || (spins && baton_may_switch(turn)) || ends_short(t);
}

const struct schedule plain_schedule = {
    .name = "plain", .choose = choose, .quantum = quantum, .is_over = is_over, .spins = true};
