/* leave.c - a recording with gaps.
 *
 * SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. Until a gap begins, the new recording's replay is in the state of the old one's: so what is
 *    the same there at both ends of the gap need not be told. What is told is read at its end.
 * 2. The records between two gaps are the old ones, and all of them.
 * 3. A place is found by the number of thread switches before it, and position: the thread is
 *    there once between two switches. Switches are records, so the log says how many events there
 *    were at the least.
 * The process may be a stranger's: what it tells ends up in the new recording, whose replay trusts
 * it no more than any other.
 */
#define _GNU_SOURCE
#include "replayer/leave.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "pinball/memory.h"
#include "pinball/records.h"
#include "pinball/statements.h"
#include "pinball/steplist.h"
#include "pinball/text.h"
#include "replayer/derived.h"
#include "replayer/written.h"

/* Where switches are in the log. A gap leads to a thread, too. */
struct switches {
    struct derived log; /* only its pieces that read */
    uint64_t seen;      /* before log.copied */
    uint32_t thread;    /* that the last one led to; 0: none yet */
};

struct leave {
    struct derived d;
    const struct position *from;
    bool ended;
    struct switches switches;
    uint8_t *before; /* threads where the gap begins, as they were told */
    size_t before_bytes, before_room;
    uint8_t *changes; /* of the address space */
    size_t changes_bytes, changes_room;
    int mem;                     /* the process's memory */
    struct written *written;     /* by the gap that is being written */
    struct steplist *statements; /* until the end */
    uint32_t records;            /* of the gap that is being written */
    uint8_t *gap;                /* its records */
    size_t gap_bytes, gap_room;
    uint32_t own; /* the thread in which it begins */
    uint8_t *did; /* behind them */
    size_t did_bytes, did_room;
};

/* ---- places ---- */

/* Goes to behind the switch with this number, counted from 1. */
static int find_switch(struct leave *l, uint64_t number, struct err *err)
{
    struct switches *s = &l->switches;
    while (s->seen < number) {
        const int more = derived_next(&s->log, err);
        if (more <= 0)
            return more ? -1 : err_set(err, "the trace has more switches than the recording");
        if (s->log.next->kind == RECORD_SWITCH &&
            s->log.next->bytes >= sizeof(struct record_switch)) {
            s->seen++;
            s->thread = ((const struct record_switch *)s->log.next)->thread;
        }
        if (s->log.next->kind == RECORD_GAP && s->log.next->bytes >= sizeof(struct record_gap)) {
            s->seen++;
            s->thread = ((const struct record_gap *)s->log.next)->thread;
        }
        s->log.copied++;
    }
    return 0;
}

static int run(struct leave *l, struct mailbox_run *how, struct err *err)
{
    int result = replay_go(l->d.replay, how, err);
    while (!result && replay_stopped(l->d.replay)->what.reason == STOP_EXEC)
        result = replay_exec(l->d.replay, err) || replay_go(l->d.replay, how, err);
    return result || replay_failure(l->d.replay, err) ? -1 : 0;
}

static int go(struct leave *l, const struct leave_at *at, uint64_t tell, struct err *err)
{
    struct mailbox_run how = {.flags = RUN_SINCE | tell};
    char text[POSITION_TEXT];
    if (find_switch(l, at->switches, err) || replay_goal(&at->at, &how.goal, err))
        return -1;
    position_format(&at->at, text);
    if (at->switches && l->switches.thread != at->at.thread)
        return err_set(err, "%s: the trace has another schedule than the recording", text);
    how.goal.events = l->switches.log.copied;
    if (run(l, &how, err))
        return -1;
    return replay_stopped(l->d.replay)->what.reason == STOP_POSITION
               ? 0
               : err_set(err, "%s: the trace has it, but not the recording", text);
}

static uint64_t events(const struct leave *l)
{
    return replay_stopped(l->d.replay)->what.at.events;
}

/* ---- what a gap holds ---- */

static int add(void *arg, const struct record *r, struct err *err)
{
    struct leave *l = arg;
    if (array_reserve(&l->gap, &l->gap_room, l->gap_bytes + r->bytes))
        return err_set(err, "no memory");
    memcpy(l->gap + l->gap_bytes, r, r->bytes);
    l->gap_bytes += r->bytes;
    l->records++;
    return 0;
}

static int copy_state(struct leave *l, uint8_t **to, size_t *bytes, size_t *room, struct err *err)
{
    if (array_reserve(to, room, l->d.state_bytes + 1))
        return err_set(err, "no memory");
    if (l->d.state_bytes)
        memcpy(*to, l->d.state, l->d.state_bytes);
    *bytes = l->d.state_bytes;
    return 0;
}

/* Memory that was written and is there now; `arg` reads it. A trace is told of holes in it. */
static int add_data(void *arg, uint64_t addr, uint64_t bytes, struct err *err)
{
    struct leave *l = arg;
    struct {
        struct record_data d;
        uint8_t data[4096 + 4096 / 8];
    } r = {.d = {.r = {.kind = RECORD_DATA, .flags = GAP_WROTE}, .addr = addr, .bytes = bytes}};
    uint64_t padded = (bytes + 7) & ~7ull;
    if (addr >> 47 || pread(l->mem, r.data, bytes, (off_t)addr) != (ssize_t)bytes)
        return 0; /* it was unmapped since */
    if (!written_mask(l->written, addr, bytes, r.data + padded)) {
        r.d.r.flags |= GAP_HOLES;
        padded += ((bytes + 7) / 8 + 7) & ~7ull;
    }
    r.d.r.bytes = (uint32_t)(sizeof r.d + padded);
    return add(l, &r.d.r, err);
}

/* What calls did to the address space, and what the runtime wrote. */
static int add_changes(struct leave *l, struct written *written, struct err *err)
{
    const uint8_t *stop = l->changes + l->changes_bytes;
    for (const struct record *r = records_first(l->changes, l->changes_bytes); r;
         r = records_next(r, stop)) {
        const struct record_data *d = (const struct record_data *)r;
        if (r->kind != RECORD_DATA) {
            if (add(l, r, err))
                return -1;
        } else if (r->bytes >= sizeof *d && !(d->addr >> 47) && d->bytes < 1ull << 40 &&
                   written_add(written, d->addr, d->bytes))
            return err_set(err, "no memory");
    }
    if (memory_put(replay_pid(l->d.replay),
                   &(struct memory_list){.records = l->changes, .bytes = l->changes_bytes}, add, l,
                   err))
        return -1;
    l->written = written;
    return written_each(written, add_data, l, err);
}

/* ---- threads ---- */

/* The record of a thread, or the first process if `thread` is 0. */
static const struct record *find_state(const uint8_t *list, size_t bytes, uint32_t thread)
{
    for (const struct record *r = records_first(list, bytes); r; r = records_next(r, list + bytes))
        if (thread ? r->kind == RECORD_STATE && r->bytes >= sizeof(struct record_state) &&
                         ((const struct record_state *)r)->thread == thread
                   : r->kind == RECORD_PROCESS && r->bytes >= sizeof(struct record_process))
            return r;
    return NULL;
}

static bool same_process(const struct record_process *a, const struct record_process *b)
{
    return a && !memcmp(a->action, b->action, sizeof a->action) && a->pid == b->pid &&
           !memcmp(a->leads_to, b->leads_to, sizeof a->leads_to);
}

static bool same_thread(const struct record *a, const struct record *b)
{
    enum { NOT_ITS_OWN = STATE_RUNS };
    return a && a->bytes == b->bytes && !((a->flags ^ b->flags) & ~NOT_ITS_OWN) &&
           !memcmp(a + 1, b + 1, a->bytes - sizeof *a);
}

/* General registers, and all others if they are. */
static uint64_t same_registers(const struct record_state *a, const struct record_state *b)
{
    const size_t vectors = a && a->r.bytes == b->r.bytes ? a->r.bytes - sizeof *a : 0;
    uint64_t same = 0;
    for (unsigned i = 0; a && i < GAP_VECTORS; i++)
        same |= (uint64_t)(a->gpr[i] == b->gpr[i]) << i;
    if (vectors && !memcmp(a + 1, b + 1, vectors))
        same |= (1ull << GAP_FLAGS) - (1ull << GAP_VECTORS);
    if (a && a->rflags == b->rflags)
        same |= 1ull << GAP_FLAGS;
    if (a && a->fs_base == b->fs_base && a->gs_base == b->gs_base)
        same |= 1ull << GAP_REST;
    return same;
}

/* What a trace is told of the thread; of that in which the gap begins first. */
static int add_did(struct leave *l, const struct leave_gap *gap, const struct record_state *before,
                   const struct record_state *s, struct err *err)
{
    struct leave_did did = {0};
    struct record_did r = {.r = {.kind = RECORD_DID}, .thread = s->thread, .began = !before};
    if (gap->did(gap->arg, s->thread, s->at.pc, same_registers(before, s), &did, err))
        return -1;
    r.left = did.left;
    r.wrote = did.wrote;
    r.frames = did.frames;
    const size_t frames = did.frames * sizeof *did.frame, bytes = sizeof r + frames;
    if (bytes > RECORD_MAX_BYTES)
        return err_set(err, "more than %zu calls came into being at a time",
                       (RECORD_MAX_BYTES - sizeof r) / sizeof *did.frame);
    if (array_reserve(&l->did, &l->did_room, l->did_bytes + bytes))
        return err_set(err, "no memory");
    r.r.bytes = (uint32_t)bytes;
    const bool first = s->thread == l->own;
    uint8_t *to = first ? l->did : l->did + l->did_bytes;
    memmove(to + bytes, to, first ? l->did_bytes : 0);
    memcpy(to, &r, sizeof r);
    if (frames)
        memcpy(to + sizeof r, did.frame, frames);
    l->did_bytes += bytes;
    return 0;
}

struct changed {
    struct record_gap gap;
    struct gap_thread
        thread[(RECORD_MAX_BYTES - sizeof(struct record_gap)) / sizeof(struct gap_thread)];
};

static int note_thread(struct changed *c, uint32_t thread, bool ended, uint64_t count,
                       struct err *err)
{
    if (c->gap.threads == sizeof c->thread / sizeof *c->thread)
        return err_set(err, "more than %zu threads changed at a time",
                       sizeof c->thread / sizeof *c->thread);
    c->thread[c->gap.threads++] = (struct gap_thread){thread, ended, count};
    return 0;
}

static int add_threads(struct leave *l, const struct leave_gap *gap, struct changed *c,
                       struct err *err)
{
    const uint8_t *stop = l->d.state + l->d.state_bytes;
    const struct record *process = NULL; /* of those that follow, unless it was put */
    const struct record *first = find_state(l->before, l->before_bytes, 0);
    for (const struct record *r = records_first(l->d.state, l->d.state_bytes); r;
         r = records_next(r, stop)) {
        const struct record_state *s = (const struct record_state *)r;
        if (r->kind == RECORD_PROCESS && r->bytes >= sizeof(struct record_process)) {
            const struct record_process *p = (const struct record_process *)r;
            c->gap.ticks = p->ticks;
            c->gap.made = p->made;
            c->gap.heap_end = p->heap_end;
            const bool side = r->flags & PROCESS_SIDE;
            process = side ? r : NULL;
            if (!side && !same_process((const struct record_process *)first, p) && add(l, r, err))
                return -1;
            continue;
        }
        if (r->kind != RECORD_STATE || r->bytes < sizeof *s)
            return err_set(err, "the replaying process talks nonsense: a thread's state");
        if (r->flags & STATE_RUNS)
            c->gap.thread = s->thread;
        const struct record *before = find_state(l->before, l->before_bytes, s->thread);
        if (!process && same_thread(before, r))
            continue;
        if ((process && add(l, process, err)) || add(l, r, err) ||
            note_thread(c, s->thread, false, s->at.count, err) ||
            add_did(l, gap, (const struct record_state *)before, s, err))
            return -1;
        process = NULL;
    }
    return 0;
}

static int add_ended(struct leave *l, struct changed *c, struct err *err)
{
    for (const struct record *r = records_first(l->before, l->before_bytes); r;
         r = records_next(r, l->before + l->before_bytes)) {
        const struct record_state *s = (const struct record_state *)r;
        if (r->kind == RECORD_STATE && r->bytes >= sizeof *s &&
            !find_state(l->d.state, l->d.state_bytes, s->thread) &&
            note_thread(c, s->thread, true, s->at.count, err))
            return -1;
    }
    return 0;
}

/* ---- the gap ---- */

/* They stand behind the end, where no replay reads them: there may be many. */
static int put_list(struct leave *l, struct err *err)
{
    return derived_flush(&l->d, err) || statements_put(l->statements, derived_put, &l->d, err) ? -1
                                                                                               : 0;
}

int leave_keep(struct leave *l, const struct kept_statement *statement, struct err *err)
{
    return steplist_add(l->statements, statement) ? err_set(err, "no memory") : 0;
}

int leave_ways(struct leave *l, const struct code_way *list, uint64_t ways, struct err *err)
{
    enum { MOST = 1000 };
    struct {
        struct record_ways head;
        struct code_way list[MOST];
    } r = {.head = {.r = {.kind = RECORD_WAYS}}};
    for (uint64_t done = 0; done < ways; done += r.head.ways) {
        r.head.ways = ways - done < MOST ? ways - done : MOST;
        memcpy(r.list, list + done, r.head.ways * sizeof *r.list);
        r.head.r.bytes = (uint32_t)(sizeof r.head + r.head.ways * sizeof *r.list);
        if (derived_put(&l->d, &r.head.r, err))
            return -1;
    }
    return 0;
}

static int open_memory(struct leave *l, struct err *err)
{
    char path[64];
    if (l->mem >= 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)replay_pid(l->d.replay));
    l->mem = open(path, O_RDONLY | O_CLOEXEC);
    return l->mem < 0 ? err_set(err, "%s: %m", path) : 0;
}

static int put_all(struct leave *l, const uint8_t *list, size_t bytes, struct err *err)
{
    for (const struct record *r = records_first(list, bytes); r; r = records_next(r, list + bytes))
        if (derived_put(&l->d, r, err))
            return -1;
    return 0;
}

static int put_gap(struct leave *l, struct changed *c, struct err *err)
{
    c->gap.records = l->records;
    c->gap.r.bytes = (uint32_t)(sizeof c->gap + c->gap.threads * sizeof *c->thread);
    if (l->d.deaf)
        return err_set(err, "no memory");
    return derived_put(&l->d, &c->gap.r, err) || put_all(l, l->gap, l->gap_bytes, err) ||
                   put_all(l, l->d.heard, l->d.heard_bytes, err) ||
                   put_all(l, l->did, l->did_bytes, err)
               ? -1
               : 0;
}

static int gap_begins(struct leave *l, const struct leave_at *at, struct record_at *where,
                      struct err *err)
{
    if (go(l, at, 0, err) || open_memory(l, err) || derived_put_log(&l->d, events(l), err) ||
        derived_ask(&l->d, STATE_OF_THREADS, err) ||
        copy_state(l, &l->before, &l->before_bytes, &l->before_room, err))
        return -1;
    const struct record_state *s = derived_running(&l->d, err);
    if (!s)
        return -1;
    *where = s->at;
    l->own = s->thread;
    return derived_ask(&l->d, STATE_CHANGES_BEGIN, err);
}

int leave_out(struct leave *l, const struct leave_gap *gap, struct err *err)
{
    struct changed *c = calloc(1, sizeof *c);
    if (!c)
        return err_set(err, "no memory");
    c->gap.r = (struct record){.kind = RECORD_GAP, .flags = BETWEEN};
    c->gap.insns = gap->insns;
    l->records = 0;
    l->gap_bytes = l->did_bytes = l->d.heard_bytes = 0;
    int bad = gap_begins(l, &gap->from, &c->gap.at, err) ||
              go(l, &gap->to, l->d.hears ? RUN_OUTPUT : 0, err) ||
              derived_ask(&l->d, STATE_OF_CHANGES, err) ||
              copy_state(l, &l->changes, &l->changes_bytes, &l->changes_room, err) ||
              add_changes(l, gap->written, err) || derived_ask(&l->d, STATE_OF_THREADS, err) ||
              add_threads(l, gap, c, err) || add_ended(l, c, err) || put_gap(l, c, err) ||
              derived_pass_log(&l->d, events(l), err);
    free(c);
    return bad ? -1 : 0;
}

/* ---- begin and end ---- */

struct leave *leave_new(struct pinball *pinball, const char *dir,
                        const struct leave_options *options, struct err *err)
{
    struct leave *l = calloc(1, sizeof *l);
    if (!l) {
        err_set(err, "no memory");
        return NULL;
    }
    l->mem = -1;
    l->from = options->from;
    l->d.anew = true;
    l->d.hears = options->output;
    l->d.message = options->message;
    l->d.arg = options->arg;
    l->switches.log.pinball = pinball;
    if (!(l->statements = steplist_new()))
        err_set(err, "no memory");
    else if (!derived_init(&l->d, pinball, err) && !derived_create(&l->d, dir, options->head, err))
        return l;
    leave_free(l);
    return NULL;
}

void leave_free(struct leave *l)
{
    if (!l)
        return;
    if (l->mem >= 0)
        close(l->mem);
    steplist_free(l->statements);
    derived_deinit(&l->d, l->ended);
    free(l->switches.log.chunk);
    free(l->before);
    free(l->changes);
    free(l->gap);
    free(l->did);
    free(l);
}

/* Switches count from the last program on, as in its trace. */
static int find_program(struct leave *l, struct err *err)
{
    struct derived scan = {.pinball = l->d.pinball};
    int more;
    while ((more = derived_next(&scan, err)) > 0) {
        if (scan.next->kind == RECORD_IMAGE)
            l->switches.log.copied = scan.copied;
        scan.copied++;
    }
    free(scan.chunk);
    return more;
}

/* ... or from where a window begins. */
static int find_window(struct leave *l, struct err *err)
{
    struct mailbox_run how = {.flags = 0};
    if (replay_goal(l->from, &how.goal, err) || run(l, &how, err))
        return -1;
    if (replay_stopped(l->d.replay)->what.reason != STOP_POSITION)
        return err_set(err, "the recording ends before the window begins");
    l->switches.log.copied = events(l);
    return 0;
}

int leave_begin(struct leave *l, const struct leave_at *at, struct err *err)
{
    if (l->from ? find_window(l, err) : find_program(l, err))
        return -1;
    if (go(l, at, 0, err))
        return -1;
    l->d.copied = events(l);
    return derived_put_begin(&l->d, err);
}

int leave_end(struct leave *l, const struct position *to, struct err *err)
{
    struct mailbox_run how = {.flags = 0};
    uint64_t last = UINT64_MAX;
    if (to) {
        if (replay_goal(to, &how.goal, err) || run(l, &how, err))
            return -1;
        if (replay_stopped(l->d.replay)->what.reason != STOP_POSITION)
            return err_set(err, "the recording ends before the window does");
        last = events(l);
    }
    if (derived_put_log(&l->d, last, err) ||
        (to && derived_put_end(&l->d, replay_stopped(l->d.replay)->what.ticks, err)) ||
        put_list(l, err) || derived_finish(&l->d, err))
        return -1;
    l->ended = true;
    return 0;
}
