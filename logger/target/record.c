/* record.c - notes down, inside the target, what a replay cannot recompute.
 *
 * SPDX-License-Identifier: MIT
 *
 * The functions below are called by the engine (core/session.h) at the moment something happens, by
 * the thread that has the baton. Invariants a replay relies on:
 *  1. The order of records is the order of execution. A thread that takes the baton after another
 *     one says so first (RECORD_SWITCH).
 *  2. A record belongs to the system call or instruction the running thread is at, or carries the
 *     tick at which it has to be dealt with (AT_TICK, RECORD_YIELD, RECORD_CHECK).
 *  3. Memory that the kernel wrote is copied from the target after the call, with the baton held,
 *     so nobody can have changed it since.
 *  4. A call that does not return (exit, sigreturn) is noted before it happens, any other one
 * after.
 */
#include "logger/target/record.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/effects.h"
#include "engine/os/kernel.h"
#include "engine/os/kinds.h"
#include "engine/os/syscalls.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/x86/insn.h"
#include "logger/target/log.h"
#include "logger/target/mapped.h"
#include "logger/target/outputs.h"
#include "logger/target/partial.h"
#include "logger/target/region.h"
#include "logger/target/snapshot.h"
#include "pinball/marks.h"

enum { SMALL_EFFECT = 2048, EFFECTS = 48 };

static struct {
    uint32_t last;       /* number of the thread that ran last */
    uint64_t last_check; /* its count when its registers were last noted */
    bool yields;         /* it has given its turn away, and nobody has come to have one since */
    struct record_check yield; /* ... there */
} now;

static const struct sink *sink;

/* ---- start ---- */

/* Those of the time before the part that is recorded. */
enum { FAR_RANGES = 256 };
static struct range far[FAR_RANGES];
static size_t fars;

static void remember_range(gaddr start, uint64_t bytes)
{
    if (fars < FAR_RANGES)
        far[fars++] = (struct range){start, start + bytes};
}

static void far_range(gaddr start, uint64_t bytes)
{
    if (log_over())
        return;
    struct record_range *r = log_begin(RECORD_RANGE, sizeof *r);
    r->start = start;
    r->bytes = bytes;
    log_commit();
}

void record_open(void)
{
    log_open(sink);
    range_far = far_range;
}

void record_ranges(void)
{
    for (size_t i = 0; i < fars; i++)
        far_range(far[i].start, far[i].end - far[i].start);
}

static void prepare(void)
{
    sink = log_ring_open(engine.opt.record_fd);
    range_far = remember_range;
    if (!region_prepare())
        record_open();
}

static void start(struct thread *t)
{
    region_start(t);
    snapshot_write(t);
    now.last = t->number;
}

/* ---- threads and ticks ---- */

static struct record_at here(const struct thread *t, uint64_t hash)
{
    return (struct record_at){.count = thread_count(t), .pc = t->cpu.rip, .hash = hash};
}

static void fill_check(struct record_check *c, struct thread *t)
{
    c->at = here(t, session_hash_all(t));
    now.last_check = c->at.count;
}

void record_begin(struct thread *t)
{
    for (struct thread *o = engine.threads; o; o = o->next) {
        o->entry_hash = session_hash(o); /* of those that are in a call */
        o->call_noted = false;
    }
    now.last = t->number;
    now.last_check = thread_count(t);
    now.yields = false;
}

static void note_yield(void)
{
    if (now.yields && !log_over()) {
        struct record_check *c = log_begin(RECORD_YIELD, sizeof *c);
        c->r.flags = now.yield.r.flags;
        c->at = now.yield.at;
        log_commit();
    }
    now.yields = false;
}

/* A thread may have its own turn back: all others rest, or the one that was to have it was killed.
 * Then it has not yielded. */
static void note_switch(struct thread *t)
{
    if (now.last == t->number)
        now.yields = false;
    if (now.last == t->number || log_over() || !now.last)
        return;
    note_yield();
    struct record_switch *s = log_begin_timed(RECORD_SWITCH, sizeof *s);
    s->thread = t->number;
    s->pad = 0;
    log_commit();
    now.last = t->number;
    now.last_check = thread_count(t);
}

void record_switch(struct thread *t)
{
    note_switch(t);
}

uint32_t record_last(void)
{
    return now.last;
}

static void running(struct thread *t)
{
    note_switch(t);
    region_running(t);
}

static void thread(struct thread *t, struct thread *child)
{
    region_thread(t, child);
    struct record_thread *r = log_begin_timed(RECORD_THREAD, sizeof *r);
    r->thread = child->number;
    r->pad = 0;
    log_commit();
}

static void begin(struct thread *t)
{
    struct record_begin *r = log_begin_timed(RECORD_BEGIN, sizeof *r);
    r->thread = t->number;
    r->tid = t->tid;
    r->pid = t->process->pid;
    r->pad = 0;
    log_commit();
}

static void forked(struct thread *t)
{
    (void)t;
    log_leave();
    region_forked();
    session = NULL;
    range_far = NULL;
}

static void tick(struct thread *t)
{
    if (region_tick(t) || log_over() || thread_count(t) - now.last_check < engine.opt.check)
        return;
    fill_check(log_begin_timed(RECORD_CHECK, sizeof(struct record_check)), t);
    log_commit();
    log_ring()->isa |= insn_isa_used;
    log_look_after();
    snapshot_hash(t, false, 0);
}

static void yield(struct thread *t)
{
    if (log_over())
        return;
    now.yield.r.flags = (uint8_t)((t->between ? BETWEEN : 0) | (t->baton_spun ? YIELD_SPINS : 0));
    fill_check(&now.yield, t);
    now.yields = true;
}

/* The count is the last that is known: its code keeps it in memory. */
static void killed(struct thread *t)
{
    if (log_over() || now.last != t->number)
        return;
    note_yield();
    struct record_check *c = log_begin(RECORD_YIELD, sizeof *c);
    c->r.flags = KILLED;
    c->at = here(t, 0);
    if (t != thread_self())
        c->at.pc = 0;
    log_commit();
}

_Static_assert((int)SESSION_EXIT == (int)END_EXIT && (int)SESSION_SIGNAL == (int)END_SIGNAL &&
                   (int)SESSION_EXEC == (int)END_EXEC,
               "a way to end has one number");

static void note_end(struct thread *t, enum end_reason how, int status, uint8_t flags)
{
    if (log_over())
        return;
    note_yield();
    log_ring()->isa |= insn_isa_used;
    if (how != END_EXEC) {
        mapped_ends();
        snapshot_hash(t, true, flags);
    }
    struct record_end *e = log_begin_timed(RECORD_END, sizeof *e);
    e->r.flags = flags;
    e->at = here(t, session_hash(t));
    e->ticks = engine.total_ticks;
    for (struct thread *o = engine.threads; o; o = o->next)
        e->ticks += thread_count(o);
    e->reason = (uint32_t)how;
    e->status = how == END_EXIT ? status & 0xff : status;
    log_commit();
}

static void end(struct thread *t, enum session_end how, int status)
{
    note_end(t, (enum end_reason)how, status, 0);
}

void record_end_part(struct thread *t)
{
    note_end(t, END_REGION, 0, BETWEEN);
    log_end();
    range_far = region_more() ? remember_range : NULL;
}

static int exec(struct thread *t)
{
    (void)t;
    region_exec();
    return log_over() ? -1 : log_again();
}

/* ---- system calls ---- */

enum { CALL_NOTED_BEFORE = 1, CALL_WRITES = 2, CALL_LEARNED = 4, CALL_FORKS = 8, CALL_DOES = 16 };

static uint8_t known_traits[512];

__attribute__((noinline)) static unsigned learn_traits(long nr)
{
    const struct call_info *c = call_info(nr);
    const enum call_does does = kinds_of(nr).does;
    unsigned found = CALL_LEARNED | (effects_may_write(nr) ? CALL_WRITES : 0);
    if (c && (c->replay == REPLAY_SAME || does == DOES_ENDS_THREAD || does == DOES_ENDS_PROCESS))
        found |= CALL_NOTED_BEFORE;
    if (does == DOES_FORKS || does == DOES_CLONES || does == DOES_CLONES_BY)
        found |= CALL_FORKS;
    if (does != DOES_0 && does < DOES_FORKS) /* to descriptors, files, maps */
        found |= CALL_DOES;
    if (nr >= 0 && nr < (long)ARRAY_LEN(known_traits))
        known_traits[nr] = (uint8_t)found;
    return found;
}

/* What kind of call it is, from the tables, looked up once: most calls write no memory, and many
 * do nothing to files and maps. */
static inline unsigned traits(long nr)
{
    if (nr >= 0 && nr < (long)ARRAY_LEN(known_traits) && known_traits[nr])
        return known_traits[nr];
    return learn_traits(nr);
}

/* Memory that a call wrote, as far as it is small; the rest is logged at once. */
struct effects {
    int count;
    uint64_t bytes; /* in the record */
    struct {
        gaddr addr;
        uint64_t bytes;
    } e[EFFECTS];
};

static void add_effect(void *arg, gaddr addr, uint64_t bytes)
{
    struct effects *f = arg;
    if (!bytes)
        return;
    if (bytes > SMALL_EFFECT || f->count == EFFECTS) {
        log_data(addr, bytes, 0);
        return;
    }
    f->e[f->count].addr = addr;
    f->e[f->count++].bytes = bytes;
    f->bytes += 16 + ((bytes + 7) & ~7ull);
}

static uint64_t *put_effects(uint64_t *at, const struct effects *f)
{
    for (int i = 0; i < f->count; i++) {
        uint64_t bytes = f->e[i].bytes, room = (bytes + 7) & ~7ull;
        at[0] = f->e[i].addr;
        at[1] = bytes;
        at += 2;
        if (room)
            at[room / 8 - 1] = 0;
        if (engine_copy(at, (const void *)f->e[i].addr, bytes))
            at[-1] = 0, room = 0; /* the table says more than there is */
        at += room / 8;
    }
    return at;
}

static void write_call(struct thread *t, long nr, long result, const struct effects *f,
                       const struct record_map *map, int output)
{
    const uint64_t map_bytes = map ? sizeof *map - sizeof map->r : 0;
    struct record_call *c = log_begin(RECORD_CALL, sizeof *c + map_bytes + f->bytes);
    c->r.nr = (uint16_t)nr;
    c->r.flags = output == 1 ? CALL_TO_1 : output == 2 ? CALL_TO_2 : 0;
    c->hash = t->entry_hash;
    c->result = result;
    uint64_t *at = (uint64_t *)(c + 1);
    if (map) {
        c->r.flags |= CALL_MAP;
        memcpy(at, &map->start, map_bytes);
        at += map_bytes / 8;
    }
    const uint64_t *stop = (uint64_t *)((uint8_t *)c + c->r.bytes);
    at = put_effects(at, f);
    while (at < stop) { /* something could not be read: an empty effect takes its place */
        at[0] = 0;
        if (at + 1 < stop)
            at[1] = 0;
        at += 2;
    }
    log_commit();
}

static void entering(struct thread *t)
{
    if (region_call(t, (int32_t)t->cpu.gpr[RAX])) {
        t->calling = true;
        if (region_is_on())
            entering(t);
        return;
    }
    t->entry_hash = session_hash(t);
    t->call_noted = false;
    t->calling = true;
}

static void making(struct thread *t, long nr)
{
    if (log_over())
        return;
    const unsigned kind = traits(nr);
    if (kind & CALL_FORKS)
        mapped_forks(nr, t);
    if (!(kind & CALL_NOTED_BEFORE))
        return;
    struct record_call *c = log_begin(RECORD_CALL, sizeof *c);
    c->r.nr = (uint16_t)nr;
    c->r.flags = CALL_SAME;
    c->hash = t->entry_hash;
    c->result = 0;
    log_commit();
    t->call_noted = true;
}

static void wrote(struct thread *t, gaddr addr, uint64_t bytes)
{
    (void)t;
    log_data(addr, bytes, 0);
}

static bool refuses(struct thread *t, long nr, const long a[6])
{
    (void)t;
    return (traits(nr) & CALL_DOES) && !log_over() && mapped_unseen_output(nr, a);
}

static void called(struct thread *t, long nr, long result)
{
    t->calling = false;
    if (log_over() || t->call_noted || result == SYSCALL_NO_RESULT)
        return;
    const uint64_t *g = t->cpu.gpr;
    const long a[6] = {(long)g[RDI], (long)g[RSI], (long)g[RDX],
                       (long)g[R10], (long)g[R8],  (long)g[R9]};
    struct effects f;
    f.count = 0;
    f.bytes = 0;
    struct record_map map;
    const unsigned kind = traits(nr);
    if (kind & CALL_WRITES)
        effects_written(nr, a, result, add_effect, &f);
    if (kind & CALL_DOES) {
        if (SYS_FAILED(result))
            partial_note(nr, a, -result);
        bool mapped = mapped_after(t, nr, a, result, &map);
        write_call(t, nr, result, &f, mapped ? &map : NULL, outputs_opened(nr, a, result));
        mapped_contents();
    } else {
        write_call(t, nr, result, &f, NULL, 0);
    }
    region_called(t, nr, result);
    mapped_shared();
    log_last(t);
}

static void restarted(struct thread *t)
{
    t->calling = false;
    if (log_over())
        return;
    struct record_check *c = log_begin(RECORD_RESTART, sizeof *c);
    c->at = here(t, t->entry_hash);
    log_commit();
}

/* ---- signals and values ---- */

static void signal(struct thread *t, const struct siginfo_raw *info)
{
    if (region_signal(t, info->sig)) {
        region_signal_again(t, info);
        return;
    }
    if (log_over())
        return;
    struct record_signal *s = log_begin(RECORD_SIGNAL, sizeof *s);
    s->r.flags = (uint8_t)((t->at_tick ? AT_TICK : 0) | (t->has_wait_mask ? MASKED : 0));
    s->at = here(t, session_hash(t));
    s->rflags = t->cpu.rflags;
    s->mask = t->has_wait_mask ? t->wait_mask : 0;
    memcpy(s->info, info, sizeof s->info);
    log_commit();
}

static void fault(struct thread *t)
{
    if (region_signal(t, t->fault.info.sig)) {
        if (region_is_on())
            fault(t);
        return;
    }
    if (log_over())
        return;
    const struct fault *f = &t->fault;
    struct record_fault *r = log_begin(RECORD_FAULT, sizeof *r);
    r->at = here(t, session_hash(t));
    r->rflags = t->cpu.rflags;
    r->trapno = f->trapno;
    r->error = f->error;
    r->cr2 = f->cr2;
    r->forced = f->forced;
    memcpy(r->info, &f->info, sizeof r->info);
    log_commit();
}

static void values(struct thread *t, const struct cpu_state *before)
{
    uint64_t v[GPR_COUNT + 1], mask = 0;
    int n = 0;
    if (log_over())
        return;
    for (int i = 0; i < GPR_COUNT; i++)
        if (t->cpu.gpr[i] != before->gpr[i])
            mask |= 1u << i, v[n++] = t->cpu.gpr[i];
    if (t->cpu.rflags != before->rflags)
        mask |= 1u << GPR_COUNT, v[n++] = t->cpu.rflags;
    struct record_values *r = log_begin(RECORD_VALUES, sizeof *r + 8u * (unsigned)n);
    struct cpu_state after = t->cpu;
    t->cpu = *before;
    r->hash = session_hash(t);
    t->cpu = after;
    r->mask = mask;
    memcpy(r + 1, v, 8u * (unsigned)n);
    log_commit();
}

_Static_assert((int)MARK_PLACE == (int)MARKS_PLACE && (int)MARK_REGION_END == (int)MARKS_END &&
                   (int)MARK_TEXT_BYTES == (int)MARKS_TEXT_BYTES,
               "a mark is the same in the log");

static void mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes)
{
    const uint64_t room = (bytes + 7) & ~7ull;
    if (region_mark(t, kind, text, bytes)) {
        if (region_is_on())
            mark(t, kind, text, bytes);
        return;
    }
    if (log_over())
        return;
    struct record_mark *m = log_begin(RECORD_MARK, sizeof *m + room);
    m->r.flags = (uint8_t)kind;
    m->at = here(t, session_hash(t));
    m->bytes = bytes;
    if (room)
        ((uint64_t *)(m + 1))[room / 8 - 1] = 0;
    memcpy(m + 1, text, bytes);
    log_commit();
}

/* ---- with a debugger ---- */

void record_stop(const struct thread *last)
{
    if (log_over())
        return;
    struct record_check *c = log_begin(RECORD_STOP, sizeof *c);
    c->r.flags = last && !last->calling ? AT_TICK : 0;
    c->at = last ? record_here(last) : (struct record_at){0};
    log_commit();
}

struct record_at record_here(const struct thread *t)
{
    return here(t, session_hash(t));
}

const struct session session_record = {
    .prepare = prepare,
    .start = start,
    .running = running,
    .leaves = region_leaves,
    .idle = log_idle,
    .thread = thread,
    .begin = begin,
    .forked = forked,
    .end = end,
    .killed = killed,
    .exec = exec,
    .tick = tick,
    .yield = yield,
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
