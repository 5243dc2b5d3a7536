/* region.c - a recording of a part of the run: what it begins and ends with.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. Until the part begins, a thread that gives the baton away leaves its vector registers and FS
 *    base in its struct, so that the baton's next holder can describe all threads.
 * 2. A trigger stands before what it names. The part begins, or ends, when the thread that holds
 *    the baton comes there, and never while a child of vfork shares the memory: then a bit later.
 * 3. What fires by itself (time, a key) is looked at where the runtime is entered anyway. If all
 *    threads sleep then nothing happens until one wakes up, and that is the same moment.
 */
#include "logger/target/region.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/os/fpstate.h"
#include "engine/os/kinds.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "logger/target/log.h"
#include "logger/target/mapped.h"
#include "logger/target/record.h"
#include "logger/target/snapshot.h"
#include "pinball/trigger.h"

static const struct session session_waiting;

static struct {
    struct trigger_region *what;
    struct trigger *next; /* that is waited for; NULL: none */
    bool on;              /* the part has begun and not ended */
    bool due;             /* the trigger was met where nothing could begin */
    bool counted;         /* the event that is told next is counted already */
    bool counting;        /* instructions are counted */
    struct trigger_counts counts;
    uint32_t first; /* number of the first thread */
    gaddr heap;
} region;

static uint64_t all_ticks(void)
{
    uint64_t ticks = region.counts.ticks + engine.total_ticks;
    for (const struct thread *t = engine.threads; t; t = t->next)
        ticks += thread_count(t);
    return ticks;
}

static bool waits_for(enum trigger_kind kind)
{
    return region.next && region.next->kind == kind;
}

/* Ticks come by themselves only if they are asked for, from the thread that runs. */
static void arm(struct thread *t)
{
    const uint64_t now = waits_for(TRIGGER_TICKS) ? all_ticks() : 0;
    if (!waits_for(TRIGGER_TICKS))
        return;
    if (region.next->number > now)
        engine_stop_at(t, thread_count(t) + region.next->number - now, 0);
    else
        region.due = true;
}

/* ---- begin and end ---- */

static void wait_next(struct thread *t, struct trigger *next)
{
    const bool counted = region.counting;
    region.next = next;
    region.due = false;
    region.counting = waits_for(TRIGGER_ICOUNT) || (next && region.what->to.kind == TRIGGER_ICOUNT);
    if (region.counting != counted)
        instrument_changed(0, 1ull << 47);
    arm(t);
}

static void begin(struct thread *t)
{
    record_open();
    snapshot_part(t, region.heap);
    if (region.what->length) {
        region.what->to.kind = TRIGGER_ICOUNT;
        region.what->to.number = region.counts.executed + region.what->length;
    }
    __atomic_store_n(&region.what->begun, 1, __ATOMIC_RELEASE);
    region.on = true;
    session = &session_record;
    record_begin(t);
    wait_next(t, region.what->to.kind ? &region.what->to : NULL);
}

static void end(struct thread *t)
{
    __atomic_store_n(&region.what->ended, 1, __ATOMIC_RELEASE);
    record_end_part(t);
    region.on = false;
    session = &session_waiting;
    wait_next(t, NULL);
}

/* The trigger is met, here. True: there was room for what it asks for. */
static bool turn(struct thread *t)
{
    region.due = engine.side_processes != 0;
    if (region.due)
        return false;
    if (region.on)
        end(t);
    else
        begin(t);
    return true;
}

struct event {
    enum trigger_kind kind;
    uint64_t number;
    const char *text; /* TRIGGER_MARK: so many bytes */
    size_t bytes;
};

static bool is_of(const struct event *e, const struct trigger *t)
{
    return t->kind == (uint32_t)e->kind && t->number == e->number &&
           (!e->text || (e->bytes < sizeof t->text && !memcmp(t->text, e->text, e->bytes) &&
                         !t->text[e->bytes]));
}

/* Counts for both triggers. True: the one that is waited for was met, and obeyed. */
static bool happens(struct thread *t, const struct event *e)
{
    struct trigger *const both[] = {&region.what->from, &region.what->to};
    bool met = false;
    if (!region.next || region.counted) {
        region.counted = false;
        return false;
    }
    for (int i = 0; i < 2; i++)
        if (is_of(e, both[i]) && ++region.counts.met[i] == both[i]->times && region.next == both[i])
            met = true;
    met = met && turn(t);
    region.counted = met && region.on; /* the one that begins the part is told once more, to it */
    return met;
}

bool region_tick(struct thread *t)
{
    const bool fired =
        waits_for(TRIGGER_FIRED) && __atomic_load_n(&region.next->fired, __ATOMIC_RELAXED);
    return (fired || region.due) && turn(t);
}

void region_running(struct thread *t)
{
    if (region.on || !region_tick(t))
        arm(t);
}

bool region_call(struct thread *t, long nr)
{
    return happens(t, &(struct event){.kind = TRIGGER_CALL, .number = (uint64_t)nr}) ||
           region_tick(t);
}

bool region_signal(struct thread *t, int sig)
{
    return happens(t, &(struct event){.kind = TRIGGER_SIGNAL, .number = (uint64_t)sig});
}

bool region_mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    return happens(t, &(struct event){TRIGGER_MARK, (uint64_t)kind, text, bytes});
}

/* ---- the tool: ticks, instructions, addresses ---- */

static bool is_place(const struct trigger *t, gaddr pc)
{
    return t->kind == TRIGGER_ADDR && t->number == pc;
}

static unsigned choose(const struct insn *in, bool first)
{
    (void)first;
    const bool place =
        region.next && (is_place(&region.what->from, in->pc) || is_place(&region.what->to, in->pc));
    return region.counting || place ? PROBE_BEFORE : 0;
}

static void probe(struct thread *t, const struct probe *p)
{
    happens(t, &(struct event){.kind = TRIGGER_ADDR, .number = p->pc});
    region.counted = false; /* nobody is told of it */
    if (!region.counting || t->number != region.first)
        return;
    if (waits_for(TRIGGER_ICOUNT) && region.counts.executed >= region.next->number)
        turn(t);
    region.counts.executed++;
}

static void at_position(struct thread *t)
{
    if (waits_for(TRIGGER_TICKS))
        turn(t);
}

static const struct instrument tool = {
    .select = choose, .probe = probe, .position = at_position, .sparse = true};

/* ---- the session that waits ---- */

bool region_prepare(void)
{
    region.what = &log_ring()->region;
    region.counts = region.what->counts;
    region.on = region.what->begun && !region.what->ended; /* in the program before an execve */
    if (!region.what->from.kind || region.on)
        return false;
    session = &session_waiting;
    return true;
}

static bool asks_tool(enum trigger_kind kind)
{
    return kind == TRIGGER_TICKS || kind == TRIGGER_ICOUNT || kind == TRIGGER_ADDR;
}

void region_start(struct thread *t)
{
    struct trigger_region *w = region.what;
    if (!w->from.kind)
        return;
    region.first = t->number;
    region.heap = (gaddr)sys1(__NR_brk, 0);
    t->begun = true;
    if ((asks_tool(w->from.kind) || asks_tool(w->to.kind) || w->length) && !instrument_add(&tool))
        rt_die("record: too many tools");
    if (!region.on)
        wait_next(t, &w->from);
    else if (w->to.kind)
        wait_next(t, &w->to);
}

static void leaves(struct thread *t)
{
    if (!region.next)
        return;
    t->fs_base = engine_segments(t).fs;
    fpstate_save(t, fpstate_features());
}

/* A thread that has not begun has its maker's vector registers. */
static void thread(struct thread *t, struct thread *child)
{
    fpstate_save(t, fpstate_features());
    memcpy(child->xsave, t->xsave, fpstate_bytes());
}

static void nothing(struct thread *t)
{
    (void)t;
}

/* The ring is not there. */
void region_forked(void)
{
    region.next = NULL;
    region.counting = false;
}

static void forked(struct thread *t)
{
    (void)t;
    region_forked();
    session = NULL;
}

static void program_ends(struct thread *t, enum session_end how, int status)
{
    (void)t;
    (void)how;
    (void)status;
}

void region_exec(void)
{
    struct trigger_counts *c = &region.what->counts;
    *c = region.counts;
    c->ticks = all_ticks();
}

static int exec(struct thread *t)
{
    (void)t;
    region_exec();
    return region.next ? log_again() : -1;
}

static void tick(struct thread *t)
{
    region_tick(t);
}

static void entering(struct thread *t)
{
    if (region_call(t, (int32_t)t->cpu.gpr[RAX]))
        session->entering(t);
    t->calling = true;
}

static void making(struct thread *t, long nr)
{
    const enum call_does does = kinds_of(nr).does;
    if (does == DOES_FORKS || does == DOES_CLONES || does == DOES_CLONES_BY)
        mapped_forks(nr, t);
}

static void wrote(struct thread *t, gaddr addr, uint64_t bytes)
{
    (void)t;
    (void)addr;
    (void)bytes;
}

static void called(struct thread *t, long nr, long result)
{
    (void)nr;
    (void)result;
    t->calling = false;
}

static bool refuses(struct thread *t, long nr, const long a[6])
{
    (void)t;
    (void)nr;
    (void)a;
    return false;
}

static void restarted(struct thread *t)
{
    t->calling = false;
}

/* A replay that begins here meets the signal as one at a tick. */
static void signal(struct thread *t, const struct siginfo_raw *info)
{
    const bool at_tick = t->at_tick;
    if (!region_signal(t, info->sig))
        return;
    t->at_tick = true;
    session->signal(t, info);
    t->at_tick = at_tick;
}

static void fault(struct thread *t)
{
    if (region_signal(t, t->fault.info.sig))
        session->fault(t);
}

static void values(struct thread *t, const struct cpu_state *before)
{
    (void)t;
    (void)before;
}

static void mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    if (region_mark(t, kind, text, bytes))
        session->mark(t, kind, text, bytes);
}

static const struct session session_waiting = {
    .start = region_start,
    .running = region_running,
    .leaves = leaves,
    .idle = log_idle,
    .thread = thread,
    .begin = nothing,
    .forked = forked,
    .end = program_ends,
    .killed = nothing,
    .exec = exec,
    .tick = tick,
    .yield = nothing,
    .entering = entering,
    .making = making,
    .wrote = wrote,
    .called = called,
    .refuses = refuses,
    .restarted = restarted,
    .signal = signal,
    .fault = fault,
    .values = values,
    .mark = mark,
};
