/* live.c - a program that is debugged while it is recorded.
 *
 * SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. The mailbox belongs to whoever has the baton: a thread that has come to a stop, or the guest
 *    (guest.c). While it waits there for commands nothing of the program runs.
 * 2. A thread that gives the baton away leaves its vector registers and FS base in its struct: all
 *    threads but the one that has stopped are described by their structs.
 * 3. The log's last record says where the last thread stands when the debugger looks (RECORD_STOP):
 *    a replay of the log ends right there.
 * 4. What the debugger changes is in the log (RECORD_POKE): a replay does the same.
 */
#include "live/target/live.h"

#include "debug/mailbox.h"
#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/session.h"
#include "engine/core/watch.h"
#include "engine/os/effects.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/maps.h"
#include "engine/os/sending.h"
#include "engine/os/signals.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"
#include "live/target/guest.h"
#include "logger/target/log.h"
#include "logger/target/record.h"
#include "logger/target/region.h"
#include "pinball/record.h"
#include "pinball/ring.h"

enum { KEY_INT = 2, KEY_QUIT = 3, KEY_TSTP = 20, DONTFORK = 10 };

static struct {
    struct mailbox_run run; /* how it was let run last */
    uint64_t runs;          /* so many times */
    uint64_t marked;        /* records up to the last one of a stop or a change, that included */
    uint64_t stop_record;   /* records up to the last RECORD_STOP, that one included ... */
    struct record_at at;    /* ... which says this */
    uint32_t thread;        /* of that thread */
    uint32_t last;          /* number of the thread that ran last */
    int passing;            /* a signal that is on its way, and was told; 0: none */
    struct fault_told {
        uint32_t thread;
        int sig;
        gaddr pc;
    } fault;      /* the last one that it has stopped for ... */
    bool refault; /* ... happens again, and was told */
    bool ended;
} live;

/* The recorder's table, or the one that waits for the next part of the run. */
static const struct session *below;

static bool is_recording(void)
{
    return below == &session_record && !log_over();
}

struct thread *live_last(void)
{
    return post_thread(live.last);
}

/* ---- what the supervisor asks for ---- */

static void stopping(void)
{
    const struct thread *t = live_last();
    const struct record_at at = t ? record_here(t) : (struct record_at){0};
    const uint32_t thread = t ? t->number : 0;
    const bool same = live.stop_record == log_records() && live.thread == thread &&
                      live.at.count == at.count && live.at.pc == at.pc && live.at.hash == at.hash;
    if (live.ended || same || !is_recording())
        return;
    record_stop(t);
    live.stop_record = live.marked = log_records();
    live.at = at;
    live.thread = thread;
}

/* The debugger sends a signal where the program has not stopped for one. A fault whose stop
 * functions were called in happens again by itself. */
static void send_new(const struct mailbox_run *how)
{
    struct thread *to = post_thread(how->send_thread);
    const int sig = (int)how->send;
    if (!to || sig < 1 || sig > SIG_MAX)
        return;
    struct siginfo_raw info = {.sig = sig, .code = SENT_BY_TKILL};
    info.field[0] = (uint64_t)sys0(__NR_getuid) << 32 | (uint32_t)to->process->pid;
    live.refault =
        live.fault.thread == to->number && live.fault.sig == sig && live.fault.pc == to->cpu.rip;
    if (live.refault)
        return;
    if (to->process->action[sig].handler > HANDLER_IGNORE || signals_fatal(to, sig))
        live.passing = sig;
    if (engine.guest_signals & SIG_BIT(sig))
        signals_carry(to, &info);
    else
        sys4(__NR_rt_tgsigqueueinfo, to->process->pid, to->tid, sig, (long)&info);
}

static void run_on(struct thread *self, const struct mailbox_run *how)
{
    live.run = *how;
    live.refault = false;
    if (how->send)
        send_new(how);
    live.runs++;
    engine.guest_runs++;
    baton_only(how->run_thread);
    stops_run(self, how);
}

static bool is_writable(void)
{
    return !live.ended;
}

static struct record_changed change(struct record_at *at)
{
    struct thread *t = live_last();
    *at = t ? record_here(t) : (struct record_at){0};
    return (struct record_changed){
        .running = t, .at = at, .rflags = t ? t->cpu.rflags : 0, .due = t && !t->calling};
}

static uint64_t write_memory(struct thread *self, gaddr addr, const void *from, uint64_t bytes)
{
    struct record_at at;
    (void)self;
    if (live.ended || !bytes)
        return 0;
    if (!engine_write(addr, from, bytes)) {
        for (gaddr page = PAGE_DOWN(addr); page < addr + bytes; page += PAGE_BYTES)
            maps_write_fault(page);
        if (!engine_write(addr, from, bytes))
            return 0;
    }
    if (is_recording()) {
        const struct record_changed c = change(&at);
        record_poke_memory(&c, addr, bytes);
        live.marked = log_records();
    }
    instrument_changed(addr, addr + bytes);
    return bytes;
}

/* Those of a thread that is in a system call are the call's. A thread that waits for its turn has
 * its vector registers in the processor's hands: these stay. */
static bool set_registers(struct thread *self, struct thread *t, const struct mailbox_registers *r)
{
    struct record_at at;
    if (live.ended || t->calling)
        return false;
    const struct record_changed c = change(&at);
    const bool moves = t->cpu.rip != r->rip;
    const bool vector =
        t == self && r->xsave_bytes == fpstate_bytes() && r->xsave_bytes <= sizeof r->xsave;
    memcpy(t->cpu.gpr, r->gpr, sizeof r->gpr);
    t->cpu.rip = r->rip;
    t->cpu.rflags = (t->cpu.rflags & ~FLAGS_SETTABLE) | (r->rflags & FLAGS_SETTABLE & ~FLAG_TF);
    if (vector) {
        memcpy(t->xsave, r->xsave, r->xsave_bytes);
        fpstate_load(t, fpstate_features());
    }
    if (is_recording()) {
        record_poke_registers(&c, t, vector);
        live.marked = log_records();
    }
    if (moves)
        thread_tick(t);
    return true;
}

static bool lost(void)
{
    return log_ring()->lost || !log_recorder_lives();
}

/* No stop is wanted any more. */
static void let_go(struct mailbox *box)
{
    *(struct mailbox_stops *)box->data = (struct mailbox_stops){0};
    stops_set(box);
    box->op = DO_RUN;
    *(struct mailbox_run *)box->data = (struct mailbox_run){0};
}

/* Memory of a part is written while the program goes on, and comes first. */
static void hand_over_now(struct mailbox *box)
{
    const struct ring *ring = log_ring();
    if (is_recording() && ring->region.begun && log_await_memory())
        log_break();
    box->arg[0] = log_records() + ring->memory.records;
    box->arg[1] = ring->region.begun;
    box->arg[2] = ring->region.ended;
}

/* The guest has no place in the program, and nothing can begin in the middle of a call. */
static enum trigger_answer switch_recording(struct thread *t, bool on)
{
    const bool here = t->number && !t->calling;
    if (live.ended || !log_recorder_lives())
        return TRIGGER_NO_MORE;
    const enum trigger_answer answer = region_ask(here ? t : NULL, on);
    stopping();
    return answer;
}

/* Descriptors mean what they meant: a replay does not hear of it. */
static bool change_terminal(const char *path)
{
    enum { OPEN_BOTH = 2, OPEN_NOCTTY = 0400, OPEN_CLOEXEC = 02000000 };
    const long fd = sys4(__NR_openat, -100, (long)path, OPEN_BOTH | OPEN_NOCTTY | OPEN_CLOEXEC, 0);
    if (SYS_FAILED(fd))
        return false;
    for (int i = 0; i < 3; i++)
        if (fd != i)
            sys3(__NR_dup3, fd, i, 0);
    if (fd > 2)
        sys1(__NR_close, fd);
    return true;
}

static enum post_answer do_command(struct thread *t, struct mailbox *box)
{
    switch (box->op) {
    case DO_FLUSH:
        hand_over_now(box);
        return POST_DONE;
    case DO_RECORD:
        box->arg[0] = switch_recording(t, box->arg[0]);
        return POST_DONE;
    case DO_TERMINAL:
        box->data[MAILBOX_DATA_BYTES - 1] = 0;
        box->arg[0] = !live.ended && change_terminal((const char *)box->data);
        return POST_DONE;
    case DO_LEAVE:
        let_go(box);
        return POST_ANSWERED;
    default:
        return POST_UNKNOWN;
    }
}

static const struct instrument *no_tool(struct thread *self, const char *name)
{
    (void)self;
    (void)name;
    return NULL;
}

static const struct post_program program = {
    .events = log_records,
    .stopping = stopping,
    .run = run_on,
    .is_writable = is_writable,
    .write = write_memory,
    .set = set_registers,
    .lost = lost,
    .tool = no_tool,
    .command = do_command,
};

/* ---- start ---- */

/* The recorder has the mailbox's descriptor: that works after an execve, too. */
static void map_mailbox(void)
{
    char path[64];
    rt_format(path, sizeof path, "/proc/%d/fd/%d", log_ring()->recorder, log_ring()->box_fd);
    long fd = sys4(__NR_openat, -100, (long)path, 02000002 /* read, write, not over an exec */, 0);
    void *at = range_alloc(sizeof(struct mailbox));
    long r = fd < 0 ? fd
                    : sys6(__NR_mmap, (long)at, sizeof(struct mailbox), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, 0);
    if (SYS_FAILED(r))
        rt_die("live: the mailbox cannot be mapped (error %ld)", -r);
    sys1(__NR_close, fd);
    sys3(__NR_madvise, r, sizeof(struct mailbox), DONTFORK);
    engine.mailbox = (gaddr)r;
}

static void start(struct thread *t)
{
    struct mailbox_stop s = {.end = 0};
    below->start(t);
    live.last = t->number;
    t->begun = true;
    guest_start(t);
    post_stop_for(t, STOP_BEGIN, &s);
}

/* ---- threads ---- */

static void running(struct thread *t)
{
    live.last = t->number;
    below->running(t);
}

static void leaves(struct thread *t)
{
    t->fs_base = engine_segments(t).fs;
    fpstate_save(t, fpstate_features());
}

/* A thread that has not begun has its maker's vector registers. */
static void thread(struct thread *t, struct thread *child)
{
    below->thread(t, child);
    fpstate_save(t, fpstate_features());
    memcpy(child->xsave, t->xsave, fpstate_bytes());
}

static void begin(struct thread *t)
{
    below->begin(t);
    stops_new_thread(t);
}

static void forked(struct thread *t)
{
    below->forked(t);
    engine.guested = false;
    engine.guest_signals = 0;
    watch_set(NULL, 0);
    instrument_install(NULL);
    signals_tell_kernel(t);
}

/* Told before the program dies of it, natively. */
static void end(struct thread *t, enum session_end how, int status)
{
    struct mailbox_stop s = {.end = (uint32_t)how, .status = status};
    below->end(t, how, status);
    if (how == SESSION_EXEC)
        return;
    if (how == SESSION_EXIT)
        s.status = status & 0xff;
    live.ended = true;
    post_stop_for(t, STOP_END, &s);
}

static void killed(struct thread *t)
{
    below->killed(t);
    stops_lost_thread(t);
}

/* What was recorded so far is wanted, and ends right here. */
static void hand_over(struct thread *t)
{
    struct mailbox *box = post_box();
    if (!__atomic_load_n(&box->flush, __ATOMIC_RELAXED) || !is_recording())
        return;
    box->flush = 0;
    record_stop(t);
    log_break();
}

static void tick(struct thread *t)
{
    stops_arrived(t);
    below->tick(t);
    hand_over(t);
}

/* ---- system calls ---- */

static void entering(struct thread *t)
{
    below->entering(t);
    stops_entry(t, (int32_t)t->cpu.gpr[RAX]);
    t->calling = true;
}

static void wrote(struct thread *t, gaddr addr, uint64_t bytes)
{
    below->wrote(t, addr, bytes);
    stops_wrote(addr, bytes);
    stops_call_waits(t);
}

static void note_written(void *arg, gaddr addr, uint64_t bytes)
{
    (void)arg;
    stops_wrote(addr, bytes);
}

static void called(struct thread *t, long nr, long result)
{
    const uint64_t *g = t->cpu.gpr;
    const long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX],
                       (long)g[R10], (long)g[R8],  (long)g[R9]};
    below->called(t, nr, result);
    t->calling = false;
    if (stops_watches() && effects_may_write(nr))
        effects_written(nr, a, result, note_written, NULL);
}

static void restarted(struct thread *t)
{
    below->restarted(t);
    t->calling = false;
}

/* ---- signals ---- */

bool live_signal(int32_t *sig)
{
    if (!(live.run.flags & RUN_SIGNAL))
        return true;
    *sig = (int32_t)live.run.signal;
    return *sig > 0 && *sig <= SIG_MAX;
}

void live_send(const struct siginfo_raw *info)
{
    struct thread *first = engine.threads;
    while (first && threads_is_side(first))
        first = first->next;
    if (!first)
        return;
    struct thread *to = sending_taker(first, info->sig);
    live.passing = info->sig;
    if (to)
        signals_carry(to, info);
    else
        sending_hold(first, info);
}

/* A function that a debugger calls returns to a breakpoint where nothing can be executed. */
static void look_for_return(struct thread *t, const struct siginfo_raw *info)
{
    enum { PAGE_FAULT = 14 };
    if (info == &t->fault.info && t->fault.trapno == PAGE_FAULT && t->fault.cr2 == t->cpu.rip)
        stops_at_fault(t);
}

static bool is_fault_told(const struct thread *t)
{
    return live.refault && live.fault.thread == t->number && live.fault.pc == t->cpu.rip &&
           live.fault.sig == t->fault.info.sig;
}

static bool arrives(struct thread *t, struct siginfo_raw *info)
{
    const uint64_t runs = live.runs;
    const gaddr pc = t->cpu.rip;
    const bool faults = info == &t->fault.info;
    if (faults && is_fault_told(t)) {
        live.refault = false;
        return true;
    }
    if (live.passing == info->sig && !faults) {
        live.passing = 0;
        return true;
    }
    look_for_return(t, info);
    if (t->cpu.rip != pc)
        return false;
    stops_signal(t, info->sig, info);
    if (live.runs == runs)
        return true; /* nobody wanted to stop for it */
    stops_forget_signal();
    const struct fault_told fault = {t->number, info->sig, pc};
    const bool delivered = live_signal(&info->sig) && t->cpu.rip == pc;
    live.fault = faults && !delivered ? fault : (struct fault_told){0};
    return delivered;
}

/* Behind a stop or a change a replay meets it as one at a tick, unless the thread is inside a call.
 */
static void signal(struct thread *t, const struct siginfo_raw *info)
{
    const bool at_tick = t->at_tick;
    if (live.marked == log_records() && !t->calling)
        t->at_tick = true;
    below->signal(t, info);
    t->at_tick = at_tick;
}

/* ---- the table ---- */

static struct session table;

/* What is not here is the recorder's alone. */
static void turns(const struct session *now)
{
    below = now;
    table = *now;
    table.start = start;
    table.running = running;
    table.leaves = leaves;
    table.thread = thread;
    table.begin = begin;
    table.forked = forked;
    table.end = end;
    table.killed = killed;
    table.tick = tick;
    table.entering = entering;
    table.wrote = wrote;
    table.called = called;
    table.returned = stops_return;
    table.restarted = restarted;
    table.arrives = arrives;
    table.signal = signal;
}

static void prepare(void)
{
    turns(&session_record);
    region_turns = turns;
    session_record.prepare();
    session = &table;
    map_mailbox();
    post_serve(&program);
    engine.guested = true;
    engine.guest_signals = SIG_BIT(KEY_INT) | SIG_BIT(KEY_QUIT) | SIG_BIT(KEY_TSTP);
}

const struct session session_live = {.prepare = prepare};
