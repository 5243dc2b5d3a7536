/* schedule.c - the strategies, and which one is in force. SPDX-License-Identifier: MIT */
#include "engine/sched/schedule.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/rt/rt.h"
#include "engine/x86/accesses.h"

static const struct schedule *const rows[] = {
#define SCHEDULE(name) &name##_schedule,
#include "engine/sched/schedules.def"
#undef SCHEDULE
};

const struct schedule *schedule = &plain_schedule;

static bool is_key(const char *option, const char *name)
{
    for (; *name; name++)
        if (*option++ != *name)
            return false;
    return *option == '=';
}

bool schedule_use(const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is_key(option, rows[i]->name)) {
            schedule = rows[i];
            return true;
        }
    return false;
}

/* ---- accesses ---- */

static unsigned accesses(const struct insn *in, bool first)
{
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    (void)first;
    if (in->kind == INSN_ILLEGAL || in->kind == INSN_SYSCALL || !schedule->at_access)
        return 0;
    if (schedule->looks_at && !schedule->looks_at(in))
        return 0;
    insn_operands(in, &ops);
    return accesses_of(in, &ops, list) ? PROBE_MEMORY : 0;
}

/* The thread is taken off when the probe is over: others may have this block's room used anew. Not
 * before its first tick: no record has a position there. */
static void probe(struct thread *t, const struct probe *p)
{
    bool may = engine.thread_count > 1 && thread_count(t) > 0 && !t->steps;
    if (may && schedule->at_access && schedule->at_access(t, p))
        schedule_end_in(t, 1);
}

void schedule_start(void)
{
    static const struct instrument tool = {.select = accesses, .probe = probe},
                                   few = {.select = accesses, .probe = probe, .sparse = true};
    if (schedule->start)
        schedule->start();
    if (schedule->at_access && !instrument_add(schedule->looks_at ? &few : &tool))
        rt_die("engine: too many tools beside the strategy %s", schedule->name);
}

void schedule_forked(void)
{
    if (schedule->controlled)
        schedule = &plain_schedule;
}
