/* plain.c - turns of a millisecond, first come, first served.
 *
 * SPDX-License-Identifier: MIT
 *
 * A turn ends earlier if the thread only waits for others, as long as the log has room for that.
 */
#include "engine/core/engine.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

/* Ticks take longer when every one of them comes to the runtime. */
enum { QUANTUM_TICKS = 20000, QUANTUM_UNLINKED = 500, SLICE_CYCLES = 2500000 };

static struct thread *choose(struct thread *queue)
{
    while (queue && spin_rests(queue))
        queue = queue->baton_next;
    return queue;
}

static uint64_t quantum(void)
{
    return engine.opt.link ? QUANTUM_TICKS : QUANTUM_UNLINKED;
}

static bool is_over(struct thread *t, bool spins)
{
    uint64_t turn = __builtin_ia32_rdtsc() - t->baton_since;
    return turn >= SLICE_CYCLES || (spins && baton_may_switch(turn));
}

const struct schedule plain_schedule = {
    .name = "plain", .choose = choose, .quantum = quantum, .is_over = is_over, .spins = true};
