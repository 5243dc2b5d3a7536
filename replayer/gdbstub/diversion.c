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
 * 2. It writes registers and memory below the stack pointer. The first such write makes the copy,
 *    and the state is the copy's from then on. Other memory is never written to prepare a call.
 * 3. It resumes. If nothing was pushed, this is no call: the copy is dropped, and the recording
 *    moves.
 * 4. The call over, it writes the siginfo back. From here on the state is the recording's again.
 * 5. It writes back the registers that have changed. To the recording this changes nothing, and is
 *    accepted for that reason.
 *
 * A string argument makes two calls: between steps 1 and 2 of the one, GDB calls malloc (another 1
 * to 5) and writes the string to what that returned. So after step 4 the copy is only put aside: a
 * write to the block that the last call returned still goes there, and the next call is made there,
 * with the recording's registers. Any move of the recording ends it.
 */
#include <string.h>

#include "replayer/gdbstub/server_private.h"

enum { STACK_MAX_BYTES = 8 << 20, BLOCK_MAX_BYTES = 16 << 20 };

static const char refusal[] =
    "a recording cannot be changed; functions can be called, in a throw-away copy";

static bool is_active(const struct server *s)
{
    return s->diversion.exists && timeline_diverted(s->timeline);
}

void diversion_arm(struct server *s)
{
    s->diversion.depth++;
}

void diversion_disarm(struct server *s)
{
    if (!s->diversion.exists)
        s->diversion.depth = 0;
}

void diversion_release(struct server *s)
{
    struct diversion *d = &s->diversion;

    if (d->depth)
        d->depth--;
    if (is_active(s))
        timeline_divert_park(s->timeline);
}

void diversion_drop(struct server *s)
{
    if (s->diversion.exists)
        timeline_divert_end(s->timeline);
    memset(&s->diversion, 0, sizeof s->diversion);
}

bool diversion_calls(struct server *s)
{
    return is_active(s) && s->diversion.pushed && !s->diversion.lost;
}

bool diversion_holds(const struct server *s, uint64_t addr, size_t bytes)
{
    const struct diversion *d = &s->diversion;

    return d->exists && !is_active(s) && bytes && addr >= d->written &&
           addr - d->written < d->written_bytes && bytes <= d->written_bytes - (addr - d->written);
}

/* Makes the copy, or takes it up again with the recording's registers. */
static int enter(struct server *s, uint32_t thread, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers regs;

    if (!d->exists) {
        if (timeline_divert(s->timeline, err))
            return -1;
        d->exists = true;
    } else {
        if (state_registers(s, thread, &regs, err))
            return -1;
        timeline_divert_unpark(s->timeline);
        if (timeline_set_registers(s->timeline, thread, &regs.r, err)) {
            timeline_divert_park(s->timeline);
            return -1;
        }
    }
    d->thread = thread;
    d->pushed = d->lost = false;
    return 0;
}

static int write_copy(struct server *s, uint64_t addr, const void *bytes, size_t n, struct err *err)
{
    if (timeline_write(s->timeline, addr, bytes, n) != n)
        return err_set(err, "memory at 0x%llx cannot be written", (unsigned long long)addr);
    return 0;
}

/* Where GDB pushes arguments and the return address. */
static bool is_below_stack(struct server *s, uint64_t addr, size_t n, uint32_t *thread)
{
    struct registers regs;
    struct err err;

    if (state_registers(s, s->general, &regs, &err))
        return false;
    uint64_t rsp = regs.r.gpr[4];
    *thread = regs.r.thread;
    return addr < rsp && rsp - addr <= STACK_MAX_BYTES && n <= rsp - addr;
}

/* What the last call returned, if that was memory of the size it was asked for. */
static bool is_in_block(const struct diversion *d, uint64_t addr, size_t n)
{
    return d->exists && addr >= d->block && addr - d->block < d->block_bytes &&
           n <= d->block_bytes - (addr - d->block);
}

static int write_block(struct server *s, uint64_t addr, const void *bytes, size_t n,
                       struct err *err)
{
    struct diversion *d = &s->diversion;

    timeline_divert_unpark(s->timeline);
    int bad = write_copy(s, addr, bytes, n, err);
    timeline_divert_park(s->timeline);
    if (!bad) {
        d->written = addr;
        d->written_bytes = n;
    }
    return bad;
}

int diversion_write(struct server *s, uint64_t addr, const void *bytes, size_t n, struct err *err)
{
    struct diversion *d = &s->diversion;
    uint32_t thread;

    if (n == 0)
        return 0; /* GDB tries whether the packet is known */
    if (!is_active(s)) {
        if (is_in_block(d, addr, n))
            return write_block(s, addr, bytes, n, err);
        if (!d->depth || !is_below_stack(s, addr, n, &thread)) {
            diversion_drop(s);
            return err_set(err, "%s", refusal);
        }
        if (enter(s, thread, err))
            return -1;
    } else if (!d->pushed && !is_below_stack(s, addr, n, &thread)) {
        diversion_drop(s); /* it was not to be a call, when a register was written */
        return err_set(err, "%s", refusal);
    }
    d->pushed = true;
    return write_copy(s, addr, bytes, n, err);
}

static bool is_same(const struct registers *a, const struct registers *b)
{
    uint8_t x[REG_MAX_BYTES], y[REG_MAX_BYTES];

    for (int i = 0; i < registers_count(&a->layout); i++) {
        if (i == REG_ORIG_RAX)
            continue; /* not the thread's: GDB clears it when it sets the pc */
        registers_get(a, i, x);
        registers_get(b, i, y);
        if (memcmp(x, y, registers_bytes(i)) != 0)
            return false;
    }
    return true;
}

int diversion_set(struct server *s, uint32_t thread, const struct registers *want, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers now;

    if (state_registers(s, thread, &now, err))
        return -1;
    if (is_same(&now, want))
        return 0;
    if (!is_active(s)) {
        if (!d->depth)
            return err_set(err, "%s", refusal);
        if (enter(s, thread, err))
            return -1;
    }
    return timeline_set_registers(s->timeline, thread, &want->r, err);
}

/* Notes the block, if what was called is malloc. */
static void note_result(struct server *s, const struct registers *regs)
{
    struct diversion *d = &s->diversion;
    bool sane = d->argument && d->argument <= BLOCK_MAX_BYTES && regs->r.gpr[0];

    d->block = sane ? regs->r.gpr[0] : 0;
    d->block_bytes = sane ? d->argument : 0;
    d->written_bytes = 0;
}

int diversion_run(struct server *s, bool step, struct err *err)
{
    struct diversion *d = &s->diversion;
    struct registers regs;

    if (state_registers(s, d->thread, &regs, err))
        return -1;
    if (!step)
        d->argument = regs.r.gpr[7];
    if (timeline_divert_run(s->timeline, d->thread, step, &d->stop, err))
        return -1;
    if (d->stop.why == TIMELINE_END || d->stop.why == TIMELINE_EXEC)
        return err_set(err, "the function has ended the throw-away copy");
    d->lost = d->stop.why == TIMELINE_SIGNAL;
    if (state_registers(s, d->thread, &regs, err) == 0)
        note_result(s, &regs);
    d->stop.at.thread = d->thread;
    return 0;
}
