/* dispatch.c - what happens when translated code comes to the runtime.
 *
 * SPDX-License-Identifier: MIT
 *
 * engine_dispatch() is called by entry.S with the target's registers in t->cpu, does what the exit
 * asks for, and returns the cache address to go on at. The thread holds the baton on the way in and
 * on the way out; it may have given it away in between.
 *
 * A thread in step mode runs one instruction at a time from transient blocks and takes its ticks
 * here, so that every instruction boundary passes through step_check().
 */
#include "engine/core/cache.h"
#include "engine/core/engine.h"
#include "engine/core/hot.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/translate.h"
#include "engine/os/emulate.h"
#include "engine/os/maps.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "engine/sched/schedule.h"
#include "engine/sched/spin.h"

struct engine engine;

static struct {
    struct thread *thread;
    uint64_t count;
    gaddr pc;
    uint64_t asked; /* times that one was asked for */
} stop;

static uint64_t canary_area[16]; /* libZydis reads its stack canary at fs:0x28 */

void engine_decoder_enter(void)
{
    struct thread *t = thread_self();
    engine_save_xmm();
    if (engine.wrfsbase) {
        __asm__ volatile("rdfsbase %0" : "=r"(t->fs_saved));
        __asm__ volatile("wrfsbase %0" : : "r"(canary_area));
        return;
    }
    sys2(__NR_arch_prctl, 0x1003, (long)&t->fs_saved);
    sys2(__NR_arch_prctl, 0x1002, (long)canary_area);
}

void engine_decoder_leave(void)
{
    struct thread *t = thread_self();
    if (engine.wrfsbase)
        __asm__ volatile("wrfsbase %0" : : "r"(t->fs_saved));
    else
        sys2(__NR_arch_prctl, 0x1002, (long)t->fs_saved);
    engine_load_xmm();
}

struct segments engine_segments(struct thread *t)
{
    struct segments seg = {.gs = t->gs_base};
    if (engine.wrfsbase)
        __asm__ volatile("rdfsbase %0" : "=r"(seg.fs));
    else
        sys2(__NR_arch_prctl, 0x1003, (long)&seg.fs);
    return seg;
}

/* ---- blocks ---- */

enum { BLOCK_BARE = 1, BLOCK_ONE = 2 };

static struct block *try_block(struct thread *t, unsigned how, gaddr *fault)
{
    *fault = t->cpu.rip;
    const struct region *r = maps_exec(t->cpu.rip);
    struct translate_options opt = {.one = how & BLOCK_ONE,
                                    .bare = how & BLOCK_BARE,
                                    .exact_flags = engine.opt.exact_flags,
                                    .region = r ? r->start : t->cpu.rip};
    uint64_t start = __builtin_ia32_rdtsc();
    struct block *b = r ? translate(t->cpu.rip, &maps_source, &opt, fault) : NULL;
    cache_stats.translate_tsc += __builtin_ia32_rdtsc() - start;
    return b;
}

static struct block *make_step(struct thread *t)
{
    gaddr fault;
    struct block *b = try_block(t, BLOCK_ONE | BLOCK_BARE, &fault);
    if (!b)
        signals_fetch_fault(t, fault);
    return b;
}

static void make_superblock(const struct path *path)
{
    enum { LONG_CYCLES = 500000 }; /* longer, and the processor was somebody else's */
    const struct region *r = maps_exec(path->pc[0]);
    struct block *head = r ? hot_head(path) : NULL;
    if (!head)
        return;
    struct translate_options opt = {.exact_flags = engine.opt.exact_flags, .region = r->start};
    uint64_t start = __builtin_ia32_rdtsc();
    superblock_make(head, path, &maps_source, &opt);
    uint64_t took = __builtin_ia32_rdtsc() - start;
    cache_stats.superblock_tsc += took < LONG_CYCLES ? took : LONG_CYCLES;
}

static const uint8_t *step(struct thread *t)
{
    struct block *b;
    while (!(b = make_step(t)))
        ;
    return b->host + b->plain_off;
}

/* ---- positions ---- */

/* Does somebody want the thread at an exact count? */
static bool wants_exact(const struct thread *t)
{
    return (session && session->budget) || stop.thread == t || engine.opt.sample || schedule->exact;
}

/* Sets the budget: until the next switch, sample or asked-for position, whichever is first. In
 * superblocks the budget is looked at late; so the last stretch before an exact stop is run in
 * plain blocks and comes here at every tick. */
static void set_budget(struct thread *t)
{
    uint64_t now = thread_count(t);
    uint64_t n = session && session->budget ? session->budget(t) : schedule->quantum();
    uint64_t to_look = spin_budget(t);
    n = to_look < n ? to_look : n;
    if (engine.opt.sample) {
        uint64_t to_sample = engine.opt.sample - now % engine.opt.sample;
        n = to_sample < n ? to_sample : n;
    }
    if (stop.thread == t && stop.count > now && stop.count - now < n)
        n = stop.count - now;
    if (wants_exact(t))
        n = n > SUPERBLOCK_TICKS + 1 ? n - SUPERBLOCK_TICKS - 1 : 1;
    t->spin.soon = to_look < hot_period();
    if (hot_period() < n)
        n = hot_period();
    if (engine.opt.whole_ticks || hot_follows(t))
        n = 1;
    t->plain = n == 1;
    thread_expire_in(t, n - 1);
}

void engine_stop_at(struct thread *t, uint64_t count, gaddr pc)
{
    stop.asked++;
    stop.thread = t;
    stop.count = count;
    stop.pc = pc;
    if (t != thread_self()) /* others get theirs when their turn comes */
        return;
    set_budget(t);
    if (count == thread_count(t)) /* it may be asked for at the position before, in check_stop() */
        t->step |= STEP_POSITION;
}

static void check_stop(struct thread *t)
{
    if (stop.thread != t)
        return;
    uint64_t now = thread_count(t);
    bool near = now == stop.count;
    t->step = (uint8_t)(near ? t->step | STEP_POSITION : t->step & ~STEP_POSITION);
    if (now < stop.count || (near && stop.pc && t->cpu.rip != stop.pc))
        return;
    stop.thread = NULL;
    t->step &= (uint8_t)~STEP_POSITION;
    if (near && instrument && instrument->position)
        instrument->position(t);
}

static void check_step(struct thread *t)
{
    if ((t->step & STEP_TOOL) && instrument && instrument->step)
        instrument->step(t);
}

/* The target's own trap flag: SIGTRAP after each instruction. */
static void check_trap(struct thread *t)
{
    if (t->trap_armed) { /* it was set when the instruction began */
        t->trap_armed = false;
        signals_single_step(t);
    }
    t->trap_armed = t->trap;
}

static void sample(struct thread *t)
{
    uint64_t h = 14695981039346656037ull;
    for (int i = 0; i < GPR_COUNT; i++)
        h = (h ^ t->cpu.gpr[i]) * 1099511628211ull;
    rt_say("sample: thread=%u count=%lu pc=%lx regs=%lx", t->number, thread_count(t), t->cpu.rip,
           h);
}

/* A tick expired: the target is at t->cpu.rip and the tick is counted. */
static void expired(struct thread *t)
{
    if (engine.opt.sample && thread_count(t) % engine.opt.sample == 0)
        sample(t);
    if (session)
        session->tick(t);
    if (t->pending) {
        t->at_tick = true;
        signals_deliver_pending(t);
        t->at_tick = false;
    }
    baton_yield_if_due(t);
    set_budget(t);
}

/* A replay looks at every entry of the runtime whether this is a position it waits for, and how far
 * the next one is. */
static void replay_position(struct thread *t)
{
    if (session->due(t))
        expired(t);
    else
        set_budget(t);
    if (session->pause)
        session->pause(t);
}

/* The budget is used up, at a tick. */
static void budget_ends(struct thread *t)
{
    if (!t->spin.soon)
        hot_sample(t);
    if (session && session->due)
        replay_position(t);
    else
        expired(t);
}

/* Only at a tick, which is not remembered: superblocks overdraw the budget without coming here, and
 * the next time may be between two ticks. */
static bool tick_ends_budget(struct thread *t, bool at_tick)
{
    bool ends = at_tick && t->left < 0;
    if (ends)
        budget_ends(t);
    t->ticked = false;
    return ends;
}

/* A turn that ends between two ticks. */
static void schedule_step(struct thread *t)
{
    if (!t->steps || --t->steps)
        return;
    t->step &= (uint8_t)~STEP_SCHEDULE;
    t->between = true;
    baton_yield(t);
    t->between = false;
}

/* ---- going on ---- */

/* The thread goes on at its pc; a tick of the way there is not counted yet. `from` is a direct exit
 * that led there. */
static const uint8_t *resume(struct thread *t, bool tick, struct exit_site *from)
{
    uint64_t generation = cache_generation;
    bool at_tick = t->ticked |= tick; /* whoever looks at the thread meanwhile sees it, too */
    t->left -= tick;
    if (!tick_ends_budget(t, at_tick) && !tick && session && session->due)
        replay_position(t);
    if (stop.thread == t || t->step || t->trap || t->trap_armed) {
        check_stop(t);
        check_step(t);
        check_trap(t);
        tick_ends_budget(t, t->ticked);
        schedule_step(t);
        if ((t->step & STEP_SPIN) && spin_step(t, at_tick))
            set_budget(t);
        if (t->step || t->trap) {
            hot_forget(t);
            return step(t);
        }
    }
    gaddr fault;
    struct block *b = cache_find(t->cpu.rip);
    if (b && b->bare && at_tick) { /* few blocks are reached both ways, most without a tick */
        cache_kill(b);
        b = NULL;
    }
    if (!b && !(b = try_block(t, at_tick ? 0 : BLOCK_BARE, &fault))) {
        signals_fetch_fault(t, fault);
        return resume(t, false, NULL);
    }
    if (hot_follows(t)) {
        const struct path *path = hot_enter(t, b);
        if (!path)
            return cache_entry(b, false);
        make_superblock(path);
        set_budget(t);
        return resume(t, false, NULL); /* b may have gone to make room */
    }
    if (from && engine.opt.link && generation == cache_generation && b->pc == from->target)
        cache_link(from, b);
    /* Without a tick the budget is not looked at: when it is overdrawn no superblock may add to
     * that. */
    return cache_entry(b, !t->plain && t->left >= 0);
}

static bool canonical(gaddr pc)
{
    return (int64_t)(pc << 16) >> 16 == (int64_t)pc;
}

static bool push_return(struct thread *t, gaddr ret)
{
    gaddr sp = t->cpu.gpr[RSP] - 8;
    if (!engine_write(sp, &ret, 8) && !(maps_write_fault(sp) && engine_write(sp, &ret, 8)))
        return false;
    t->cpu.gpr[RSP] = sp;
    return true;
}

static const uint8_t *resume_indirect(struct thread *t, const struct exit_site *s)
{
    gaddr sp = t->cpu.gpr[RSP];
    if (!canonical(t->cpu.rip)) { /* the transfer itself faults */
        t->cpu.rip = s->pc;
        t->cpu.gpr[RSP] = sp - s->popped;
        signals_protection_fault(t);
        return resume(t, false, NULL);
    }
    if (s->insn == INSN_CALL_IND) {
        bool nowhere = !canonical(sp - 8) || !canonical(sp - 1);
        bool misaligned = (t->cpu.rflags & FLAG_AC) && (sp & 7);
        if (nowhere || misaligned || !push_return(t, s->target)) {
            t->cpu.rip = s->pc;
            if (nowhere)
                signals_stack_fault(t);
            else if (misaligned)
                signals_misaligned(t);
            else
                signals_bad_access(t, sp - 8, true);
            return resume(t, false, NULL);
        }
    }
    gaddr want = t->cpu.rip;
    const uint8_t *host = resume(t, true, NULL);
    struct block *b = engine.opt.link ? cache_find(want) : NULL;
    if (b && !b->bare && !t->step && !t->trap && stop.thread != t) {
        struct lookup_entry *e = cache_lookup(want);
        e->pc = want;
        e->host = (b->superblock ? b->superblock : b)->host;
    }
    return host;
}

/* Takes a copy of the site: while the call waited, other threads may have had its block recycled.
 */
static void probe_after(struct thread *t, struct exit_site s)
{
    if (!s.probe || t->cpu.rip != s.target)
        return;
    struct exit_site after = {.pc = s.target, .probe = s.probe};
    instrument_run(t, &after);
}

const uint8_t *engine_dispatch(struct thread *t, int64_t exit)
{
    struct exit_site *s = (struct exit_site *)(engine.base + (gaddr)exit);
    enum exit_kind kind = s->kind;
    if (kind == EXIT_DIRECT) {
        t->cpu.rip = s->target;
        return resume(t, s->tick, s);
    }
    if (kind == EXIT_INDIRECT)
        return resume_indirect(t, s);
    if (kind == EXIT_RESUME) {
        set_budget(t);
        return resume(t, false, NULL);
    }
    const struct exit_site site = *s;
    t->cpu.rip = s->pc;
    if (kind != EXIT_EXPIRED)
        hot_forget(t);
    switch (kind) {
    case EXIT_EXPIRED:
        t->ticked = true;
        break;
    case EXIT_SYSCALL:
        syscalls_run(t, site.target);
        probe_after(t, site);
        break;
    case EXIT_EMULATE:
        emulate(t);
        probe_after(t, site);
        break;
    case EXIT_UNSUPPORTED:
        emulate_unsupported(t);
        break;
    case EXIT_ILLEGAL:
        signals_illegal(t);
        break;
    case EXIT_TOO_LONG:
        signals_protection_fault(t);
        break;
    case EXIT_STALE:
        cache_kill(s->block);
        break;
    case EXIT_PROBE: {
        unsigned probes = instrument_any(s->probe);
        if (!(probes & ~instrument_heard(t, s->pc)))
            return s->patch;
        uint64_t asked = stop.asked;
        uint8_t steps = t->step; /* if it stays so, the block is this instruction alone */
        instrument_hear(t, s->pc, probes);
        instrument_run(t, s);
        if (t->cpu.rip != site.pc)
            break;
        if (t->step == steps && stop.asked == asked)
            return site.patch; /* still there, even if the tool dropped the block */
        if (instrument && instrument->cut && site.probe != instrument->flow)
            instrument->cut(t); /* the block has said that it is executed, and says so again */
        break;
    }
    default:
        rt_die("internal error: exit kind %d", kind);
    }
    return resume(t, false, NULL);
}

bool (*engine_grow)(gaddr addr);
void (*engine_wrote)(gaddr addr, uint64_t bytes);

const uint8_t *engine_dispatch_fault(struct thread *t)
{
    hot_forget(t);
    if (instrument && instrument->cut && !t->step_once)
        instrument->cut(t);
    if (t->step_once) { /* a misaligned look at code: go on without looking */
        t->step_once = false;
        return step(t);
    }
    bool segv = t->fault.info.sig == 11, write = segv && (t->fault.error & 2);
    if ((write && maps_write_fault(t->fault.cr2)) ||
        (segv && engine_grow && engine_grow(t->fault.cr2)))
        instrument_hear(t, t->cpu.rip, 0xff); /* the access starts anew */
    else
        signals_deliver_fault(t);
    return resume(t, false, NULL);
}

static struct exit_site resume_site = {.kind = EXIT_RESUME};

void engine_run(struct thread *t)
{
    t->exit = (int64_t)((gaddr)&resume_site - engine.base);
    __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tjmp engine_start"
                     :
                     : "r"(t->host_sp)
                     : "memory");
    __builtin_unreachable();
}
