/* forks.c - child processes: GDB's `catch fork` and `catch vfork`.
 *
 * SPDX-License-Identifier: MIT
 *
 * A child process is not in the recording; the call that made it is. So when that call has returned
 * GDB is told of the fork, as a stub of a running program would do, and lets the child go
 * (`D;PID`). Before that it takes its breakpoints out of the child (`Hg` with the child's id,
 * `z0`): what is said of another process than the recorded one changes nothing
 * (forks_answer).
 *
 * GDB does not say whether somebody wants to know of forks. The commands inside GDB do
 * (qDrdebug,forks), since each of them would be a stop. Single steps back are not stopped by them.
 *
 * One moment may have several things to tell, one after the other: the fork, the end of a vfork
 * (GDB waits for it, and the child had ended or become another program when the call returned), the
 * return of a call that is caught, too, or the end of a step. They are the `rest`.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"
#include "debug/gdbstub/signals.h"
#include "engine/os/kinds.h"

_Static_assert((int)KINDS_CALLS <= (int)STOP_MAX_CALLS, "a bit for every call");

static bool may_fork(long call)
{
    const enum call_does does = kinds_of(call).does;
    return does == DOES_CLONES || does == DOES_CLONES_BY || does == DOES_FORKS ||
           does == DOES_VFORKS;
}

static bool can_be_told(const struct server *s)
{
    return s->forks.wanted && s->fork_events && s->vfork_events && s->multiprocess;
}

void forks_begin_session(struct server *s)
{
    s->forks = (struct forks){.wanted = true};
}

void forks_seek(struct server *s, bool step, bool back, uint32_t thread)
{
    s->forks.sought = can_be_told(s) && !(step && back);
    s->forks.step = step ? thread : 0;
}

void forks_put(const struct server *s, struct debuggee_stops *stops)
{
    if (!s->forks.sought)
        return;
    stops->calls = true;
    for (long call = 0; call < KINDS_CALLS; call++)
        if (may_fork(call))
            stops->call_wanted[call / 8] |= (uint8_t)(1 << call % 8);
}

static bool is_call(const struct debuggee_stop *stop)
{
    return (stop->why == STOP_CALL_ENTRY || stop->why == STOP_CALL_RETURN) && may_fork(stop->call);
}

/* By `catch syscall`. */
static bool is_caught(const struct server *s, long call)
{
    const struct breakpoints *all = &s->breakpoints;

    return all->calls && all->call_wanted[call / 8] & 1 << call % 8;
}

/* What the call was to make: its flags are in a register, or in memory at one. */
static uint64_t flags_of(struct server *s, const struct debuggee_stop *stop,
                         const struct registers *regs)
{
    const enum call_does does = kinds_of(stop->call).does;
    uint64_t flags = 0;

    if (does == DOES_CLONES)
        return regs->r.gpr[7];
    if (does == DOES_CLONES_BY)
        state_word(s, regs->r.gpr[7], &flags);
    return does == DOES_VFORKS ? CLONE_VFORK : flags;
}

/* Its pid, or 0 if the call has made none: it has failed, or made a thread. */
static int32_t child_of(struct server *s, const struct debuggee_stop *stop, bool *vfork)
{
    struct registers regs;
    struct err err;

    if (!is_call(stop) || stop->why != STOP_CALL_RETURN ||
        state_registers(s, stop->at.thread, &regs, &err))
        return 0;
    const int64_t result = (int64_t)regs.r.gpr[0];
    const uint64_t flags = flags_of(s, stop, &regs);
    *vfork = flags & CLONE_VFORK;
    return result > 0 && result <= INT32_MAX && !(flags & CLONE_THREAD) ? (int32_t)result : 0;
}

bool forks_passes(struct server *s, const struct debuggee_stop *stop)
{
    bool vfork;

    return s->forks.sought && is_call(stop) && !is_caught(s, stop->call) &&
           !child_of(s, stop, &vfork);
}

bool forks_report(struct server *s, const struct debuggee_stop *stop)
{
    struct forks *f = &s->forks;
    char reason[64];
    bool vfork = false;
    const bool real = can_be_told(s) && !debuggee_diverted(&s->debuggee);
    const int32_t child = real ? child_of(s, stop, &vfork) : 0;

    if (!child)
        return false;
    f->done_due = vfork;
    f->rest = *stop;
    if (!is_caught(s, stop->call))
        f->rest.why = f->step == stop->at.thread ? STOP_STEP : STOP_POSITION;
    f->rest_due = f->rest.why != STOP_POSITION;
    snprintf(reason, sizeof reason, "%s:p%" PRIx32 ".%" PRIx32 ";", vfork ? "vfork" : "fork",
             (uint32_t)child, (uint32_t)child);
    stops_report_as(s, SIGNALS_TRAP, reason, stop->at.thread);
    return true;
}

bool forks_report_rest(struct server *s)
{
    struct forks *f = &s->forks;
    const bool due = f->rest_due;

    if (f->done_due) {
        f->done_due = false;
        stops_report_as(s, SIGNALS_TRAP, "vforkdone:;", f->rest.at.thread);
        return true;
    }
    f->rest_due = false;
    if (!due || (f->rest.why == STOP_STEP && f->step != f->rest.at.thread))
        return false;
    stops_report_plainly(s, &f->rest);
    return true;
}

void forks_end_step(struct server *s)
{
    if (s->forks.rest.why == STOP_STEP)
        s->forks.rest_due = false;
}

void forks_drop_rest(struct server *s)
{
    s->forks.done_due = s->forks.rest_due = false;
}

void forks_select(struct server *s, const struct args *id)
{
    struct args args = *id;
    int64_t thread;

    s->forks.elsewhere = !threads_parse(s, &args, &thread);
}

bool forks_is_other(struct server *s, struct args *pid)
{
    uint64_t number;

    args_take(pid, ';');
    return args_hex(pid, &number) && number != (uint64_t)threads_pid(s);
}

bool forks_answer(struct server *s, char packet)
{
    if (!s->forks.elsewhere || !strchr("gGpPmMXzZ", packet))
        return false;
    if (packet == 'z')
        server_ok(s);
    else
        server_refuse(s);
    return true;
}
