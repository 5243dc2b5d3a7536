/* deadlock.c - the criterion of a recording that ended because its threads waited for
 * each other.
 *
 * SPDX-License-Identifier: MIT
 *
 * A replay that has come to the end tells which system call each thread is in. A thread in futex(),
 * called for a mutex, waits for the thread that the mutex names as its owner. A circle of such
 * waits is a deadlock; where there is none but all threads wait, the mutexes that are waited for
 * still say most. The lock words and the owners are the criterion: the thread that wrote them last
 * has taken the lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/os/kinds.h"
#include "facts/locks/locks.h"
#include "slicer/criterion/criterion.h"
#include "study/past.h"

/* The C library's pthread_mutex_t: int lock; unsigned count; int owner; ... */
enum { OWNER_AT = 8, WORD_BYTES = 4, MUTEX_BYTES = 40, NAME = 100, LIVE_MOST = 4096 };
enum { FUTEX_COMMAND = 127, FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_WAIT_BITSET = 9 };

struct wait {
    const struct place_end *end;
    uint32_t thread; /* its number in positions */
    bool waits;      /* in a futex, for whatever */
    gaddr lock;      /* a mutex; 0: for something else */
    uint32_t holder; /* number; 0: unknown */
    gaddr taken_pc;  /* where the user's code took it for the holder; 0: not known */
    bool reported;
};

struct search {
    struct study *study;
    struct past *past;
    struct wait *wait;
    size_t waits;
    struct program_thread *live;
    size_t lives;
    struct program_registers *registers;
};

/* ---- who waits for what ---- */

/* Is one of the calls that the thread is in for a mutex? */
static bool is_for_mutex(struct study *s, const struct place_end *e)
{
    struct source_line l;
    for (size_t i = 0; i < e->calls; i++) {
        source_line(s->source, e->call[i].entry, &l);
        if (l.outer && (strstr(l.outer, "pthread_mutex_") || strncmp(l.outer, "mtx_", 4) == 0))
            return true;
        if (i >= e->own)
            break;
    }
    return false;
}

static uint32_t thread_of_tid(const struct search *q, int32_t tid)
{
    for (size_t i = 0; tid && i < q->lives; i++)
        if (q->live[i].tid == tid)
            return q->live[i].number;
    return 0;
}

static int look_at_thread(struct search *q, const struct place_end *e, struct err *err)
{
    struct wait *w = &q->wait[q->waits];
    struct program_registers *r = q->registers;
    int32_t owner = 0;
    *w = (struct wait){.end = e, .thread = e->place.position.thread};
    size_t i = 0;
    while (i < q->lives && q->live[i].number != w->thread)
        i++;
    if (i == q->lives)
        return 0; /* it has ended */
    q->waits++;
    if (e->insns >= e->block->insns || e->block->insn[e->insns].in.kind != INSN_SYSCALL)
        return 0;
    if (past_registers(q->past, w->thread, r, err))
        return -1;
    unsigned command = r->gpr[RSI] & FUTEX_COMMAND;
    w->waits = kinds_of((uint32_t)r->gpr[RAX]).does == DOES_FUTEX &&
               (command == FUTEX_WAIT || command == FUTEX_LOCK_PI || command == FUTEX_WAIT_BITSET);
    if (!w->waits || !is_for_mutex(q->study, e))
        return 0;
    w->lock = r->gpr[RDI];
    if (past_read(q->past, w->lock + OWNER_AT, &owner, sizeof owner) == sizeof owner)
        w->holder = thread_of_tid(q, owner);
    return 0;
}

static int go_to_end(struct search *q, const struct place_end *end, size_t ends, struct err *err)
{
    q->past = study_past(q->study, trace_insns(q->study->trace), NULL, err);
    if (!q->past)
        return -1;
    q->lives = past_threads(q->past, q->live, LIVE_MOST);
    if (q->lives > LIVE_MOST)
        q->lives = LIVE_MOST;
    for (size_t i = 0; i < ends; i++)
        if (look_at_thread(q, &end[i], err))
            return -1;
    return 0;
}

static struct wait *wait_of(const struct search *q, uint32_t thread)
{
    for (size_t i = 0; i < q->waits; i++)
        if (q->wait[i].thread == thread)
            return &q->wait[i];
    return NULL;
}

/* The first wait of a circle, or NULL. */
static struct wait *find_circle(const struct search *q)
{
    for (size_t i = 0; i < q->waits; i++) {
        struct wait *w = &q->wait[i];
        for (size_t steps = 0; w && w->lock && w->holder && steps <= q->waits; steps++) {
            w = wait_of(q, w->holder);
            if (w == &q->wait[i])
                return w;
        }
    }
    return NULL;
}

/* ---- who took it ---- */

/* The event by which the holder got it, if it is in the trace. */
static int find_takers(struct search *q, struct err *err)
{
    size_t count;
    const struct locks *l = locks_find(q->study, err);
    const struct locks_event **held =
        l ? locks_held(l, trace_insns(q->study->trace), &count, err) : NULL;
    if (!held)
        return -1;
    for (size_t i = 0; i < q->waits; i++)
        for (size_t k = 0; k < count; k++)
            if (held[k]->lock == q->wait[i].lock && held[k]->at.thread == q->wait[i].holder)
                q->wait[i].taken_pc = held[k]->line_pc;
    free(held);
    return 0;
}

/* ---- the criterion ---- */

static void line_name(struct study *s, gaddr pc, char *buf, size_t room)
{
    struct source_line l;
    if (pc && study_line(s, pc, &l)) {
        const char *slash = strrchr(l.file, '/');
        snprintf(buf, room, "%s:%u", slash ? slash + 1 : l.file, l.line);
    } else {
        source_name(s->source, pc, buf, room);
    }
}

static void lock_name(struct study *s, const struct wait *w, char *buf, size_t room)
{
    static const char *const inner[] = {"._M_mutex", ".__data"}; /* nobody wrote that */
    struct source_frame frame = {.cfa = w->end->place.cfa};
    gaddr pc = w->end->place.line_pc;
    if (!source_variable(s->source, pc, &frame, w->lock, MUTEX_BYTES, buf, room))
        snprintf(buf, room, "the lock at 0x%llx", (unsigned long long)w->lock);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        char *cut = strstr(buf, inner[i]);
        if (cut)
            *cut = 0;
    }
}

/* `T2 waits for first at abba.c:23, held by T3 since abba.c:14` */
static void describe(struct study *s, const struct wait *w, struct criterion *out)
{
    char lock[NAME], line[NAME], held[NAME] = "", since[NAME];
    size_t n = strlen(out->what);
    lock_name(s, w, lock, sizeof lock);
    line_name(s, w->end->place.line_pc, line, sizeof line);
    if (w->holder == w->thread)
        snprintf(held, sizeof held, ", held by itself");
    else if (w->holder)
        snprintf(held, sizeof held, ", held by T%u", w->holder);
    if (w->holder && w->taken_pc) {
        line_name(s, w->taken_pc, since, sizeof since);
        size_t k = strlen(held);
        snprintf(held + k, sizeof held - k, " since %.60s", since);
    }
    snprintf(out->what + n, sizeof out->what - n, "%sT%u waits for %s at %s%s",
             n ? "; " : "deadlock: ", w->thread, lock, line, held);
}

static int report(struct search *q, struct wait *w, struct criterion *out, struct err *err)
{
    struct slice_want want = {.kind = SLICE_MEMORY,
                              .at = trace_insns(q->study->trace),
                              .thread = w->end->place.thread,
                              .addr = w->lock,
                              .bytes = WORD_BYTES};
    if (w->reported)
        return 0;
    w->reported = true;
    describe(q->study, w, out);
    if (criterion_want(out, want, err))
        return -1;
    want.addr += OWNER_AT;
    return criterion_want(out, want, err);
}

/* All that wait for locks; those of a circle alone, if there is one. */
static int make(struct search *q, struct criterion *out, struct err *err)
{
    struct wait *first = find_circle(q);
    bool all = true;
    for (size_t i = 0; i < q->waits; i++)
        all = all && q->wait[i].waits;
    for (size_t i = 0; !first && all && i < q->waits; i++)
        first = q->wait[i].lock ? &q->wait[i] : NULL;
    if (!first)
        return 0;
    if (find_takers(q, err))
        return -1;
    out->thread = first->end->place.thread;
    out->position = first->end->place.position;
    out->pc = first->end->place.line_pc;
    for (struct wait *w = first; w && w->lock && !w->reported; w = wait_of(q, w->holder))
        if (report(q, w, out, err))
            return -1;
    for (size_t i = 0; !find_circle(q) && i < q->waits; i++)
        if (q->wait[i].lock && report(q, &q->wait[i], out, err))
            return -1;
    return 0;
}

int criterion_deadlock(struct study *s, struct criterion *out, struct err *err)
{
    size_t ends;
    struct place_end *end = place_ends(s, &ends, err);
    if (!end)
        return -1;
    struct search q = {.study = s,
                       .wait = calloc(ends + 1, sizeof *q.wait),
                       .live = calloc(LIVE_MOST, sizeof *q.live),
                       .registers = malloc(sizeof *q.registers)};
    int bad = q.wait && q.live && q.registers ? 0 : err_set(err, "no memory");
    if (!bad && ends)
        bad = go_to_end(&q, end, ends, err) || make(&q, out, err);
    past_free(q.past);
    free(q.registers);
    free(q.live);
    free(q.wait);
    place_ends_free(end, ends);
    return bad ? -1 : 0;
}
