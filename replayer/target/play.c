/* play.c - repeats an execution from its log.
 *
 * SPDX-License-Identifier: MIT
 *
 * The log is read strictly in order. The running thread goes on until it comes to a place where the
 * recorder had something to say: a system call, an instruction that delivered a value, a fault, or
 * a tick. Ticks are the only ones the program does not come to by itself, so the budget of ticks is
 * always set to the count of the next record that has one. Invariants:
 *  1. Whatever the next record is, it concerns the running thread, or it is RECORD_SWITCH.
 *  2. A thread that does not run is described completely by its struct: it can be left and entered
 *     anywhere without its host stack. A thread inside a system call still has its pc there and
 *     simply makes the call again when its turn comes; the next record then is that call's.
 *  3. Nothing is taken from the log without comparing what the record says about the thread.
 */
#include "replayer/target/play.h"

#include <linux/sched.h>

#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/os/effects.h"
#include "engine/os/emulate.h"
#include "engine/os/fpstate.h"
#include "engine/os/hostsig.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/os/signals.h"
#include "engine/os/syscalls.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "pinball/record_at.h"
#include "replayer/target/calls.h"
#include "replayer/target/commands.h"
#include "replayer/target/confine.h"
#include "replayer/target/cursor.h"
#include "replayer/target/flow.h"
#include "replayer/target/gap.h"
#include "replayer/target/journal.h"
#include "replayer/target/output.h"
#include "replayer/target/space.h"
#include "replayer/target/state.h"

#define FAR_AWAY (1ull << 40)

enum { RESTARTED = 512 }; /* ERESTARTSYS, which programs never see */

/* ---- comparing ---- */

static const char *const kind_name[RECORD_KINDS] = {
#define RECORD(name, number, type, count, text) [RECORD_##name] = (text),
#include "pinball/records.def"
#undef RECORD
};

static const char *name_of(const struct record *r)
{
    return r ? kind_name[r->kind] : "the end of the log";
}

#define NO_TICK UINT64_MAX

/* The count a record has to be dealt with at; NO_TICK: it is met in another way. */
static uint64_t tick_of(const struct record *r)
{
    return r && record_is_due(r) ? record_at(r)->count : NO_TICK;
}

/* The next record. If the log ends in the middle of things, then the recording was cut off, or is
 * growing: the replay stops, and goes on when there is more. */
static const struct record *next_of(struct thread *t)
{
    const struct record *r = cursor_peek();
    if (!r && !commands_grows())
        calls_end();
    while (!r) {
        struct mailbox_stop s = {.end = 0};
        post_stop_at(t, STOP_LOG_END, t->calling ? STAGE_ENTERED : STAGE_BEFORE, &s);
        cursor_retry();
        r = cursor_peek();
    }
    return r;
}

/* The same, but a log that was cut off has none: NULL. */
static const struct record *peek(struct thread *t)
{
    return commands_grows() ? next_of(t) : cursor_peek();
}

_Noreturn static void unexpected(struct thread *t, const struct record *r, const char *actual)
{
    r = r ? r : next_of(t);
    uint64_t count = tick_of(r);
    if (count != NO_TICK)
        post_diverged(t, "expected %s at tick %lu, pc 0x%lx, came to %s", name_of(r), count,
                      record_at(r)->pc, actual);
    post_diverged(t, "expected %s, came to %s", name_of(r), actual);
}

static void compare_hash(struct thread *t, uint64_t expected, uint64_t actual, const char *where)
{
    if (expected != actual)
        post_diverged(t, "%s: registers differ (expected hash 0x%lx, actual 0x%lx)", where,
                      expected, actual);
}

static void compare_position(struct thread *t, const struct record_at *at, const char *where)
{
    if (at->count != thread_count(t) || at->pc != t->cpu.rip)
        post_diverged(t, "%s: expected at tick %lu, pc 0x%lx", where, at->count, at->pc);
}

static void compare(struct thread *t, const struct record_at *at, const char *where)
{
    compare_position(t, at, where);
    compare_hash(t, at->hash, session_hash(t), where);
}

static void put_data(const struct record_data *d)
{
    if (d->bytes > d->r.bytes - sizeof *d)
        post_failed("event %lu: not a record", cursor_number());
    space_write(d->addr, d + 1, d->bytes);
}

/* ---- start ---- */

static void line_out(const char *line, size_t bytes)
{
    struct mailbox *box = post_box();
    memcpy(box->data, line, bytes);
    box->arg[1] = bytes;
    post_ask(TELL_MESSAGE);
}

static void dying(const char *text)
{
    post_failed("%s", text);
}

static void prepare(void)
{
    const struct range *list;
    post_serve(&commands_of_replay);
    rt_line = line_out;
    rt_dying = dying;
    range_list(&list);
    confine_unmap_others(list[0].start, list[0].end);
    confine(post_box()->box_fd);
    range_reserve(post_box()->reserved_bytes);
    range_where = cursor_grant;
}

static void set_start(struct thread *t, const struct record_start *s)
{
    if (!fpstate_restrict(s->features))
        post_failed("this CPU lacks vector registers that the recorded one had");
    memcpy(t->cpu.gpr, s->gpr, sizeof s->gpr);
    t->cpu.rip = s->rip;
    t->cpu.rflags = s->rflags;
    t->tid = s->tid;
    t->process->pid = s->pid;
    t->mask = s->mask;
    t->fs_base = s->fs_base;
    threads_become(t);
    t->altstack.flags = SS_DISABLE_;
    for (int sig = 1; sig <= SIG_MAX; sig++)
        if (s->ignored & SIG_BIT(sig))
            t->process->action[sig].handler = HANDLER_IGNORE;
    space_start(s);
    maps_vdso(s->vdso);
}

/* A record of the initial state. True: it was the last one. */
static bool begin_with(struct thread *t, const struct record *r)
{
    switch (r->kind) {
    case RECORD_IMAGE:
        t->number = engine.threads_made = ((const struct record_image *)r)->thread;
        return false;
    case RECORD_MAP:
        space_map((const struct record_map *)r);
        return false;
    case RECORD_DATA:
        put_data((const struct record_data *)r);
        return false;
    case RECORD_SIZE:
        space_object_make((const struct record_size *)r);
        return false;
    case RECORD_OBJECT:
        space_object((const struct record_object *)r);
        return false;
    case RECORD_OUTPUT:
        output_inherited((const struct record_output *)r);
        return false;
    case RECORD_START:
        set_start(t, (const struct record_start *)r);
        fpstate_reset(t);
        return true;
    case RECORD_PROCESS:
        state_take_process(t, (const struct record_process *)r);
        return false;
    case RECORD_STATE:
        return state_take_thread(t, (const struct record_state *)r);
    default:
        post_failed("the initial state holds %s", name_of(r));
    }
}

static void start(struct thread *t)
{
    threads_enter_only(t);
    signals_host_handlers();
    engine.total_ticks = post_box()->ticks;
    memcpy(output_table(), post_box()->leads_to, MAILBOX_FDS);
    for (bool last = false; !last;) {
        const struct record *r = cursor_peek();
        if (!r)
            post_failed("the recording ends before the program's first instruction");
        last = begin_with(t, r);
        cursor_next();
    }
    struct mailbox_stop s = {.end = 0};
    post_stop_for(t, STOP_BEGIN, &s);
}

/* ---- threads ---- */

void play_save(struct thread *t)
{
    t->fs_base = engine_segments(t).fs;
    fpstate_save(t, fpstate_features());
}

void play_resume(struct thread *from, struct thread *to)
{
    flow_switch(from, to);
    threads_become(to);
    fpstate_load(to, fpstate_features());
}

void play_become(struct thread *from, struct thread *to)
{
    play_save(from);
    play_resume(from, to);
}

/* The kernel thread goes on as another thread of the program. */
_Noreturn static void switch_to(struct thread *from, enum switch_why why)
{
    const struct record_switch *s = (const struct record_switch *)cursor_peek();
    struct thread *t = post_thread(s->thread);
    if (!t)
        post_diverged(from, "expected a switch to thread %u, which is not there", s->thread);
    if (why == SWITCH_CALL)
        calls_wait(from, s->thread);
    else
        journal_switch(from, s->thread, why, NULL, 0);
    cursor_next();
    play_become(from, t);
    if (!t->tid)
        threads_begin(t);
    engine_run(t);
}

static void begin(struct thread *t)
{
    const struct record_begin *b = (const struct record_begin *)next_of(t);
    if (b->r.kind != RECORD_BEGIN || b->thread != t->number)
        unexpected(t, &b->r, "the begin of a thread");
    t->tid = b->tid;
    if (threads_is_side(t))
        t->process->pid = b->pid;
    stops_new_thread(t);
    journal_event(t, EVENT_THREAD, b->tid,
                  (int64_t)((uint64_t)threads_is_side(t) << 32 | t->maker));
    cursor_next();
}

/* The struct's number must be the recorded one: it is part of positions. */
static void make_thread(struct thread *t, long nr, long *a, const struct record_thread *r)
{
    uint32_t number = r->thread;
    const enum call_does does = kinds_of(nr).does;
    cursor_next();
    play_save(t);
    if (does == DOES_CLONES)
        threads_clone(t, a);
    else if (does == DOES_CLONES_BY)
        threads_clone3(t, a);
    else
        threads_vfork(t, a);
    struct thread *c = engine.threads;
    if (c->number != number)
        post_diverged(t, "expected thread %u to be made, made %u", number, c->number);
    memcpy(c->xsave, t->xsave, fpstate_bytes());
    memcpy(c->name, t->name, sizeof c->name);
    c->maker = t->number;
    if (threads_is_side(c))
        output_child();
    t->child = c;
    flow_made(t, c);
}

/* ---- what a debugger changed ---- */

/* Those that the hash leaves out. */
static void take_flags(struct thread *t, uint64_t rflags)
{
    const uint64_t arith = FLAGS_ARITH;
    t->cpu.rflags = (t->cpu.rflags & ~arith) | (rflags & arith);
}

static void poke_registers(struct thread *t, const struct record_poke *p)
{
    const struct poke_registers *r = (const struct poke_registers *)(p + 1);
    struct thread *of = post_thread(p->thread);
    const uint64_t room = p->r.bytes - sizeof *p;
    if (!of || room < sizeof *r || p->vector_bytes > room - sizeof *r ||
        (p->vector_bytes && p->vector_bytes != fpstate_bytes()))
        post_failed("event %lu: not a record", cursor_number());
    const bool moves = of->cpu.rip != r->rip;
    memcpy(of->cpu.gpr, r->gpr, sizeof r->gpr);
    of->cpu.rip = r->rip;
    of->cpu.rflags = r->rflags;
    if (p->vector_bytes) {
        memcpy(of->xsave, r + 1, p->vector_bytes);
        if (of == t)
            fpstate_load(t, fpstate_features());
    }
    if (moves)
        thread_tick(of);
}

static void poke(struct thread *t, const struct record_poke *p)
{
    if (p->r.flags & AT_TICK)
        take_flags(t, p->rflags);
    if (p->thread) {
        poke_registers(t, p);
    } else {
        if (p->bytes > p->r.bytes - sizeof *p)
            post_failed("event %lu: not a record", cursor_number());
        space_write(p->addr, p + 1, p->bytes);
        instrument_changed(p->addr, p->addr + p->bytes);
    }
    cursor_next();
}

/* A debugger's stop, or change. False: it is something else. */
static bool passes(struct thread *t, const struct record *r)
{
    if (r->kind == RECORD_POKE)
        poke(t, (const struct record_poke *)r);
    else if (r->kind == RECORD_STOP)
        cursor_next();
    else
        return false;
    return true;
}

/* What follows the end of a thread. */
static const struct record *next_after_end(struct thread *t)
{
    const struct record *r = next_of(t);
    while (passes(t, r))
        r = next_of(t);
    return r;
}

/* ---- ticks ---- */

static bool is_killing(const struct record *r)
{
    return r && r->kind == RECORD_YIELD && (r->flags & KILLED);
}

/* A process that shares the memory ends here; the next record is a switch. */
_Noreturn static void end_killed(struct thread *t)
{
    stops_lost_thread(t);
    journal_exit(t, 0, true);
    cursor_next();
    const struct record *r = next_after_end(t);
    if (!threads_is_side(t) || r->kind != RECORD_SWITCH)
        unexpected(t, r, "the end of a process");
    if (t->detached)
        threads_unlist(t);
    switch_to(t, SWITCH_EXIT);
}

static bool due(struct thread *t)
{
    const struct record *r = cursor_peek();
    uint64_t count = tick_of(r);
    if (!r)
        return commands_grows(); /* tick() waits for more: what comes may be due here */
    return count == thread_count(t) && (record_at(r)->pc == t->cpu.rip || is_killing(r));
}

static bool between_ticks(const struct record *r)
{
    return r && (r->flags & BETWEEN) &&
           (r->kind == RECORD_YIELD || r->kind == RECORD_END || r->kind == RECORD_MEMORY ||
            r->kind == RECORD_GAP || r->kind == RECORD_STOP || r->kind == RECORD_POKE);
}

_Noreturn static void cross(struct thread *t, const struct record *r)
{
    compare(t, record_at(r), name_of(r));
    t->step &= (uint8_t)~STEP_SESSION;
    gap_cross(t);
}

static uint64_t budget(struct thread *t)
{
    const struct record *r = cursor_peek();
    uint64_t count = tick_of(r), now = thread_count(t);
    if (count == now && between_ticks(r) && record_at(r)->pc != t->cpu.rip)
        t->step |= STEP_SESSION; /* one instruction at a time, up to there */
    uint64_t n = count == NO_TICK ? FAR_AWAY : count > now ? count - now : 1;
    return n < stops_budget() ? n : stops_budget();
}

static void check_memory(struct thread *t, const struct record_memory *m)
{
    const struct memory_sum *s = (const struct memory_sum *)(m + 1);
    uint64_t n = (m->r.bytes - sizeof *m) / sizeof *s;
    if (!commands_verify())
        return;
    for (uint64_t i = 0; i < n && i < m->at.ranges; i++) {
        uint8_t probe;
        bool ok = !(s[i].start & 4095) && !(s[i].bytes & 4095) && s[i].bytes < 1 << 30;
        for (gaddr a = s[i].start; ok && a < s[i].start + s[i].bytes; a += PAGE_BYTES)
            ok = !engine_copy(&probe, (const void *)a, 1);
        if (!ok)
            post_diverged(t, "memory at 0x%lx: not there", s[i].start);
        uint64_t h = session_hash_memory((const uint64_t *)s[i].start, s[i].bytes);
        if (h != s[i].hash)
            post_diverged(t, "memory at 0x%lx-0x%lx differs (expected hash 0x%lx, actual 0x%lx)",
                          s[i].start, s[i].start + s[i].bytes, s[i].hash, h);
    }
}

static void deliver(struct thread *t)
{
    const struct record_signal *s = (const struct record_signal *)cursor_peek();
    struct siginfo_raw info;
    memcpy(&info, s->info, sizeof info);
    compare(t, &s->at, "signal");
    t->has_wait_mask = s->r.flags & MASKED;
    t->wait_mask = s->mask;
    take_flags(t, s->rflags);
    journal_signal(t, &info);
    cursor_next();
    if (info.sig < 1 || info.sig > SIG_MAX || t->process->action[info.sig].handler <= 1)
        post_diverged(t, "expected signal %d to have a handler", info.sig);
    stops_signal(t, info.sig, &info);
    signals_deliver(t, &info);
}

/* RECORD_END is next, perhaps after a check of memory. */
_Noreturn static void end_here(struct thread *t)
{
    stops_end(t); /* someone may want to stop right before it */
    const struct record *r = peek(t);
    for (; r && r->kind == RECORD_MEMORY; r = peek(t)) {
        check_memory(t, (const struct record_memory *)r);
        cursor_next();
    }
    const struct record_end *e = (const struct record_end *)r;
    if (!r || r->kind != RECORD_END)
        unexpected(t, r, "the end of the program");
    compare(t, &e->at, "the end");
    struct mailbox_stop s = {.end = e->reason, .status = e->status};
    calls_end();
    journal_event(t, EVENT_END, e->reason, e->status);
    if (e->reason == END_SIGNAL)
        stops_signal(t, e->status, NULL);
    for (;;)
        post_stop_for(t, STOP_END, &s);
}

static void end(struct thread *t, enum session_end how, int status)
{
    (void)how;
    (void)status;
    end_here(t);
}

/* What is to happen here happens in the call, and that is to be seen, too. */
static bool at_call(const struct thread *t)
{
    uint8_t insn[2];
    return engine_read(insn, t->cpu.rip, sizeof insn) && insn[0] == 0x0f && insn[1] == 0x05;
}

static void tick(struct thread *t)
{
    bool yields = false, spins = false; /* a switch comes, perhaps after changes */
    stops_arrived(t);
    for (;;) {
        const struct record *r = next_of(t);
        uint64_t count = tick_of(r), now = thread_count(t);
        if (yields && r->kind == RECORD_SWITCH)
            switch_to(t, spins ? SWITCH_SPINS : SWITCH_SLICE);
        if (count > now)
            return;
        bool by_itself = r->kind == RECORD_END || r->kind == RECORD_MEMORY;
        if (by_itself && (count < now || record_at(r)->pc != t->cpu.rip || at_call(t)))
            return; /* it is met at a call or a fault */
        if (count == now && between_ticks(r) && record_at(r)->pc != t->cpu.rip)
            return; /* budget() sees to it */
        if (is_killing(r))
            end_killed(t);
        compare_position(t, record_at(r), name_of(r));
        switch (r->kind) {
        case RECORD_SIGNAL:
            t->at_tick = true;
            deliver(t);
            t->at_tick = false;
            break;
        case RECORD_MEMORY:
            check_memory(t, (const struct record_memory *)r);
            cursor_next();
            break;
        case RECORD_END:
            end_here(t);
        case RECORD_POKE:
        case RECORD_STOP:
            t->step &= (uint8_t)~STEP_SESSION;
            compare_hash(t, record_at(r)->hash, session_hash(t), name_of(r));
            stops_at_position(t); /* a change may lead away from here */
            passes(t, r);
            break;
        case RECORD_GAP:
            if (t->calling)
                stops_call_again(t);
            cross(t, r);
        default:
            compare_hash(t, record_at(r)->hash, session_hash_all(t), name_of(r));
            yields = r->kind == RECORD_YIELD;
            spins = r->flags & YIELD_SPINS;
            if (between_ticks(r))
                t->step &= (uint8_t)~STEP_SESSION;
            cursor_next();
        }
    }
}

/* ---- system calls ---- */

static void put_data_after(struct thread *t)
{
    for (;;) {
        const struct record *r = peek(t);
        if (!r || r->kind != RECORD_DATA || !(r->flags & DATA_AFTER))
            return;
        put_data((const struct record_data *)r);
        cursor_next();
    }
}

static void put_effects(const uint64_t *at, const uint64_t *stop)
{
    while (stop - at >= 2) {
        uint64_t bytes = at[1], words = (bytes + 7) / 8;
        const uint64_t *data = at + 2;
        if (bytes > (1 << 20) || words > (uint64_t)(stop - data))
            post_failed("event %lu: not a record", cursor_number());
        space_write(at[0], data, bytes);
        at = data + words;
    }
}

static void finish_call(struct thread *t, gaddr next, int64_t result)
{
    uint64_t *g = t->cpu.gpr;
    g[RAX] = (uint64_t)result;
    g[RCX] = next;
    g[R11] = t->cpu.rflags;
    t->cpu.rip = next;
}

/* The thread is over, or the program. */
_Noreturn static void thread_ends(struct thread *t, enum call_does does)
{
    const struct record *r;
    t->calling = false;
    if (does == DOES_ENDS_THREAD) {
        stops_lost_thread(t);
        threads_finish(t);
        if (!threads_is_side(t) || t->detached)
            threads_unlist(t);
    }
    r = next_after_end(t);
    if (r->kind != RECORD_SWITCH)
        end_here(t);
    switch_to(t, SWITCH_EXIT);
}

/* A seccomp filter ended the thread at another call; the registers say which. */
static bool ended_by_filter(const struct record_call *c, long nr)
{
    return kinds_of(c->r.nr).does == DOES_ENDS_THREAD && c->r.nr != nr && (c->r.flags & CALL_SAME);
}

static void do_call(struct thread *t, const struct record_call *c, long nr, long *a, gaddr next)
{
    if (ended_by_filter(c, nr)) {
        nr = c->r.nr;
        a[0] = SIG_SYS;
    }
    const struct call_info *info = call_info(nr);
    const enum call_does does = kinds_of(nr).does;
    const uint64_t *at = (const uint64_t *)(c + 1);
    const uint64_t *stop = (const uint64_t *)((const uint8_t *)c + c->r.bytes);
    int64_t result = c->result;
    struct record_map map = {.r = {0}};
    const uint64_t number = cursor_number();
    bool has_map = c->r.flags & CALL_MAP;
    const uint64_t map_words = (sizeof map - sizeof map.r) / 8;
    if (c->r.nr != (uint16_t)nr)
        post_diverged(t, "expected system call %u, came to %ld", c->r.nr, nr);
    compare_hash(t, c->hash, session_hash(t), info ? info->name : "system call");
    if (c->r.flags & CALL_SAME) {
        const bool ends = does == DOES_ENDS_THREAD || does == DOES_ENDS_PROCESS;
        if (ends)
            calls_leave(t, nr, result, number);
        if (does == DOES_ENDS_THREAD)
            journal_exit(t, (int)a[0], false);
        cursor_next();
        if (ends)
            thread_ends(t, does);
        result = info && info->replay == REPLAY_SAME ? syscalls_again(t, nr, a) : -ENOSYS;
        calls_leave(t, nr, result, number);
        if (result != SYSCALL_NO_RESULT)
            finish_call(t, next, result);
        flow_called(t, nr, result, true);
        return;
    }
    if (has_map) {
        if ((uint64_t)(stop - at) < map_words)
            post_failed("event %lu: not a record", cursor_number());
        memcpy(&map.start, at, map_words * 8);
        at += map_words;
    }
    if (info && info->replay == REPLAY_MEMORY)
        space_call(t, nr, a, result, has_map ? &map : NULL);
    put_effects(at, stop);
    if (t->child) { /* a vfork child is over; a thread that could not be made is, too */
        bool vfork = threads_is_side(t->child) && !t->child->detached;
        if (vfork || result < 0)
            threads_unlist(t->child);
        t->child = NULL;
    }
    calls_leave(t, nr, result, number);
    output_after(t, nr, a, result); /* what the journal says of an event comes before its end */
    output_opened(t, result, c->r.flags);
    cursor_next();
    put_data_after(t);
    finish_call(t, next, result);
    flow_called(t, nr, result, info && info->replay == REPLAY_MEMORY);
}

/* Signals that came while the call was under way are delivered after it. */
static void signals_after(struct thread *t)
{
    for (;;) {
        const struct record *r = peek(t);
        const struct record_signal *s = (const struct record_signal *)r;
        if (is_killing(r) && due(t))
            end_killed(t);
        if (!r || r->kind != RECORD_SIGNAL || (r->flags & AT_TICK) ||
            s->at.count != thread_count(t) || s->at.pc != t->cpu.rip)
            return;
        deliver(t);
    }
}

/* execve succeeded if a program's image is next, or nothing at all. */
static void next_program(struct thread *t)
{
    static struct mailbox_stop s = {.end = END_EXEC};
    enum stop_kind reason = STOP_END;
    const struct record *r = peek(t);
    if (r && r->kind != RECORD_IMAGE)
        return;
    if (r) {
        const struct record_image *im = (const struct record_image *)r;
        reason = STOP_EXEC;
        calls_exec(t, (int32_t)t->cpu.gpr[RAX]);
        cursor_where(&s.chunk, &s.offset);
        s.base = im->base;
        s.bytes = im->bytes;
        s.reserved = im->reserved;
        memcpy(s.leads_to, output_table(), sizeof s.leads_to);
    }
    for (;;)
        post_stop_for(t, reason, &s);
}

static bool replay_call(struct thread *t, gaddr next)
{
    const uint64_t *g = t->cpu.gpr;
    long nr = (int32_t)g[RAX];
    long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX], (long)g[R10], (long)g[R8], (long)g[R9]};
    if (t->calling) {
        stops_call_again(t);
        flow_again(t);
    } else {
        if (instrument && instrument->syscall)
            instrument->syscall(t, false);
        stops_entry(t, nr);
    }
    t->calling = true;
    calls_enter(t, nr, a);
    for (;;) {
        const struct record *r = next_of(t);
        switch (r->kind) {
        case RECORD_DATA:
            put_data((const struct record_data *)r);
            cursor_next();
            continue;
        case RECORD_POKE:
        case RECORD_STOP:
            passes(t, r);
            continue;
        case RECORD_MAP:
            space_partly(nr, a, (const struct record_map *)r);
            cursor_next();
            continue;
        case RECORD_SIZE:
            space_resize((const struct record_size *)r);
            cursor_next();
            continue;
        case RECORD_OBJECT:
            space_object((const struct record_object *)r);
            cursor_next();
            continue;
        case RECORD_OUTPUT:
            output_received(t, (const struct record_output *)r);
            cursor_next();
            continue;
        case RECORD_THREAD:
            make_thread(t, nr, a, (const struct record_thread *)r);
            continue;
        case RECORD_SWITCH:
            stops_call_waits(t);
            switch_to(t, SWITCH_CALL);
        case RECORD_GAP:
            cross(t, r);
        case RECORD_YIELD:
            if (is_killing(r))
                end_killed(t);
            unexpected(t, r, "a system call");
        case RECORD_MEMORY:
            check_memory(t, (const struct record_memory *)r);
            cursor_next();
            continue;
        case RECORD_END: {
            if (((const struct record_end *)r)->reason != END_EXEC)
                end_here(t);
            cursor_next();
            next_program(t);
            continue;
        }
        case RECORD_RESTART:
            stops_call_waits(t);
            compare_hash(t, record_at(r)->hash, session_hash(t), "system call");
            calls_leave(t, nr, -RESTARTED, cursor_number());
            cursor_next();
            thread_tick(t);
            signals_after(t);
            return true;
        case RECORD_SIGNAL:
            if (!(r->flags & AT_TICK)) {
                deliver(t);
                return true;
            }
            unexpected(t, r, "a system call");
        case RECORD_FAULT: /* the program's own filter made it a signal */
            t->cpu.rip = record_at(r)->pc;
            signals_deliver_fault(t);
            return true;
        case RECORD_CALL:
            do_call(t, (const struct record_call *)r, nr, a, next);
            t->calling = false;
            if (instrument && instrument->syscall)
                instrument->syscall(t, true);
            stops_return(t, nr);
            signals_after(t);
            return true;
        default:
            unexpected(t, r, "a system call");
        }
    }
}

static bool call(struct thread *t, gaddr next)
{
    bool done = replay_call(t, next);
    t->calling = false;
    return done;
}

/* ---- faults and values ---- */

static void fault(struct thread *t)
{
    const struct record_fault *f = (const struct record_fault *)next_of(t);
    if (f->r.kind != RECORD_FAULT) {
        if (f->r.kind == RECORD_END || f->r.kind == RECORD_MEMORY)
            return;
        post_diverged(t, "expected %s, got signal %d at address 0x%lx", name_of(&f->r),
                      t->fault.info.sig, t->fault.info.field[0]);
    }
    compare(t, &f->at, "fault");
    flow_fault(t);
    take_flags(t, f->rflags);
    t->fault.trapno = f->trapno;
    t->fault.error = f->error;
    t->fault.cr2 = f->cr2;
    t->fault.forced = f->forced;
    memcpy(&t->fault.info, f->info, sizeof t->fault.info);
    if (t->fault.info.sig < 1 || t->fault.info.sig > SIG_MAX)
        post_failed("event %lu: not a record", cursor_number());
    journal_signal(t, &t->fault.info);
    cursor_next();
    stops_signal(t, t->fault.info.sig, &t->fault.info);
    const struct record *r = peek(t);
    if (r && (r->kind == RECORD_END || r->kind == RECORD_MEMORY) && due(t))
        end_here(t);
    if (is_killing(r))
        end_killed(t);
}

static bool values(struct thread *t)
{
    const struct record_values *v = (const struct record_values *)next_of(t);
    if (v->r.kind == RECORD_FAULT) {
        signals_deliver_fault(t);
        return false;
    }
    if (v->r.kind != RECORD_VALUES)
        unexpected(t, &v->r, "an instruction that asks the machine");
    compare_hash(t, v->hash, session_hash(t), "an instruction's values");
    const uint64_t *at = (const uint64_t *)(v + 1);
    const uint64_t *stop = (const uint64_t *)((const uint8_t *)v + v->r.bytes);
    for (int i = 0; i <= GPR_COUNT && at < stop; i++) {
        if (!(v->mask >> i & 1))
            continue;
        if (i < GPR_COUNT)
            t->cpu.gpr[i] = *at++;
        else
            t->cpu.rflags = *at++;
    }
    cursor_next();
    return true;
}

static void mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    const struct record_mark *m = (const struct record_mark *)next_of(t);
    if (m->r.kind != RECORD_MARK)
        unexpected(t, &m->r, "a mark");
    compare(t, &m->at, "a mark");
    journal_mark(t, kind, text, bytes);
    cursor_next();
}

static void no_thread(struct thread *t)
{
    (void)t;
}

const struct session session_replay = {
    .prepare = prepare,
    .start = start,
    .running = no_thread,
    .begin = begin,
    .forked = no_thread,
    .end = end,
    .tick = tick,
    .due = due,
    .budget = budget,
    .pause = stops_pause,
    .yield = no_thread,
    .replay_call = call,
    .fault = fault,
    .replay_values = values,
    .mark = mark,
    .replaying = true,
};
