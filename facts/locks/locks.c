/* locks.c - which thread took and gave back which lock. SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. A thread is in at most one call of these functions that counts, the outermost; it ends when
 *    the frame that made it goes on.
 * 2. A thread that gets a mutex or a writer's lock of the C library writes itself down as the
 * owner, and takes that away when it gives it back, also while it waits for a condition. Recursive
 * mutexes are taken once.
 */
#include "facts/locks/locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/os/kinds.h"
#include "facts/locks/calls.h"
#include "facts/locks/locks_kept.h"
#include "facts/order/numbers.h"
#include "facts/order/parts.h"
#include "facts/order/race.h"
#include "facts/order/sites.h"
#include "trace/access.h"
#include "trace/pass.h"

/* The C library's pthread_mutex_t and pthread_rwlock_t. */
enum { MUTEX_OWNER_AT = 8, RWLOCK_WRITER_AT = 24, OWNER_BYTES = 4 };

struct call {
    uint64_t parent; /* serial number of the frame that made it; 0: there is no call */
    struct calls_function is;
    struct locks_wait wait;
    bool slept;
};

enum {
    NOT_LOOKED_AT,
    DULL,
    BEGINS,
    STORES
}; /* block: nothing; a known function; owners, perhaps */

struct search {
    struct study *study;
    struct locks *out;
    const struct sync *sync;
    struct sites sites;
    uint8_t *block; /* by number */
    struct calls_function *function;
    struct call *call;    /* by thread */
    struct numbers owner; /* address of a word with an owner */
    gaddr *owned;         /* by its number: the lock */
    size_t owneds;
    struct numbers held; /* lock, thread */
    bool *is_held;       /* by its number */
    size_t helds;
};

/* ---- who holds what ---- */

static bool *held_by(struct search *q, gaddr lock, uint32_t thread)
{
    uint32_t i = numbers_add(&q->held, lock, thread);
    if (i == q->helds && array_append(&q->is_held, &q->helds, false))
        return NULL;
    return i < q->helds ? &q->is_held[i] : NULL;
}

/* `insn` of the step took the lock, or gave it back; what->line_pc and what->insn may be known. */
static int change(struct search *q, const struct pass_step *st, unsigned insn,
                  const struct locks_event *what, struct err *err)
{
    const struct call *c = &q->call[st->step->thread];
    struct locks_event e = *what;
    bool *held = held_by(q, e.lock, st->step->thread);
    if (!held)
        return err_set(err, "no memory");
    if (*held == e.take)
        return 0;
    *held = e.take;
    e.tried =
        e.take && c->parent && (c->is.does == CALLS_TRIES || c->is.does == CALLS_TRIES_SHARED);
    gaddr pc = st->block->insn[insn].in.pc;
    if (!e.insn)
        e.insn = st->insn + insn;
    e.thread = st->step->thread;
    e.at = (struct position){
        .thread = trace_thread(q->study->trace, e.thread), .count = st->count, .pc = pc};
    if (!e.line_pc)
        e.line_pc = sites_line(&q->sites, pc, st->frame);
    return array_push(&q->out->event, &q->out->events, &q->out->event_room, e)
               ? err_set(err, "no memory")
               : 0;
}

static int know_owner(struct search *q, gaddr word, gaddr lock, struct err *err)
{
    uint32_t i = numbers_add(&q->owner, word, 0);
    if (i == NUMBERS_NONE || (i == q->owneds && array_append(&q->owned, &q->owneds, lock)))
        return err_set(err, "no memory");
    return 0;
}

/* The lock whose owner is at that address; 0: none. */
static gaddr lock_of(const struct search *q, gaddr word)
{
    uint32_t i = numbers_find(&q->owner, word, 0);
    return i < q->owneds ? q->owned[i] : 0;
}

/* ---- calls ---- */

/* Is the call still in one of the frames around? Not if it was left by longjmp(). */
static bool is_in_call(const struct call *c, const struct frame *f)
{
    enum { DEEP = 32 };
    for (unsigned i = 0; c->parent && f && i < DEEP; i++, f = f->parent)
        if (f->serial == c->parent)
            return true;
    return false;
}

static int begin_call(struct search *q, const struct pass_step *st, struct err *err)
{
    struct call *c = &q->call[st->step->thread];
    const struct calls_function is = q->function[st->block->number];
    const struct frame *f = st->frame;
    gaddr object = calls_argument(trace_code(q->study->trace), st->block, st->values);
    if (object && is.kind == LOCKS_MUTEX && know_owner(q, object + MUTEX_OWNER_AT, object, err))
        return -1;
    if (object && is.kind == LOCKS_RWLOCK && know_owner(q, object + RWLOCK_WRITER_AT, object, err))
        return -1;
    if (!f->parent || is_in_call(c, f))
        return 0;
    *c = (struct call){.parent = f->parent->serial, .is = is};
    c->wait = (struct locks_wait){.from = st->insn,
                                  .to = UINT64_MAX,
                                  .object = object,
                                  .line_pc = sites_line(&q->sites, st->block->pc, st->frame),
                                  .thread = st->step->thread,
                                  .kind = is.kind};
    return 0;
}

/* What has no owner is taken and given back by the call as a whole, which is over before the step:
 * the first thing that it does is under the lock. */
static int end_call(struct search *q, const struct pass_step *st, struct err *err)
{
    struct call *c = &q->call[st->step->thread];
    const bool shared = c->is.does == CALLS_TAKES_SHARED || c->is.does == CALLS_TRIES_SHARED;
    struct locks_event e = {.insn = st->insn - 1,
                            .lock = c->wait.object,
                            .kind = c->is.kind,
                            .shared = shared,
                            .line_pc = c->wait.line_pc};
    const bool spin = c->is.kind == LOCKS_SPIN, rwlock = c->is.kind == LOCKS_RWLOCK;
    int bad = 0;
    e.take = shared || (spin && c->is.does == CALLS_TAKES);
    c->parent = 0;
    if (e.lock && (e.take || ((spin || rwlock) && c->is.does == CALLS_GIVES)))
        bad = change(q, st, 0, &e, err);
    if (!bad && c->slept) {
        c->wait.to = st->insn;
        bad = array_push(&q->out->wait, &q->out->waits, &q->out->wait_room, c->wait)
                  ? err_set(err, "no memory")
                  : 0;
    }
    return bad;
}

/* ---- steps ---- */

static uint8_t look_at(struct search *q, const struct code_block *b)
{
    struct source_line l;
    source_line(q->study->source, b->pc, &l);
    if (b->entry && l.outer && l.offset == 0) {
        q->function[b->number] = calls_known(l.outer);
        if (q->function[b->number].kind)
            return BEGINS;
    }
    if (parts_code(q->study, b->pc) != PART_LIBRARY)
        return DULL;
    for (unsigned k = 0; k < b->accesses; k++)
        if (b->access[k].mem.write && b->access[k].mem.bytes == OWNER_BYTES &&
            b->access[k].mem.shape == ACCESS_PLAIN)
            return STORES;
    return DULL;
}

static int take_stores(struct search *q, const struct pass_step *st, struct err *err)
{
    const struct code_block *b = st->block;
    const struct call *c = &q->call[st->step->thread];
    for (unsigned k = 0; k < b->accesses && b->access[k].insn < st->step->insns; k++) {
        const struct plan_access *a = &b->access[k];
        if (!a->mem.write || a->mem.bytes != OWNER_BYTES || a->mem.shape != ACCESS_PLAIN ||
            access_is_odd(a))
            continue;
        gaddr word = code_address(a, st->values), lock = lock_of(q, word);
        bool *held = lock ? held_by(q, lock, st->step->thread) : NULL;
        if (!held || (c->parent && c->is.does == CALLS_MAKES))
            continue;
        struct locks_event e = {.lock = lock,
                                .kind = word - lock == MUTEX_OWNER_AT ? LOCKS_MUTEX : LOCKS_RWLOCK,
                                .take = !*held};
        if (change(q, st, a->insn, &e, err))
            return -1;
    }
    return 0;
}

/* What the call's code touches tells what it is about, where its argument did not. */
static void look_into_call(struct search *q, struct call *c, const struct pass_step *st)
{
    const uint8_t *role = q->sync->role[st->block->number];
    const struct code_block *b = st->block;
    for (unsigned k = 0; k < b->accesses && b->access[k].insn < st->step->insns; k++) {
        if (access_is_odd(&b->access[k]))
            continue;
        gaddr addr = code_address(&b->access[k], st->values);
        if (role && role[k] && !c->wait.object)
            c->wait.object = addr;
        for (uint32_t i = 0; c->is.kind == LOCKS_JOIN && i < trace_threads(q->study->trace); i++)
            if (addr && q->sync->thread[i].word == addr)
                c->wait.joins = i + 1;
    }
}

static int take_step(struct search *q, const struct pass_step *st, struct err *err)
{
    struct call *c = &q->call[st->step->thread];
    uint8_t *is = &q->block[st->block->number];
    if (!*is)
        *is = look_at(q, st->block);
    if (c->parent && st->frame->serial == c->parent && end_call(q, st, err))
        return -1;
    if (*is == BEGINS && st->block->pc == st->frame->entry && begin_call(q, st, err))
        return -1;
    if (c->parent && (!c->wait.object || c->is.kind == LOCKS_JOIN))
        look_into_call(q, c, st);
    return *is == DULL ? 0 : take_stores(q, st, err);
}

/* ---- sleep ---- */

static bool is_futex_wait(const struct flow_call *c)
{
    enum { COMMAND = 127, WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13 };
    unsigned command = c->arg[1] & COMMAND;
    return kinds_of(c->nr).does == DOES_FUTEX &&
           (command == WAIT || command == LOCK_PI || command == WAIT_BITSET || command == LOCK_PI2);
}

/* Was a call of the kernel given up? */
static bool is_given_up(const struct pass *p, const struct flow_cut *cut)
{
    const struct trace_step *st = p->at.next_step ? &p->chunk.step[p->at.next_step - 1] : NULL;
    const struct code_block *b = st ? code_block(trace_code(p->trace), st->block) : NULL;
    return b && st->insns < b->insns && b->insn[st->insns].in.kind == INSN_SYSCALL &&
           b->insn[st->insns].in.pc == cut->pc;
}

/* The thread slept in a call of the kernel that is over, or was given up. */
static int take_note(void *arg, const struct pass *p, struct err *err)
{
    struct search *q = arg;
    struct call *c = &q->call[p->at.thread];
    const struct flow_note *n = p->at.note;
    const struct flow_call *call = (const struct flow_call *)n;
    const struct flow_cut *cut = (const struct flow_cut *)n;
    (void)err;
    if (!c->parent || c->slept || c->is.does == CALLS_GIVES ||
        !(n->kind == FLOW_CALL ? is_futex_wait(call) : n->kind == FLOW_CUT && is_given_up(p, cut)))
        return 0;
    c->slept = true;
    c->wait.at = (struct position){.thread = trace_thread(q->study->trace, p->at.thread),
                                   .count = p->state[p->at.thread].count,
                                   .pc = n->kind == FLOW_CUT ? cut->pc : call->next};
    return 0;
}

static int find(struct search *q, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    int more;
    if (pass_init(&pass, q->study->trace, err))
        return -1;
    pass.note = take_note;
    pass.arg = q;
    while ((more = pass_next(&pass, &st, err)) == 1)
        if (take_step(q, &st, err)) {
            more = -1;
            break;
        }
    pass_deinit(&pass);
    for (uint32_t i = 0; !more && i < trace_threads(q->study->trace); i++)
        if (q->call[i].parent && q->call[i].slept &&
            array_push(&q->out->wait, &q->out->waits, &q->out->wait_room, q->call[i].wait))
            more = err_set(err, "no memory");
    return more;
}

/* ---- all of it ---- */

static void free_locks(void *made)
{
    struct locks *l = made;
    free(l->event);
    free(l->wait);
    free(l);
}

static struct locks *look_for(struct study *s, struct err *err)
{
    const uint32_t blocks = code_count(trace_code(s->trace)) + 1;
    struct search q = {.study = s,
                       .sites = {.study = s},
                       .sync = race_sync(s, err),
                       .out = calloc(1, sizeof *q.out),
                       .block = calloc(blocks, sizeof *q.block),
                       .function = calloc(blocks, sizeof *q.function),
                       .call = calloc(trace_threads(s->trace) + 1, sizeof *q.call)};
    int bad = q.sync ? 0 : -1;
    if (!bad && (!q.out || !q.block || !q.function || !q.call))
        bad = err_set(err, "no memory");
    if (!bad)
        bad = find(&q, err);
    sites_deinit(&q.sites);
    numbers_deinit(&q.owner);
    numbers_deinit(&q.held);
    free(q.is_held);
    free(q.owned);
    free(q.block);
    free(q.function);
    free(q.call);
    if (!bad)
        return q.out;
    if (q.out)
        free_locks(q.out);
    return NULL;
}

const struct locks *locks_find(struct study *s, struct err *err)
{
    struct locks *l = s->fact[STUDY_LOCKS].made;
    if (l)
        return l;
    l = calloc(1, sizeof *l);
    if (!l) {
        err_set(err, "no memory");
        return NULL;
    }
    if (!locks_kept_get(s, l)) {
        free(l);
        l = look_for(s, err);
        if (!l)
            return NULL;
        locks_kept_put(s, l);
    }
    s->fact[STUDY_LOCKS].made = l;
    s->fact[STUDY_LOCKS].free = free_locks;
    return l;
}

const struct locks_event **locks_held(const struct locks *l, uint64_t insn, size_t *count,
                                      struct err *err)
{
    const struct locks_event **list = malloc(sizeof *list * (l->events + 1));
    *count = 0;
    if (!list) {
        err_set(err, "no memory");
        return NULL;
    }
    for (size_t i = 0; i < l->events && l->event[i].insn < insn; i++) {
        const struct locks_event *e = &l->event[i];
        size_t k = 0;
        if (e->take) {
            list[(*count)++] = e;
            continue;
        }
        while (k < *count && (list[k]->lock != e->lock || list[k]->thread != e->thread))
            k++;
        if (k < *count)
            memmove(&list[k], &list[k + 1], sizeof *list * (--*count - k));
    }
    return list;
}

const char *locks_kind_name(enum locks_kind kind)
{
    static const char *const name[] = {
        [LOCKS_NONE] = "",
        [LOCKS_MUTEX] = "mutex",
        [LOCKS_RWLOCK] = "rwlock",
        [LOCKS_SPIN] = "spin lock",
        [LOCKS_CONDITION] = "condition",
        [LOCKS_SEMAPHORE] = "semaphore",
        [LOCKS_BARRIER] = "barrier",
        [LOCKS_JOIN] = "join",
        [LOCKS_ONCE] = "once",
    };
    return name[kind];
}
