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
#include "logger/target/places.h"
#include "logger/target/record.h"
#include "logger/target/sentry.h"
#include "logger/target/snapshot.h"
#include "pinball/trigger.h"

static const struct session session_waiting;

void (*region_turns)(const struct session *now);

static struct {
    struct trigger_region *what;
    struct trigger *next; /* that is waited for; NULL: none */
    uint32_t part;        /* that is waited for, or recorded */
    bool on;              /* the part has begun and not ended */
    bool due;             /* the trigger was met where nothing could begin */
    bool counted;         /* the event that is told next is counted already */
    bool counting;        /* instructions are counted */
    struct trigger_counts counts;
    uint32_t first; /* number of the first thread */
    gaddr heap;
    const struct session *now; /* the recorder's, or the one that waits */
} region;

static void use(const struct session *now)
{
    region.now = now;
    if (region_turns)
        region_turns(now);
    else
        session = now;
}

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

/* The number of the trigger that is waited for. */
static uint32_t next_number(void)
{
    return 2 * region.part + region.on;
}

/* They are counted from the start of the run, if at all. */
static bool counts_instructions(void)
{
    for (uint32_t i = next_number(); region.next && i < 2 * region.what->parts; i++)
        if (trigger_of(region.what, i)->kind == TRIGGER_ICOUNT)
            return true;
    return false;
}

/* Waits for the trigger of this number, if there is one. */
static void wait_next(struct thread *t)
{
    const bool counted = region.counting;
    const uint32_t number = next_number();
    struct trigger *next = number < 2 * region.what->parts ? trigger_of(region.what, number) : NULL;
    region.next = next && next->kind ? next : NULL;
    region.due = false;
    region.counting = counts_instructions();
    if (region.counting != counted)
        instrument_changed(0, 1ull << 47);
    arm(t);
}

static void begin(struct thread *t)
{
    struct trigger_part *part = &region.what->part[region.part];
    if (!log_await_part(region.part)) { /* the recorder is gone */
        region.next = NULL;
        return;
    }
    engine.total_ticks += region.counts.ticks; /* the part does not know of programs before it */
    region.counts.ticks = 0;
    mapped_begin();
    record_open();
    snapshot_part(t, region.heap);
    if (part->length) {
        part->to.kind = TRIGGER_ICOUNT;
        part->to.number = region.counts.executed + part->length;
    }
    __atomic_store_n(&region.what->begun, region.part + 1, __ATOMIC_RELEASE);
    region.on = true;
    use(&session_record);
    record_begin(t);
    wait_next(t);
}

static void end(struct thread *t)
{
    __atomic_store_n(&region.what->ended, region.part + 1, __ATOMIC_RELEASE);
    record_end_part(t);
    region.on = false;
    region.part++;
    use(&session_waiting);
    wait_next(t);
}

bool region_is_on(void)
{
    return region.on;
}

bool region_more(void)
{
    return region.what->parts > region.part + 1;
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
    uint32_t triggers; /* TRIGGER_ADDR: bits of those that mean it */
};

static bool is_of(const struct event *e, const struct trigger *t)
{
    return t->kind == (uint32_t)e->kind && t->number == e->number &&
           (!e->text || (e->bytes < sizeof t->text && !memcmp(t->text, e->text, e->bytes) &&
                         !t->text[e->bytes]));
}

/* Counts for all triggers. True: the one that is waited for was met, and obeyed. One part may end
 * where the next one begins. */
static bool happens(struct thread *t, const struct event *e)
{
    uint32_t hits = 0;
    bool met = false;
    if (!region.next || region.counted) {
        region.counted = false;
        return false;
    }
    for (uint32_t i = 0; i < 2 * region.what->parts; i++) {
        const struct trigger *trigger = trigger_of(region.what, i);
        const bool means = e->kind == TRIGGER_ADDR ? e->triggers >> i & 1 : is_of(e, trigger);
        if (means && ++region.counts.met[i] == trigger->times)
            hits |= 1u << i;
    }
    while (region.next && (hits >> next_number() & 1)) {
        hits &= ~(1u << next_number());
        if (!turn(t))
            break;
        met = true;
    }
    region.counted = met && region.on; /* the one that begins the part is told once more, to it */
    return met;
}

/* ---- while all threads sleep ---- */

static bool wants_end(void)
{
    const struct trigger *next = region.next;
    return region.on && next && next->kind == TRIGGER_FIRED && next->fired &&
           !engine.side_processes;
}

/* The thread at whose system call the part ends: the last one that ran, or any that is in one of
 * which nothing is noted. NULL: none is. */
static struct thread *sleeper(void)
{
    struct thread *found = NULL;
    for (struct thread *t = engine.threads; t; t = t->next)
        if (t->calling && !t->call_noted && (!found || t->number == record_last()))
            found = t;
    return found;
}

static void end_asleep(void *arg)
{
    struct thread *t = wants_end() ? sleeper() : NULL;
    (void)arg;
    if (!t)
        return;
    record_switch(t);
    end(t);
}

enum trigger_answer region_ask(struct thread *t, bool on)
{
    if (!waits_for(TRIGGER_ASKED))
        return region.on == on ? TRIGGER_ALREADY : TRIGGER_NO_MORE;
    if (region.on == on) {
        region.due = false; /* of the opposite, which has not come yet */
        return TRIGGER_ALREADY;
    }
    region.due = true;
    if (!t && region.on && !engine.side_processes && (t = sleeper()))
        record_switch(t);
    if (!t || !turn(t))
        return TRIGGER_LATER;
    return region.on == on ? TRIGGER_MET : TRIGGER_NO_MORE;
}

static bool is_due(void)
{
    return region.due ||
           (waits_for(TRIGGER_FIRED) && __atomic_load_n(&region.next->fired, __ATOMIC_RELAXED));
}

/* One part may end where the next one begins. */
bool region_tick(struct thread *t)
{
    bool met = false;
    while (is_due() && turn(t))
        met = true;
    return met;
}

/* A part does not begin with a thread whose own begin is still to be noted. */
void region_running(struct thread *t)
{
    if (region.on || !t->begun || !region_tick(t))
        arm(t);
}

bool region_call(struct thread *t, long nr)
{
    if (!region.next && !region.counted && !region.due)
        return false; /* nothing can happen: most recordings, at each call */
    return happens(t, &(struct event){.kind = TRIGGER_CALL, .number = (uint64_t)nr}) ||
           region_tick(t);
}

bool region_signal(struct thread *t, int sig)
{
    return happens(t, &(struct event){.kind = TRIGGER_SIGNAL, .number = (uint64_t)sig});
}

bool region_mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    return happens(t, &(struct event){TRIGGER_MARK, (uint64_t)kind, text, bytes, 0});
}

void region_called(const struct thread *t, long nr, long result)
{
    if (region.next)
        places_called(t, nr, result);
}

/* ---- the tool: ticks, instructions, places ---- */

static unsigned choose(const struct insn *in, bool first)
{
    (void)first;
    const bool place = region.next && (places_at(in->pc) || places_is_entry(in->pc));
    return region.counting || place ? PROBE_BEFORE : 0;
}

static void probe(struct thread *t, const struct probe *p)
{
    if (places_is_entry(p->pc))
        places_loaded();
    const uint32_t triggers = region.next ? places_at(p->pc) : 0;
    if (triggers)
        happens(t, &(struct event){.kind = TRIGGER_ADDR, .triggers = triggers});
    region.counted = false; /* nobody is told of it */
    if (!region.counting || t->number != region.first)
        return;
    if (waits_for(TRIGGER_ICOUNT) && region.counts.executed >= region.next->number)
        turn(t);
    region.counts.executed++;
}

static void at_position(struct thread *t)
{
    if (!waits_for(TRIGGER_TICKS))
        return;
    region.due = true;
    region_tick(t);
}

static const struct instrument tool = {
    .select = choose, .probe = probe, .position = at_position, .sparse = true};

/* ---- the session that waits ---- */

bool region_prepare(void)
{
    region.what = &log_ring()->region;
    sentry_replace();
    region.counts = region.what->counts;
    region.part = region.what->ended;
    region.on = region.what->begun > region.what->ended; /* in the program before an execve */
    if (!region.what->parts || region.on)
        return false;
    use(&session_waiting);
    return true;
}

static bool asks_tool(void)
{
    struct trigger_region *w = region.what;
    for (uint32_t i = 2 * region.part; i < 2 * w->parts; i++) {
        const uint32_t kind = trigger_of(w, i)->kind;
        if (kind == TRIGGER_TICKS || kind == TRIGGER_ICOUNT || kind == TRIGGER_ADDR ||
            kind == TRIGGER_NAME || w->part[i / 2].length)
            return true;
    }
    return false;
}

static bool ends_from_outside(void)
{
    for (uint32_t i = region.part; i < region.what->parts; i++)
        if (region.what->part[i].to.kind == TRIGGER_FIRED)
            return true;
    return false;
}

void region_start(struct thread *t)
{
    if (!region.what->parts)
        return;
    region.first = t->number;
    region.heap = (gaddr)sys1(__NR_brk, 0);
    t->begun = true;
    if (asks_tool() && !instrument_add(&tool))
        rt_die("record: too many tools");
    places_begin(t);
    wait_next(t);
    if (ends_from_outside())
        sentry_start(wants_end, end_asleep);
    region_tick(t);
}

void region_leaves(struct thread *t)
{
    if (!region.next || (region.on && !region_more()))
        return;
    t->fs_base = engine_segments(t).fs;
    fpstate_save(t, fpstate_features());
}

/* A thread that has not begun has its maker's vector registers. */
void region_thread(struct thread *t, struct thread *child)
{
    if (region.on && !region_more())
        return;
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
    engine.visited = false;
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
        region.now->entering(t);
    t->calling = true;
}

static void making(struct thread *t, long nr)
{
    const enum call_does does = kinds_of(nr).does;
    if (region.next && (does == DOES_FORKS || does == DOES_CLONES || does == DOES_CLONES_BY))
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
    region_called(t, nr, result);
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
void region_signal_again(struct thread *t, const struct siginfo_raw *info)
{
    const bool at_tick = t->at_tick;
    if (!region.on)
        return;
    t->at_tick = true;
    region.now->signal(t, info);
    t->at_tick = at_tick;
}

static void signal(struct thread *t, const struct siginfo_raw *info)
{
    if (region_signal(t, info->sig))
        region_signal_again(t, info);
}

static void fault(struct thread *t)
{
    if (region_signal(t, t->fault.info.sig))
        region.now->fault(t);
}

static void values(struct thread *t, const struct cpu_state *before)
{
    (void)t;
    (void)before;
}

static void mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    if (region_mark(t, kind, text, bytes))
        region.now->mark(t, kind, text, bytes);
}

static const struct session session_waiting = {
    .start = region_start,
    .running = region_running,
    .leaves = region_leaves,
    .idle = log_idle,
    .thread = region_thread,
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
