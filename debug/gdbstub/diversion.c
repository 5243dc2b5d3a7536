/* diversion.c - functions that GDB calls, in a throw-away copy.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recording cannot be changed, but `print f(x)` writes registers and the stack, resumes, and
 * writes the registers back. GDB does not announce this. What it does (infcall.c, infrun.c of GDB
 * 13), and what follows:
 *
 * 1. It saves the thread's state, and for that reads its siginfo. A user may ask for $_siginfo, and
 *    GDB itself does at a SIGSEGV, so this only says that a call is possible (depth). A core file
 *    has all threads' siginfo: that it was one is seen when the list of mappings is read.
 * 2. It writes memory below the stack pointer, an instruction for the function to return to, and
 * then registers and more of the stack. That first write makes the copy, and the state is the
 * copy's from then on. Other memory is never written to prepare a call, and no register before.
 * 3. It resumes. If another thread is at a breakpoint, it is to be stepped off it first: in the
 * copy nothing but the function runs, so GDB is only told so (resume.c).
 * 4. The call over, it writes the siginfo back. From here on registers are the recording's again,
 *    but memory is what the call has left: what it returned may be there.
 * 5. It writes back the registers that have changed. To the recording this changes nothing, and is
 *    accepted for that reason.
 *
 * The next call begins with a copy of its own, and so with the recording's memory. But calls of one
 * expression belong together. A string argument makes two: between steps 1 and 2 of the one, GDB
 * calls malloc (another 1 to 5) and writes the string to what that returned. And in f(g(x)) the one
 * gets what the other one returned. So a call goes on in the last one's copy if something was
 * written to the block that the last call returned, or if it gets that as an argument.
 *
 * A call that has stopped on its way (a breakpoint, a signal) is under way still, and more calls
 * can be made from there, in the same copy: each of them has its own steps 1 to 5.
 */
#include <stdlib.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

enum { STACK_MAX_BYTES = 8 << 20, BLOCK_MAX_BYTES = 16 << 20, RED_ZONE_BYTES = 128 };

static const char refusal[] =
    "a recording cannot be changed; functions can be called, in a throw-away copy";

static bool is_active(const struct server *s)
{
    return debuggee_diverted(&s->debuggee);
}

/* The bit for the state that GDB has saved last. */
static uint64_t bit_of(unsigned depth)
{
    return 1ull << depth;
}

void diversion_arm(struct server *s)
{
    struct diversion *d = &s->diversion;

    if (d->depth < DIVERSION_DEPTH)
        d->depth++;
    d->begun &= ~bit_of(d->depth);
}

void diversion_disarm(struct server *s)
{
    struct diversion *d = &s->diversion;

    if (is_active(s))
        return;
    d->depth = 0;
    d->begun = 0;
}

void diversion_release(struct server *s)
{
    struct diversion *d = &s->diversion;

    if (d->depth)
        d->depth--;
    if (d->calls)
        d->back_to = d->call[--d->calls].from;
    if (is_active(s) && !d->calls)
        debuggee_park(&s->debuggee);
}

void diversion_drop(struct server *s)
{
    debuggee_divert_end(&s->debuggee);
    memset(&s->diversion, 0, sizeof s->diversion);
}

bool diversion_is_prepared(const struct server *s)
{
    return is_active(s) && s->diversion.next.thread;
}

uint32_t diversion_thread(const struct server *s)
{
    const struct diversion *d = &s->diversion;

    return d->next.thread ? d->next.thread : d->calls ? d->call[d->calls - 1].thread : d->entered;
}

/* ---- preparing a call ---- */

/* A new copy; or the last one's, with the recording's registers. */
static int enter(struct server *s, uint32_t thread, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers regs;

    d->fresh = !d->written_bytes;
    if (d->fresh) {
        if (debuggee_divert(&s->debuggee, err))
            return -1;
    } else {
        if (state_registers(s, thread, &regs, err))
            return -1;
        debuggee_unpark(&s->debuggee);
        if (debuggee_set_registers(&s->debuggee, thread, &regs.r, err)) {
            debuggee_park(&s->debuggee);
            return -1;
        }
    }
    d->entered = thread;
    d->low = d->high = 0;
    return 0;
}

static int write_copy(struct server *s, uint64_t addr, const void *bytes, size_t n, struct err *err)
{
    if (debuggee_write(&s->debuggee, addr, bytes, n) != n)
        return err_set(err, "memory at 0x%llx cannot be written", (unsigned long long)addr);
    return 0;
}

/* Where GDB pushes arguments and the return address: below what a function may use without moving
 * the stack pointer, where variables can be. */
static bool is_below_stack(struct server *s, uint64_t addr, size_t n, uint32_t *thread)
{
    struct registers regs;
    struct err err;

    if (state_registers(s, s->general, &regs, &err))
        return false;
    uint64_t rsp = regs.r.gpr[4];
    *thread = regs.r.thread;
    return addr < rsp && rsp - addr <= STACK_MAX_BYTES && rsp - addr >= RED_ZONE_BYTES &&
           n <= rsp - addr - RED_ZONE_BYTES;
}

/* What the last call returned, if that was memory of the size it was asked for. */
static bool is_in_block(struct server *s, uint64_t addr, size_t n)
{
    const struct diversion *d = &s->diversion;

    return debuggee_parked(&s->debuggee) && addr >= d->block && addr - d->block < d->block_bytes &&
           n <= d->block_bytes - (addr - d->block);
}

static int write_block(struct server *s, uint64_t addr, const void *bytes, size_t n,
                       struct err *err)
{
    debuggee_unpark(&s->debuggee);
    int bad = write_copy(s, addr, bytes, n, err);
    debuggee_park(&s->debuggee);
    if (!bad)
        s->diversion.written_bytes = n;
    return bad;
}

int diversion_write(struct server *s, uint64_t addr, const void *bytes, size_t n, struct err *err)
{
    struct diversion *d = &s->diversion;
    uint32_t thread;

    if (n == 0)
        return 0; /* GDB tries whether the packet is known */
    if (!is_active(s)) {
        if (is_in_block(s, addr, n))
            return write_block(s, addr, bytes, n, err);
        if (!d->depth || !is_below_stack(s, addr, n, &thread))
            return err_set(err, "%s", refusal);
        if (enter(s, thread, err))
            return -1;
    }
    d->begun |= bit_of(d->depth);
    if (d->low == d->high || addr < d->low)
        d->low = addr;
    if (addr + n > d->high)
        d->high = addr + n;
    return write_copy(s, addr, bytes, n, err);
}

int diversion_set(struct server *s, uint32_t thread, const struct registers *want, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers now;

    if (state_registers(s, thread, &now, err))
        return -1;
    if (registers_same(&now, want))
        return 0;
    if (!is_active(s) && !(d->begun & bit_of(d->depth)))
        return err_set(err, "%s", refusal);
    if (!is_active(s) && enter(s, thread, err))
        return -1;
    const bool turns = now.r.rip != want->r.rip && want->r.rip != d->back_to;
    if (turns && d->depth > d->calls)
        d->next = (struct diversion_call){thread, now.r.rip};
    return debuggee_set_registers(&s->debuggee, thread, &want->r, err);
}

/* ---- running it ---- */

/* Does the call get what the last one returned, in memory of that one's copy? */
static bool gets_result(struct server *s, const struct registers *regs)
{
    static const uint8_t arguments[] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */
    const struct diversion *d = &s->diversion;
    uint8_t byte;

    if (!d->result || debuggee_read_parked(&s->debuggee, d->result, &byte, 1) != 1)
        return false;
    for (size_t i = 0; i < sizeof arguments; i++)
        if (regs->r.gpr[arguments[i]] == d->result)
            return true;
    return false;
}

/* Prepares the call again, in the last one's copy. */
static int join_last(struct server *s, const struct registers *regs, struct err *err)
{
    const struct diversion *d = &s->diversion;
    const size_t n = d->high > d->low ? (size_t)(d->high - d->low) : 0;
    uint8_t *pushed = malloc(n + 1);

    if (!pushed)
        return err_set(err, "no memory");
    bool good = n <= STACK_MAX_BYTES && state_memory(s, d->low, pushed, n) == n;
    debuggee_unpark(&s->debuggee);
    good = good && debuggee_write(&s->debuggee, d->low, pushed, n) == n;
    free(pushed);
    if (!good)
        return err_set(err, "the call's arguments cannot be written");
    return debuggee_set_registers(&s->debuggee, d->next.thread, &regs->r, err);
}

static int begin(struct server *s, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers regs;

    if (!d->next.thread)
        return 0;
    if (d->calls == DIVERSION_CALLS)
        return err_set(err, "%d functions are being called already", DIVERSION_CALLS);
    if (state_registers(s, d->next.thread, &regs, err))
        return -1;
    if (d->fresh && gets_result(s, &regs) && join_last(s, &regs, err))
        return -1;
    debuggee_park_end(&s->debuggee);
    d->call[d->calls++] = d->next;
    d->next.thread = 0;
    d->fresh = false;
    d->argument = regs.r.gpr[7];
    d->stop.why = STOP_POSITION;
    return 0;
}

/* What has been called may be malloc: notes the block. */
static void note_result(struct server *s, uint32_t thread)
{
    struct diversion *d = &s->diversion;
    struct registers regs;
    struct err err;

    if (state_registers(s, thread, &regs, &err))
        return;
    d->result = regs.r.gpr[0];
    bool sane = d->argument && d->argument <= BLOCK_MAX_BYTES && d->result;
    d->block = sane ? d->result : 0;
    d->block_bytes = sane ? d->argument : 0;
    d->written_bytes = 0;
}

int diversion_run(struct server *s, uint32_t thread, bool step, struct err *err)
{
    struct diversion *d = &s->diversion;

    if (begin(s, err))
        return -1;
    const struct debuggee_stop last = d->stop;
    if (debuggee_divert_run(&s->debuggee, thread, step, &d->stop, err))
        return -1;
    if (d->stop.why == STOP_END || d->stop.why == STOP_EXEC)
        return err_set(err, "the function has ended the throw-away copy");
    if (d->stop.why == STOP_SIGNAL && last.why == STOP_SIGNAL && last.signal == d->stop.signal &&
        last.at.pc == d->stop.at.pc && last.at.count == d->stop.at.count)
        return err_set(err, "the function cannot go on");
    note_result(s, thread);
    d->stop.at.thread = thread;
    return 0;
}
