/* probes.c - values taken at places, inside the replaying process.
 *
 * SPDX-License-Identifier: MIT
 *
 * A tool (instrument.h): translated code comes here before each instruction that has a probe, and
 * nowhere else. Rows are written where the supervisor will read them, and handed over when there is
 * no room for another one and when the replay stops.
 *
 * Invariants:
 * 1. An attempt to execute an instruction makes one row of each of its probes. A thread that was
 *    taken off inside a system call is back at the instruction without having left it (t->calling).
 * 2. If the attempt comes to nothing and the instruction is begun anew, an `undone` row says so
 *    first: before the rows of the handler that comes in between.
 */
#include "debug/target/probes.h"

#include "base/search.h"
#include "debug/target/agent.h"
#include "debug/target/post.h"
#include "debug/target/stops.h"
#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/os/fpstate.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"

enum { CALLS = 1024, STRING_STEP = 64, AT_MXCSR = 24, AT_ST = 32, AT_XMM = 160, AT_AVX = 576 };
#define PADDED(bytes) (((bytes) + 7) & ~7ull)

/* An instruction that was begun. */
struct attempt {
    uint32_t thread;
    uint64_t count;
    gaddr pc;
    uint64_t made; /* a bit for each of its probes that made a row */
};

static struct {
    struct probe_list *list;
    uint64_t bytes;
    const struct probe_place *place;
    const uint8_t *code;
    uint32_t used; /* bytes of rows in the box */
    struct attempt last;
    struct attempt call[CALLS]; /* system calls that are not over */
    uint32_t calls;
} probes;

/* The row that is being written. */
struct row {
    struct thread *thread;
    struct probe_taken *taken;
    uint8_t *at, *end;
    bool saved; /* vector registers, to thread->xsave */
};

/* ---- the list ---- */

static void forget(void)
{
    if (probes.list)
        range_free(probes.list, probes.bytes);
    probes.list = NULL;
}

bool probes_set(const struct mailbox *box)
{
    const uint64_t at = box->arg[0], all = box->arg[1];
    if (!at) {
        forget();
        probes.bytes = all;
        probes.list = all >= sizeof *probes.list && all <= PROBE_LIST_BYTES
                          ? range_alloc_near(0, all, false)
                          : NULL;
    }
    if (!probes.list || all != probes.bytes || at >= all)
        return false;
    const uint64_t left = all - at, n = left < MAILBOX_DATA_BYTES ? left : MAILBOX_DATA_BYTES;
    memcpy((uint8_t *)probes.list + at, box->data, n);
    probes.place = (const struct probe_place *)(probes.list + 1);
    probes.code = (const uint8_t *)(probes.place + probes.list->places);
    return true;
}

/* The first one at pc, or NULL. */
static const struct probe_place *find(gaddr pc)
{
    const struct probe_place *place = probes.place;
    const size_t i = search_below(place, probes.list->places, pc, pc);
    return i < probes.list->places && place[i].pc == pc ? &place[i] : NULL;
}

static bool is_at(const struct probe_place *place, gaddr pc)
{
    return place < probes.place + probes.list->places && place->pc == pc;
}

/* ---- rows ---- */

void probes_flush(void)
{
    struct mailbox *box = post_box();
    const uint64_t keep[2] = {box->arg[0], box->arg[1]};
    if (!probes.used)
        return;
    box->arg[1] = probes.used;
    probes.used = 0;
    post_ask(TELL_ROWS);
    box->arg[0] = keep[0];
    box->arg[1] = keep[1];
}

static void begin_row(struct row *r, struct thread *t, const struct attempt *at, uint32_t probe)
{
    if (PROBE_ROWS_BYTES - probes.used < PROBE_ROW_BYTES)
        probes_flush();
    uint8_t *start = post_box()->rows + probes.used;
    *r = (struct row){.thread = t,
                      .taken = (struct probe_taken *)start,
                      .at = start + sizeof *r->taken,
                      .end = start + PROBE_ROW_BYTES};
    *r->taken = (struct probe_taken){.probe = probe,
                                     .thread = t->number,
                                     .count = at->count,
                                     .pc = at->pc,
                                     .ticks = stops_ticks()};
}

static void end_row(const struct row *r)
{
    r->taken->bytes = (uint32_t)(r->at - (uint8_t *)r->taken);
    probes.used += r->taken->bytes;
}

/* ---- pieces ---- */

static uint64_t room_for(const struct row *r, uint64_t bytes)
{
    const uint64_t room = (uint64_t)(r->end - r->at) - sizeof(struct probe_piece);
    return bytes < room ? bytes : room;
}

/* Its contents are there already. */
static void add_piece(struct row *r, enum probe_piece_kind kind, uint64_t where, uint64_t bytes,
                      enum probe_piece_end end)
{
    struct probe_piece *p = (struct probe_piece *)r->at;
    *p = (struct probe_piece){
        .where = where, .bytes = (uint32_t)bytes, .kind = (uint8_t)kind, .end = (uint8_t)end};
    r->at += sizeof *p;
    memset(r->at + bytes, 0, PADDED(bytes) - bytes);
    r->at += PADDED(bytes);
}

static uint8_t *contents(const struct row *r)
{
    return r->at + sizeof(struct probe_piece);
}

static void take_memory(struct row *r, gaddr from, uint64_t bytes)
{
    const uint64_t n = room_for(r, bytes);
    const uint64_t missing = engine_copy(contents(r), (const void *)from, n);
    add_piece(r, PIECE_MEMORY, from, n - missing,
              missing     ? PIECE_UNREADABLE
              : n < bytes ? PIECE_CUT
                          : PIECE_WHOLE);
}

/* The bytes up to and with the first zero, or n. */
static uint64_t string_bytes(const uint8_t *s, uint64_t n, bool *zero)
{
    for (uint64_t i = 0; i < n; i++)
        if (!s[i]) {
            *zero = true;
            return i + 1;
        }
    return n;
}

static void take_string(struct row *r, gaddr from, uint64_t most)
{
    const uint64_t room = room_for(r, most);
    uint64_t got = 0, missing = 0;
    bool zero = false;
    while (got < room && !zero && !missing) {
        const uint64_t n = room - got < STRING_STEP ? room - got : STRING_STEP;
        uint8_t *to = contents(r) + got;
        missing = engine_copy(to, (const void *)(from + got), n);
        got += string_bytes(to, n - missing, &zero);
    }
    add_piece(r, PIECE_STRING, from, got,
              zero          ? PIECE_WHOLE
              : missing     ? PIECE_UNREADABLE
              : room < most ? PIECE_CUT
                            : PIECE_ENDLESS);
}

/* Where it is in the saved state; NULL: this machine does not have it. */
static const uint8_t *vector_register(struct row *r, uint64_t number)
{
    if (!r->saved)
        fpstate_save(r->thread, fpstate_features());
    r->saved = true;
    const uint8_t *x = r->thread->xsave;
    if (number >= AGENT_YMM0H)
        return fpstate_features() & 4 ? x + AT_AVX + 16 * (number - AGENT_YMM0H) : NULL;
    if (number == AGENT_MXCSR)
        return x + AT_MXCSR;
    return number >= AGENT_XMM0 ? x + AT_XMM + 16 * (number - AGENT_XMM0)
                                : x + AT_ST + 16 * (number - AGENT_ST0);
}

static enum agent_result take(void *arg, enum agent_take what, uint64_t a, uint64_t b)
{
    enum { LEAST = sizeof(struct probe_piece) + 16 };
    struct row *r = arg;
    const uint8_t *from;
    if (r->end - r->at < LEAST)
        return AGENT_ROW_FULL;
    switch (what) {
    case AGENT_TAKE_MEMORY:
        take_memory(r, a, b);
        break;
    case AGENT_TAKE_STRING:
        take_string(r, a, b);
        break;
    case AGENT_TAKE_REGISTER:
        memcpy(contents(r), &b, sizeof b);
        add_piece(r, PIECE_REGISTER, a, sizeof b, PIECE_WHOLE);
        break;
    case AGENT_TAKE_VECTOR:
        if (!(from = vector_register(r, a)))
            return AGENT_NO_REGISTER;
        memcpy(contents(r), from, agent_register_bytes(a));
        add_piece(r, PIECE_REGISTER, a, agent_register_bytes(a), PIECE_WHOLE);
        break;
    case AGENT_TAKE_VALUE:
        memcpy(contents(r), &a, sizeof a);
        add_piece(r, PIECE_VALUE, 0, sizeof a, PIECE_WHOLE);
        break;
    case AGENT_TAKE_FAILURE:
        add_piece(r, PIECE_FAILED, a, 0, PIECE_WHOLE);
        break;
    }
    return AGENT_DONE;
}

/* ---- at a place ---- */

/* False: the condition does not hold. */
static bool at_place(struct thread *t, const struct attempt *now, const struct probe_place *p)
{
    struct agent_state state = stops_agent(t);
    struct row row;
    enum agent_result when = AGENT_DONE;
    uint64_t value = 1;
    if (p->when_bytes)
        when = agent_eval(probes.code + p->when_at, p->when_bytes, &state, &value);
    if (when == AGENT_DONE && !value)
        return false;
    begin_row(&row, t, now, p->index);
    row.taken->when = (uint8_t)when;
    state.take = take;
    state.arg = &row;
    value = 0;
    if (when == AGENT_DONE && p->take_bytes)
        row.taken->take =
            (uint8_t)agent_eval(probes.code + p->take_at, p->take_bytes, &state, &value);
    row.taken->value = value;
    end_row(&row);
    return true;
}

/* The attempt came to nothing. */
static void undo(struct thread *t, const struct attempt *a)
{
    const struct probe_place *p = find(a->pc);
    for (unsigned i = 0; p && is_at(p, a->pc); p++, i++)
        if (a->made >> i & 1) {
            struct row row;
            begin_row(&row, t, a, p->index);
            row.taken->undone = 1;
            end_row(&row);
        }
}

/* ---- calls and signals ---- */

static struct attempt *find_call(const struct thread *t)
{
    for (uint32_t i = 0; i < probes.calls; i++)
        if (probes.call[i].thread == t->number)
            return &probes.call[i];
    return NULL;
}

static void drop_call(struct attempt *call)
{
    *call = probes.call[--probes.calls];
}

/* A call that is not over, and the thread is there: it is begun anew now, or after a handler. */
static void begun_anew(struct thread *t)
{
    struct attempt *c = find_call(t);
    if (!c)
        return;
    if (c->pc == t->cpu.rip)
        undo(t, c);
    drop_call(c);
}

static bool is_last(const struct thread *t)
{
    return probes.last.thread == t->number && probes.last.count == thread_count(t) &&
           probes.last.pc == t->cpu.rip;
}

static void call(struct thread *t, bool after)
{
    struct attempt *c = find_call(t);
    if (c)
        drop_call(c);
    if (after || !is_last(t))
        return;
    if (probes.calls == CALLS)
        post_failed("more than %d threads are in system calls with probes", CALLS);
    probes.call[probes.calls++] = probes.last;
}

static void signal(struct thread *t, int sig, gaddr handler)
{
    (void)sig;
    (void)handler;
    if (find_call(t))
        begun_anew(t);
    else if (is_last(t))
        undo(t, &probes.last);
}

static void thread_exit(struct thread *t)
{
    struct attempt *c = find_call(t);
    if (c)
        drop_call(c);
}

/* ---- the tool ---- */

static unsigned choose(const struct insn *in, bool first)
{
    (void)first;
    return find(in->pc) ? PROBE_TAKE : 0;
}

static void probe(struct thread *t, const struct probe *p)
{
    const struct probe_place *place = find(p->pc);
    if (t->calling || !place)
        return;
    begun_anew(t);
    struct attempt now = {.thread = t->number, .count = thread_count(t), .pc = p->pc};
    for (unsigned i = 0; is_at(place, p->pc); place++, i++)
        now.made |= (uint64_t)at_place(t, &now, place) << i;
    probes.last = now;
}

static const struct instrument tool = {.select = choose,
                                       .probe = probe,
                                       .position = stops_at_position,
                                       .syscall = call,
                                       .thread_exit = thread_exit,
                                       .signal = signal,
                                       .sparse = true};

const struct instrument *probes_tool(void)
{
    probes.last.thread = 0;
    probes.calls = 0;
    return probes.list ? &tool : NULL;
}
