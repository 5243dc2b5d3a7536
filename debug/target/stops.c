/* stops.c - where a replay stops: positions, steps, breakpoints, watchpoints, calls and signals.
 *
 * SPDX-License-Identifier: MIT
 *
 * What to stop at is told by DO_STOPS and holds until it is told anew; how far to run is told with
 * each DO_RUN. A run is either for real, and the first stop ends it, or a *scan*: it goes on to its
 * goal, and what would have been its last stop is noted. Going back is made of scans.
 *
 * Invariants:
 * 1. Moments (messages.h) are met in their order: log events, count, pc, stage. A stop names the
 *    moment, and a run to it as its goal stops there again, with the same state.
 * 2. What is at the place where a run begins does not stop it.
 * 3. A thread that was taken off inside a system call is back at the instruction without having
 *    left it (t->calling): nothing stops it there a second time, except that one can go back to
 *    there from what the call writes then. Before the call would be too far: others have run since.
 */
#include "debug/target/stops.h"

#include "base/search.h"
#include "debug/target/agent.h"
#include "debug/target/fence.h"
#include "debug/target/gather.h"
#include "debug/target/post.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/watch.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/kinds.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/x86/accesses.h"
#include "pinball/record_gap.h"

enum {
    BREAKS = 10000,
    CONDITIONS = 1 << 20,
    PAUSE_TICKS = 1 << 20,
    SINGLE_STEPS = 512, /* in a range: after so many a fence pays */
};

static struct mailbox_run run;
static struct mailbox_stops stops;
static struct mailbox_break *breaks; /* sorted by pc */
static uint32_t break_count;
static uint8_t *conditions;

static struct mailbox_what last_hit;
static struct mailbox_moment *trail; /* a ring */
static uint64_t trail_end;           /* moments ever put there */

static struct {
    struct thread *thread;
    uint64_t count;
    gaddr pc;      /* where the step began */
    uint64_t made; /* single steps that ended in the range */
} step;

/* The thread whose stops alone count, in a scan that has seen it made, before its first
 * instruction. */
static struct thread *beginner;

/* An access to a watched range was seen: the stop comes when it is done. */
static struct {
    struct thread *thread;
    uint64_t count;
    gaddr pc;
    const struct mailbox_watch *watch;
} access_under_way;

/* A scan notes an access before it is done: what it had noted until then, should it fault. */
static struct {
    struct mailbox_moment at;
    struct mailbox_what hit;
} before_access;

/* The string instruction that was looked at last, before it: its accesses are of one element. */
static struct {
    struct access access[ACCESSES_MOST];
    int accesses;
    uint64_t left;
    bool addr32, down;
} string;

/* The call under way: what it writes is told when it is over, or waits. */
static const struct mailbox_watch *written_by_call;
static struct mailbox_moment call_before; /* the last moment before it writes */
static struct mailbox_moment signal_told; /* where the last one was */

/* ---- stopping ---- */

uint64_t stops_ticks(void)
{
    uint64_t n = engine.total_ticks;
    for (struct thread *t = engine.threads; t; t = t->next)
        n += thread_count(t);
    return n;
}

static struct mailbox_moment moment(const struct thread *t, enum mailbox_stage stage)
{
    return (struct mailbox_moment){.events = post_events(),
                                   .count = thread_count(t),
                                   .pc = t->cpu.rip,
                                   .thread = t->number,
                                   .stage = stage};
}

static bool is_goal(const struct mailbox_moment *m)
{
    const struct mailbox_moment *g = &run.goal;
    return g->thread == m->thread && g->count == m->count && (!g->pc || g->pc == m->pc) &&
           (g->events == ANY_EVENTS || g->events == m->events ||
            ((run.flags & RUN_SINCE) && g->events < m->events)) &&
           g->stage == m->stage;
}

const struct mailbox_what *stops_hit(void)
{
    return &last_hit;
}

static void stop_now(struct thread *t, const struct mailbox_what *what)
{
    struct mailbox_stop s = {.what = *what, .hit = last_hit};
    run.goal.thread = 0;
    post_stop(t, &s);
}

static void hit(struct thread *t, struct mailbox_what *what)
{
    what->ticks = stops_ticks();
    if (run.flags & RUN_SCAN)
        last_hit = *what;
    else
        stop_now(t, what);
}

/* True if it was the goal, and the run has ended and gone on since. */
static bool goal(struct thread *t, enum mailbox_stage stage)
{
    if (!run.goal.thread) /* mostly: what is told of a stop is large */
        return false;
    struct mailbox_what w = {.reason = STOP_POSITION, .at = moment(t, stage)};
    if (!is_goal(&w.at))
        return false;
    w.ticks = stops_ticks();
    stop_now(t, &w);
    return true;
}

void stops_end(struct thread *t)
{
    goal(t, STAGE_BEFORE);
}

void stops_pause(struct thread *t)
{
    if (t->calling)
        return;
    bool asked = __atomic_load_n(&post_box()->pause, __ATOMIC_RELAXED);
    if (!asked && !(run.pause_ticks && stops_ticks() >= run.pause_ticks))
        return;
    struct mailbox_what w = {.reason = STOP_PAUSED, .at = moment(t, STAGE_BEFORE)};
    w.ticks = stops_ticks();
    post_box()->pause = 0;
    run.pause_ticks = 0;
    stop_now(t, &w);
}

uint64_t stops_budget(void)
{
    uint64_t now = run.pause_ticks ? stops_ticks() : 0;
    uint64_t left = run.pause_ticks > now ? run.pause_ticks - now : run.pause_ticks ? 1 : ~0ull;
    return left < PAUSE_TICKS ? left : PAUSE_TICKS;
}

/* ---- positions and steps ---- */

void stops_at_position(struct thread *t)
{
    if (!t->calling)
        goal(t, STAGE_BEFORE);
}

/* Others' stops are not what was asked for. */
static bool counts(const struct thread *t)
{
    return !stops.only || stops.only == t->number;
}

void stops_new_thread(struct thread *t)
{
    if (run.goal.thread == t->number)
        engine_stop_at(t, run.goal.count, run.goal.pc);
    if (run.step_thread == t->number) {
        step.thread = t;
        step.pc = 0;
        t->step |= STEP_TOOL;
    } else if (stops.only == t->number && (run.flags & RUN_SCAN)) {
        beginner = t;
        t->step |= STEP_TOOL;
    }
}

void stops_lost_thread(const struct thread *t)
{
    if (step.thread == t)
        step.thread = NULL;
    if (access_under_way.thread == t)
        access_under_way.thread = NULL;
    if (beginner == t)
        beginner = NULL;
}

static void done_stepping(struct thread *t)
{
    t->step &= (uint8_t)~STEP_TOOL;
    if (step.thread == t)
        step.thread = NULL;
}

static bool access_is_done(const struct thread *t)
{
    return access_under_way.thread == t &&
           (thread_count(t) != access_under_way.count || t->cpu.rip != access_under_way.pc);
}

static void tell_access(struct thread *t, enum mailbox_stage stage)
{
    struct mailbox_what w = {.reason = STOP_WATCH,
                             .kind = access_under_way.watch->kind,
                             .addr = access_under_way.watch->addr,
                             .at = moment(t, stage)};
    access_under_way.thread = NULL;
    done_stepping(t);
    hit(t, &w);
}

static void access_done(struct thread *t, enum mailbox_stage stage)
{
    if (access_is_done(t))
        tell_access(t, stage);
}

static void tell_begin(struct thread *t)
{
    struct mailbox_what w = {.reason = STOP_THREAD_BEGIN, .at = moment(t, STAGE_BEFORE)};
    beginner = NULL;
    hit(t, &w);
}

static void step_is_done(struct thread *t)
{
    struct mailbox_what w = {.reason = STOP_STEP, .at = moment(t, STAGE_BEFORE)};
    done_stepping(t);
    hit(t, &w);
}

/* A thread that stays in its range for long goes on at full speed. */
static void stay_in_range(struct thread *t)
{
    if (fence_is_of(t) || (++step.made == SINGLE_STEPS && fence_raise_range(t, run.low, run.high)))
        t->step &= (uint8_t)~STEP_TOOL;
}

static void one_step(struct thread *t)
{
    if (beginner == t)
        tell_begin(t);
    if (access_under_way.thread == t) {
        access_done(t, STAGE_BEFORE);
        return;
    }
    if (step.thread != t) {
        t->step &= (uint8_t)~STEP_TOOL;
        return;
    }
    if (t->calling)
        return;
    if (run.flags & RUN_SCAN) {
        trail[trail_end++ % MAILBOX_TRAIL] = moment(t, STAGE_BEFORE);
        return;
    }
    bool moved = thread_count(t) != step.count || t->cpu.rip != step.pc;
    if (moved && t->cpu.rip >= run.low && t->cpu.rip < run.high)
        stay_in_range(t);
    else if (moved)
        step_is_done(t);
}

/* True if the run has ended here and gone on since. */
static bool at_post(struct thread *t)
{
    const enum fence_post what = fence_at(t);
    if (what == FENCE_NOTHING)
        return false;
    if (what == FENCE_GATE && !(run.flags & RUN_SCAN)) {
        t->step |= STEP_TOOL;
        return false;
    }
    step_is_done(t);
    return !(run.flags & RUN_SCAN);
}

/* A signal leads a thread out of its fence. */
static void leave_for_signal(struct thread *t)
{
    struct mailbox_what w = {.reason = STOP_STEP, .at = signal_told};
    if (!fence_is_of(t))
        return;
    if (run.flags & RUN_SCAN)
        hit(t, &w);
    else
        t->step |= STEP_TOOL;
}

/* The thread is taken off here, or a signal comes: what it has just done is told before. */
void stops_arrived(struct thread *t)
{
    if (access_under_way.thread == t)
        access_done(t, STAGE_BEFORE);
    else if (run.goal.events != ANY_EVENTS && !t->calling)
        goal(t, STAGE_BEFORE);
}

/* ---- breakpoints ---- */

static const struct mailbox_break *find_break(gaddr pc)
{
    const size_t i = search_below(breaks, break_count, pc, pc);
    return i < break_count && breaks[i].pc == pc ? &breaks[i] : NULL;
}

static bool read_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    (void)arg;
    return engine_copy(out, (const void *)addr, bytes) == 0;
}

struct agent_state stops_agent(struct thread *t)
{
    const struct segments seg = engine_segments(t);
    return (struct agent_state){.cpu = &t->cpu,
                                .orig_rax = ~0ull,
                                .fs_base = seg.fs,
                                .gs_base = seg.gs,
                                .read = read_memory};
}

/* One of its conditions holds, or cannot be computed: then the user has to see it. */
static bool holds(struct thread *t, const struct mailbox_break *b)
{
    const uint8_t *at = conditions + b->condition_at, *end = at + b->condition_bytes;
    const struct agent_state state = stops_agent(t);
    if (at == end)
        return true;
    while (end - at >= 4) {
        uint32_t bytes;
        uint64_t value;
        memcpy(&bytes, at, 4);
        at += 4;
        if (bytes > (uint64_t)(end - at))
            break;
        if (agent_eval(at, bytes, &state, &value) != AGENT_DONE || value)
            return true;
        at += bytes;
    }
    return false;
}

static void at_break(struct thread *t)
{
    const struct mailbox_break *b = find_break(t->cpu.rip);
    struct mailbox_what w = {.reason = STOP_BREAK, .at = moment(t, STAGE_BEFORE)};
    if (b && holds(t, b))
        hit(t, &w);
}

void stops_at_fault(struct thread *t)
{
    at_break(t);
}

/* ---- watched memory ---- */

static bool touches(const struct mailbox_watch *w, gaddr addr, uint64_t bytes, bool read,
                    bool write)
{
    bool kind = ((w->kind & 1) && write) || ((w->kind & 2) && read);
    return kind && addr < w->addr + w->bytes && w->addr < addr + bytes;
}

static const struct mailbox_watch *find_watch(gaddr addr, uint64_t bytes, bool read, bool write)
{
    for (uint32_t i = 0; i < stops.watches; i++)
        if (touches(&stops.watch[i], addr, bytes, read, write))
            return &stops.watch[i];
    return NULL;
}

static uint64_t repeats(const struct thread *t, bool addr32)
{
    return addr32 ? (uint32_t)t->cpu.gpr[RCX] : t->cpu.gpr[RCX];
}

/* n elements from a's on, upwards or downwards. */
static void stretch(struct access *a, uint64_t n, bool down)
{
    uint64_t all = n > (1ull << 40) ? 1ull << 40 : n * a->bytes;
    if (!n)
        a->read = a->write = false;
    else if (down)
        a->addr -= all - a->bytes;
    a->bytes = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

/* A repeated string instruction is one access of all its elements. */
static void widen(const struct thread *t, const struct insn *in, const struct insn_operands *ops,
                  struct access *a)
{
    const uint64_t rep = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    if (!(ops->z.attributes & rep) || ops->z.meta.category != ZYDIS_CATEGORY_STRINGOP)
        return;
    if (string.accesses < ACCESSES_MOST)
        string.access[string.accesses++] = *a;
    string.addr32 = in->addr32;
    string.down = t->cpu.rflags & FLAG_DF;
    string.left = repeats(t, in->addr32);
    stretch(a, string.left, string.down);
}

static const struct mailbox_watch *find_gathered(struct thread *t, const struct insn *in,
                                                 const struct insn_operands *ops,
                                                 const struct mem_access *m)
{
    struct flow_range range[GATHER_MOST];
    const struct mailbox_watch *w = NULL;
    int n = gather_elements(t, in, ops, &ops->op[m->op], range, m->write);
    for (int i = 0; i < n && !w; i++)
        w = find_watch(range[i].addr, range[i].bytes, m->read, m->write);
    return w;
}

static const struct mailbox_watch *find_access(struct thread *t, const struct probe *p)
{
    struct insn in;
    struct insn_operands ops;
    struct mem_access list[ACCESSES_MOST];
    uint8_t bytes[INSN_MAX_BYTES];
    const struct mailbox_watch *w = NULL;
    if (!engine_read(bytes, p->pc, p->len) || insn_decode(&in, p->pc, bytes, p->len) < 0)
        return NULL;
    insn_operands(&in, &ops);
    string.accesses = 0;
    int count = accesses_of(&in, &ops, list);
    for (int i = 0; i < count && i < p->accesses; i++) {
        struct access a = p->access[i];
        widen(t, &in, &ops, &a);
        if (!w)
            w = list[i].shape == ACCESS_VECTOR ? find_gathered(t, &in, &ops, &list[i])
                                               : find_watch(a.addr, a.bytes, a.read, a.write);
    }
    return w;
}

/* What the string instruction that find_access() has looked at last, and that has faulted, has
 * touched of watched memory. */
static const struct mailbox_watch *find_part(const struct thread *t)
{
    const struct mailbox_watch *w = NULL;
    const uint64_t done = string.left - repeats(t, string.addr32);
    for (int i = 0; i < string.accesses && done <= string.left && !w; i++) {
        struct access a = string.access[i];
        stretch(&a, done, string.down);
        w = find_watch(a.addr, a.bytes, a.read, a.write);
    }
    return w;
}

/* The stop comes when the instruction at pc is done, or the signal that came there is delivered. */
static void await_access(struct thread *t, const struct mailbox_watch *w)
{
    access_under_way.thread = t;
    access_under_way.count = thread_count(t);
    access_under_way.pc = t->cpu.rip;
    access_under_way.watch = w;
    t->step |= STEP_TOOL;
}

static void at_access(struct thread *t, const struct probe *p)
{
    if (access_under_way.thread == t && access_under_way.pc == p->pc)
        return;
    const struct mailbox_watch *w = find_access(t, p);
    if (!w)
        return;
    if (!(run.flags & RUN_SCAN)) {
        await_access(t, w);
        return;
    }
    struct mailbox_what what = {
        .reason = STOP_WATCH, .kind = w->kind, .addr = w->addr, .at = moment(t, STAGE_BEFORE)};
    before_access.at = what.at;
    before_access.hit = last_hit;
    hit(t, &what);
}

void stops_wrote(gaddr addr, uint64_t bytes)
{
    if (stops.watches && !written_by_call)
        written_by_call = find_watch(addr, bytes, false, true);
}

/* ---- calls and signals ---- */

bool stops_watches(void)
{
    return stops.watches;
}

bool stops_wants_signal(int sig)
{
    return sig > 0 && sig < (int)sizeof stops.signal_wanted && stops.signal_wanted[sig];
}

void stops_forget_signal(void)
{
    signal_told.thread = 0;
}

static bool call_wanted(long nr)
{
    return nr >= 0 && nr < STOP_MAX_CALLS && (stops.call_wanted[nr / 8] >> (nr % 8) & 1);
}

void stops_entry(struct thread *t, long nr)
{
    const bool wanted = call_wanted(nr);
    call_before = moment(t, wanted ? STAGE_ENTERED : STAGE_BEFORE);
    written_by_call = NULL;
    if (goal(t, STAGE_ENTERED) || !counts(t))
        return;
    const bool ends =
        stops.only && !(run.flags & RUN_SCAN) && kinds_of(nr).does == DOES_ENDS_THREAD;
    if (!wanted && !ends)
        return;
    struct mailbox_what w = {.reason = ends ? STOP_THREAD_END : STOP_CALL_ENTRY,
                             .number = nr,
                             .at = moment(t, STAGE_ENTERED)};
    hit(t, &w);
}

void stops_call_again(struct thread *t)
{
    call_before = moment(t, STAGE_ENTERED);
    written_by_call = NULL;
    goal(t, run.flags & RUN_SINCE ? STAGE_BEFORE : STAGE_ENTERED);
}

/* A scan notes the moment before. True if the run has ended here and gone on since. */
static bool tell_written(struct thread *t, enum mailbox_stage stage)
{
    const struct mailbox_watch *watch = written_by_call;
    const bool scans = run.flags & RUN_SCAN;
    if (!watch || !counts(t))
        return false;
    struct mailbox_what w = {.reason = STOP_WATCH,
                             .kind = watch->kind,
                             .addr = watch->addr,
                             .at = scans ? call_before : moment(t, stage)};
    written_by_call = NULL;
    hit(t, &w);
    return !scans;
}

void stops_call_waits(struct thread *t)
{
    if (!tell_written(t, STAGE_ENTERED))
        goal(t, STAGE_ENTERED);
}

void stops_return(struct thread *t, long nr)
{
    /* What it has written is before this moment: a scan that ends here has seen it. */
    if (tell_written(t, STAGE_RETURNED) || goal(t, STAGE_RETURNED) || !call_wanted(nr) ||
        !counts(t))
        return;
    struct mailbox_what w = {
        .reason = STOP_CALL_RETURN, .number = nr, .at = moment(t, STAGE_RETURNED)};
    hit(t, &w);
}

/* ---- gaps ---- */

/* A run to a count, wherever the thread is then, ends before the gap in which it gets there. */
void stops_gap(struct thread *t, const struct gap_thread *changed, uint32_t count)
{
    struct mailbox_what w = {.reason = STOP_POSITION, .at = moment(t, STAGE_BEFORE)};
    call_before = w.at;
    written_by_call = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct gap_thread *c = &changed[i];
        if (c->thread != run.goal.thread || run.goal.pc || run.goal.events != ANY_EVENTS ||
            (!c->ended && c->count < run.goal.count))
            continue;
        w.ticks = stops_ticks();
        stop_now(t, &w);
        return;
    }
}

/* A step that leads into a gap ends behind it, in whichever thread that is. A scan has noted the
 * moment before it. */
void stops_behind_gap(struct thread *t)
{
    if (access_under_way.thread)
        access_under_way.thread = NULL;
    tell_written(t, STAGE_BEFORE);
    if (step.thread && !(run.flags & RUN_SCAN))
        step_is_done(t);
}

void stops_signal_always(struct thread *t, int sig, const void *info)
{
    struct mailbox_what w = {.reason = STOP_SIGNAL, .number = sig, .at = moment(t, STAGE_SIGNAL)};
    if (info)
        memcpy(w.siginfo, info, sizeof w.siginfo);
    else
        memcpy(w.siginfo, &sig, sizeof sig);
    hit(t, &w);
}

static bool same_place(const struct mailbox_moment *a, const struct mailbox_moment *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

/* The access under way did not happen: it faults; of a string, a part may have. Unless it was the
 * frame of a signal, and here is the next one. */
static void forget_access(struct thread *t)
{
    const struct mailbox_moment now = moment(t, STAGE_SIGNAL);
    const bool noted = same_place(&before_access.at, &now);
    access_done(t, STAGE_SIGNAL);
    const struct mailbox_watch *part = noted || access_under_way.thread == t ? find_part(t) : NULL;
    before_access.at.thread = 0;
    if (noted && part) {
        last_hit.kind = part->kind;
        last_hit.addr = part->addr;
    } else if (noted) {
        last_hit = before_access.hit;
    }
    if (access_under_way.thread != t)
        return;
    access_under_way.thread = NULL;
    access_under_way.watch = part;
    if (part)
        tell_access(t, STAGE_SIGNAL);
}

void stops_signal(struct thread *t, int sig, const void *info)
{
    forget_access(t);
    const struct mailbox_moment last = signal_told;
    signal_told = moment(t, STAGE_SIGNAL);
    if (same_place(&last, &signal_told))
        return; /* the same one: a fault that ends the program */
    if (!goal(t, STAGE_SIGNAL) && counts(t) && stops_wants_signal(sig))
        stops_signal_always(t, sig, info);
}

/* Two pieces: what is between them is padding. A scan notes the moment of the signal. */
static void frame_written(struct thread *t, int sig, gaddr handler)
{
    struct ksigframe frame;
    const gaddr at = t->cpu.gpr[RSP];
    (void)sig;
    (void)handler;
    leave_for_signal(t);
    if (!stops.watches || !counts(t) || !engine_read(&frame, at, sizeof frame))
        return;
    const uint64_t bytes = fpstate_bytes() + (fpstate_features() ? 4 : 0);
    const struct mailbox_watch *w = find_watch(at, sizeof frame, false, true);
    w = w ? w : find_watch(frame.uc.mc.fpstate, bytes, false, true);
    struct mailbox_what what = {.reason = STOP_WATCH, .at = signal_told};
    if (!w)
        return;
    what.kind = w->kind;
    what.addr = w->addr;
    if (run.flags & RUN_SCAN)
        hit(t, &what);
    else
        await_access(t, w);
}

/* ---- the tool ---- */

static unsigned choose(const struct insn *in, bool first)
{
    (void)first;
    return (find_break(in->pc) || fence_has_post(in->pc) ? PROBE_BEFORE : 0) | watch_wants(in);
}

static void probe(struct thread *t, const struct probe *p)
{
    if (t->calling || !counts(t))
        return;
    if ((p->what & PROBE_BEFORE) && !at_post(t))
        at_break(t);
    if (p->what & (PROBE_WATCH | PROBE_MEMORY))
        at_access(t, p);
}

static void lost_thread(struct thread *t)
{
    stops_lost_thread(t);
}

static const struct instrument tool = {.select = choose,
                                       .probe = probe,
                                       .position = stops_at_position,
                                       .step = one_step,
                                       .signal = frame_written,
                                       .thread_exit = lost_thread,
                                       .sparse = true};

static void set_watches(const struct mailbox_stops *s)
{
    struct watch_range range[WATCH_RANGES];
    if (s->watches == stops.watches &&
        !memcmp(s->watch, stops.watch, sizeof *s->watch * s->watches))
        return;
    for (uint32_t i = 0; i < s->watches; i++)
        range[i] = (struct watch_range){.addr = s->watch[i].addr,
                                        .bytes = s->watch[i].bytes,
                                        .write = s->watch[i].kind & 1,
                                        .read = s->watch[i].kind & 2};
    watch_set(range, (int)s->watches);
    instrument_changed(0, 1ull << 47);
}

/* Drops translations where a breakpoint comes or goes: both lists are sorted. */
static void drop_changed(const struct mailbox_break *list, uint32_t n)
{
    uint32_t i = 0, k = 0;
    while (i < break_count || k < n) {
        gaddr old = i < break_count ? breaks[i].pc : ~0ull, new = k < n ? list[k].pc : ~0ull;
        if (old != new)
            instrument_changed(old < new ? old : new, (old < new ? old : new) + 1);
        i += old <= new;
        k += new <= old;
    }
}

bool stops_set(const struct mailbox *box)
{
    const struct mailbox_stops *s = (const struct mailbox_stops *)box->data;
    const struct mailbox_break *list = (const struct mailbox_break *)(s + 1);
    const uint8_t *bytes = (const uint8_t *)(list + s->breaks);
    if (s->breaks > BREAKS || s->watches > STOP_MAX_WATCHES || s->condition_bytes > CONDITIONS)
        return false;
    if (!breaks) {
        breaks = range_alloc(BREAKS * sizeof *breaks);
        conditions = range_alloc(CONDITIONS);
        trail = range_alloc(MAILBOX_TRAIL * sizeof *trail);
        instrument_install(&tool);
    }
    set_watches(s);
    drop_changed(list, s->breaks);
    break_count = s->breaks;
    memcpy(breaks, list, s->breaks * sizeof *list);
    memcpy(conditions, bytes, s->condition_bytes);
    stops = *s;
    return true;
}

void stops_run(struct thread *self, const struct mailbox_run *r)
{
    run = *r;
    if (!instrument)
        instrument_install(&tool);
    if (!(run.flags & RUN_ON)) {
        last_hit.reason = 0;
        before_access.at.thread = 0;
        trail_end = 0;
        beginner = NULL;
        step.made = 0;
        if (!(run.flags & RUN_FENCE))
            fence_drop();
    }
    access_under_way.thread = NULL;
    engine_stop_at(NULL, 0, 0);
    instrument_hear(self, self->cpu.rip, PROBE_BEFORE);
    for (struct thread *t = engine.threads; t; t = t->next)
        t->step &= (uint8_t) ~(STEP_TOOL | STEP_POSITION);
    if (beginner)
        beginner->step |= STEP_TOOL;
    struct thread *t = run.goal.thread ? post_thread(run.goal.thread) : NULL;
    if (t)
        engine_stop_at(t, run.goal.count, run.goal.pc);
    step.thread = run.step_thread ? post_thread(run.step_thread) : NULL;
    if (!step.thread)
        return;
    step.count = thread_count(step.thread);
    step.pc = step.thread->cpu.rip;
    step.thread->step |= STEP_TOOL;
}

uint64_t stops_trail(struct mailbox_moment *out)
{
    uint64_t n = trail_end < MAILBOX_TRAIL ? trail_end : MAILBOX_TRAIL;
    for (uint64_t i = 0; i < n; i++)
        out[i] = trail[(trail_end - n + i) % MAILBOX_TRAIL];
    return n;
}
