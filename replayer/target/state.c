/* state.c - the whole state of a program in the middle of its run, told and taken.
 *
 * SPDX-License-Identifier: MIT
 *
 * A part of a recording begins with it (pinball/record.h, RECORD_PROCESS). The process tells what
 * it alone knows: address space, processes, threads. Memory is copied by the supervisor, which can
 * see which pages there are. One kernel thread replays all threads, and a thread that does not run
 * is described by its struct: so there is nothing else to tell.
 */
#include "replayer/target/state.h"

#include "debug/target/post.h"
#include "debug/target/records.h"
#include "debug/target/tell.h"
#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/fpstate.h"
#include "engine/os/kernel.h"
#include "engine/os/maps.h"
#include "engine/os/threads.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/changes.h"
#include "replayer/target/cursor.h"
#include "replayer/target/output.h"
#include "replayer/target/space.h"

/* ---- telling: records to the supervisor ---- */

static struct sink_writer out;

/* A record of so many bytes, to be filled in and committed. */
static void *put(enum record_kind kind, uint64_t bytes)
{
    return sink_begin(&out, kind, bytes);
}

static void tell_object_data(struct sink_writer *to_sink, uint32_t number, int fd, uint64_t from,
                             uint64_t to)
{
    enum { WINDOW = 32 << 10 };
    uint8_t *window = range_alloc(WINDOW);
    for (uint64_t at = PAGE_DOWN(from); at < to; at += WINDOW) {
        const uint64_t n = to - at < WINDOW ? to - at : WINDOW;
        long r =
            sys6(__NR_mmap, (long)window, WINDOW, PROT_READ, MAP_SHARED | MAP_FIXED, fd, (long)at);
        if (SYS_FAILED(r))
            post_failed("shared memory %u: error %ld", number, -r);
        struct record_object *o = sink_begin(to_sink, RECORD_OBJECT, sizeof *o + ((n + 7) & ~7ull));
        o->object = number;
        o->offset = at;
        o->bytes = n;
        memcpy(o + 1, window, n);
        sink_commit(to_sink);
    }
    range_free(window, WINDOW);
}

/* Tells only the data of memory that is mostly holes. */
void state_tell_object(struct sink_writer *to, uint32_t number, int fd, uint64_t bytes)
{
    enum { DATA = 3, HOLE = 4 };
    struct record_size *s = sink_begin(to, RECORD_SIZE, sizeof *s);
    s->object = number;
    s->size = bytes;
    sink_commit(to);
    for (uint64_t at = 0; at < bytes;) {
        long data = sys3(__NR_lseek, fd, (long)at, DATA);
        long hole = data < 0 ? data : sys3(__NR_lseek, fd, data, HOLE);
        if (data == -ENXIO)
            return;
        if (hole < 0)
            post_failed("shared memory %u: error %ld", number, -hole);
        at = (uint64_t)hole < bytes ? (uint64_t)hole : bytes;
        tell_object_data(to, number, fd, (uint64_t)data, at);
        if (at == bytes && at % PAGE_BYTES) /* the program may have stored behind the end */
            tell_object_data(to, number, fd, at, PAGE_UP(at));
    }
}

static void tell_range(gaddr start, uint64_t bytes)
{
    struct record_range *r = put(RECORD_RANGE, sizeof *r);
    r->start = start;
    r->bytes = bytes;
    sink_commit(&out);
}

/* The format has no terminals. */
static void tell_output(long fd, int to)
{
    if (to == OUTPUT_TERMINAL)
        return;
    struct record_output *o = put(RECORD_OUTPUT, sizeof *o);
    o->fd = (int32_t)fd;
    o->to = (uint32_t)to;
    sink_commit(&out);
}

void state_tell_space(void)
{
    struct record_map map;
    uint64_t bytes;
    int fd;
    sink_open(&out, &records_sink);
    cursor_ranges(tell_range);
    output_high(tell_output);
    for (uint32_t n = 1; space_object_get(n, &fd, &bytes); n++)
        if (fd >= 0)
            state_tell_object(&out, n, fd, bytes);
    for (int i = 0; space_area(i, &map); i++) {
        struct record_map *m = put(RECORD_MAP, sizeof *m);
        map.r = m->r;
        map.r.flags = MAP_AS_IS;
        *m = map;
        sink_commit(&out);
    }
    sink_end(&out);
}

static void tell_about(struct record_process *r, bool side)
{
    space_heap(&r->heap_start, &r->heap_end);
    memcpy(r->leads_to, side ? output_child_table() : output_table(), sizeof r->leads_to);
    for (size_t i = 0; i < sizeof r->leads_to; i++)
        r->leads_to[i] = r->leads_to[i] == OUTPUT_TERMINAL ? 0 : r->leads_to[i];
}

void state_tell_changes(void)
{
    sink_open(&out, &records_sink);
    changes_tell(&out);
    sink_end(&out);
}

void state_tell_threads(struct thread *self)
{
    const struct tell tell = {.out = &out, .self = self, .process = tell_about};
    sink_open(&out, &records_sink);
    tell_threads(&tell);
    sink_end(&out);
}

/* ---- taking: records of a begin ---- */

static struct {
    const struct record_process *process; /* of the threads that come; a copy */
    uint32_t left;                        /* of its threads */
    struct process *shared;               /* of the threads that are no side processes */
    bool runs;                            /* the running one is there */
} taking;

static struct record_process current;

static void set_actions(struct process *p, const struct record_process *r)
{
    for (int i = 1; i <= SIG_MAX; i++)
        p->action[i] = (struct ksigaction){r->action[i].handler, r->action[i].flags,
                                           r->action[i].restorer, r->action[i].mask};
    p->pid = r->pid;
    p->held.set = 0;
}

void state_take_process(struct thread *t, const struct record_process *r)
{
    if (taking.left || !r->threads || r->threads > r->made)
        post_failed("the initial state holds a process without threads");
    current = *r;
    taking.process = &current;
    taking.left = r->threads;
    if (r->r.flags & PROCESS_SIDE) {
        output_child();
        memcpy(output_child_table(), r->leads_to, sizeof r->leads_to);
        return;
    }
    if (!fpstate_restrict(r->features))
        post_failed("this CPU lacks vector registers that the recorded one had");
    t->number = 0; /* it stands for none of them yet */
    taking.shared = t->process;
    set_actions(t->process, r);
    engine.total_ticks = r->ticks;
    engine.threads_made = r->made;
    memcpy(output_table(), r->leads_to, sizeof r->leads_to);
    space_begin(r->heap_start, r->heap_end);
    maps_vdso(r->vdso);
}

/* A struct for it; the running one has the struct that the runtime started with. */
static struct thread *make(struct thread *first, const struct record_state *s)
{
    const uint32_t made = engine.threads_made;
    struct thread *t = s->r.flags & STATE_RUNS ? first : threads_new();
    if (!t)
        post_failed("no memory for thread %u", s->thread);
    engine.threads_made = made;
    t->number = s->thread;
    t->process = taking.shared;
    if (taking.process->r.flags & PROCESS_SIDE) {
        if (!t->own_process)
            t->own_process = range_heap(sizeof *t->own_process);
        t->process = t->own_process;
        set_actions(t->process, taking.process);
        engine.side_processes++;
        t->detached = taking.process->r.flags & PROCESS_DETACHED;
    }
    return t;
}

static void set_registers(struct thread *t, const struct record_state *s)
{
    memcpy(t->cpu.gpr, s->gpr, sizeof s->gpr);
    t->cpu.rip = s->at.pc;
    t->cpu.rflags = s->rflags;
    t->fs_base = s->fs_base;
    t->gs_base = s->gs_base;
    t->limit = s->at.count;
    t->left = 0;
    memset(t->xsave, 0, sizeof t->xsave); /* of a CPU with fewer of them */
    memcpy(t->xsave, s + 1, s->vector_bytes);
}

/* Everything but its place among the others; `child` is still a number. */
static void set_all(struct thread *t, const struct record_state *s)
{
    set_registers(t, s);
    t->mask = s->mask;
    t->wait_mask = s->wait_mask;
    t->altstack = (struct sigstack){s->altstack, s->altstack_flags, s->altstack_bytes};
    t->clear_tid = s->clear_tid;
    t->start_tid = s->start_tid;
    t->robust_list = s->robust_list;
    t->tid = s->tid;
    memcpy(t->name, s->name, sizeof t->name);
    t->calling = s->r.flags & STATE_CALLING;
    t->no_tsc = s->r.flags & STATE_NO_TSC;
    t->has_wait_mask = s->r.flags & STATE_WAITS;
    t->trap = s->r.flags & STATE_TRAPS;
    t->trap_armed = s->r.flags & STATE_ARMED;
    t->ticked = s->r.flags & STATE_TICKED;
    t->reads_execute = s->r.flags & STATE_READS_EXECUTE;
    t->child = (struct thread *)(uint64_t)s->child;
}

/* Sorted, as if they had been made in that order: the newest first. */
static void list_in_order(struct thread *t)
{
    struct thread **at = &engine.threads;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    for (at = &engine.threads; *at && (*at)->number > t->number; at = &(*at)->next)
        ;
    t->next = *at;
    *at = t;
}

/* Until now, `child` was the number of the thread that the call is making. */
static void set_children(void)
{
    for (struct thread *t = engine.threads; t; t = t->next) {
        const uint64_t number = (uint64_t)t->child;
        t->child = number ? post_thread(number) : NULL;
        if (number && !t->child)
            post_failed("the initial state holds no thread %lu", number);
    }
}

static void check_vectors(const struct record_state *s)
{
    if (s->vector_bytes > XSAVE_BYTES || s->vector_bytes > s->r.bytes - sizeof *s)
        post_failed("a state holds %lu bytes of vector registers", s->vector_bytes);
}

bool state_take_thread(struct thread *first, const struct record_state *s)
{
    if (!taking.left || !taking.shared)
        post_failed("the initial state holds a thread without a process");
    check_vectors(s);
    const bool runs = s->r.flags & STATE_RUNS;
    if (!s->thread || s->thread > engine.threads_made || post_thread(s->thread) ||
        (runs && taking.runs))
        post_failed("the initial state holds thread %u twice, or too many", s->thread);
    taking.runs |= runs;
    struct thread *t = make(first, s);
    set_all(t, s);
    list_in_order(t);
    if (--taking.left || !(taking.process->r.flags & PROCESS_LAST))
        return false;
    if (!taking.runs)
        post_failed("the initial state holds no thread that runs");
    set_children();
    threads_become(first);
    fpstate_load(first, fpstate_features());
    return true;
}

/* ---- taking: a state in the middle ---- */

static void to_number(struct thread *t)
{
    t->child = (struct thread *)(uint64_t)(t->child ? t->child->number : 0);
}

void state_change_begin(void)
{
    for (struct thread *t = engine.threads; t; t = t->next)
        to_number(t);
    taking.process = NULL;
    taking.shared = NULL;
    for (struct thread *t = engine.threads; t; t = t->next)
        if (!threads_is_side(t))
            taking.shared = t->process;
}

void state_change_process(const struct record_process *r)
{
    current = *r;
    taking.process = &current;
    if (r->r.flags & PROCESS_SIDE) {
        memcpy(output_child_table(), r->leads_to, sizeof r->leads_to);
        return;
    }
    if (!taking.shared)
        post_failed("event %lu: not a record", cursor_number());
    set_actions(taking.shared, r);
    memcpy(output_table(), r->leads_to, sizeof r->leads_to);
}

static struct thread *make_changed(const struct record_state *s)
{
    const bool side = taking.process && (taking.process->r.flags & PROCESS_SIDE);
    struct thread *t = threads_new();
    if (!t)
        post_failed("no memory for thread %u", s->thread);
    t->number = s->thread;
    t->process = taking.shared;
    if (side) {
        if (!t->own_process)
            t->own_process = range_heap(sizeof *t->own_process);
        t->process = t->own_process;
        engine.side_processes++;
        t->detached = taking.process->r.flags & PROCESS_DETACHED;
    }
    list_in_order(t);
    return t;
}

struct thread *state_change_thread(const struct record_state *s, bool *is_new)
{
    check_vectors(s);
    struct thread *t = s->thread ? post_thread(s->thread) : NULL;
    *is_new = !t || !t->tid;
    if (!s->thread || !taking.shared)
        post_failed("event %lu: not a record", cursor_number());
    if (!t)
        t = make_changed(s);
    if (threads_is_side(t) && taking.process && (taking.process->r.flags & PROCESS_SIDE))
        set_actions(t->process, taking.process);
    set_all(t, s);
    return t;
}

void state_change_end(void)
{
    set_children();
}
