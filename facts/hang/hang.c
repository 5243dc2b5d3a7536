/* hang.c - what every thread waits for at the end. SPDX-License-Identifier: MIT */
#include "facts/hang/hang.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/x86/insn.h"
#include "facts/hang/condition.h"
#include "facts/hang/hang_int.h"
#include "facts/hang/history.h"
#include "facts/locks/naming.h"
#include "facts/order/parts.h"
#include "pinball/end_reason.h"

enum { THREADS_MOST = 4096 };

/* The C library's: what is where in its objects. */
enum { MUTEX_OWNER_AT = 8, RWLOCK_WRITER_AT = 24, THREAD_BYTES = 4096 };

/* ---- where threads are ---- */

static size_t read_end(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

static uint32_t word_at(struct past *end, gaddr addr)
{
    uint32_t word = 0;
    return past_read(end, addr, &word, sizeof word) == sizeof word ? word : 0;
}

static bool is_futex_wait(const struct hang_thread *t)
{
    enum { COMMAND = 127, WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13 };
    unsigned command = t->arg[1] & COMMAND;
    return t->call >= 0 && kinds_of(t->call).does == DOES_FUTEX &&
           (command == WAIT || command == LOCK_PI || command == WAIT_BITSET || command == LOCK_PI2);
}

/* The number that the code before a system call has loaded, on a straight way to it; KINDS_CALLS:
 * it is not to be seen. */
static int64_t loaded_number(struct hang_job *j, gaddr call)
{
    enum { LOOK_BACK = 48, LOAD_BYTES = 5, LOAD = 0xb8 };
    uint8_t code[LOOK_BACK];
    uint32_t number;
    if (past_read(j->end, call - LOOK_BACK, code, sizeof code) != sizeof code)
        return KINDS_CALLS;
    insn_init();
    for (unsigned at = LOOK_BACK - LOAD_BYTES + 1; at-- > 0;) {
        unsigned i = at + LOAD_BYTES;
        struct insn in = {.kind = INSN_PLAIN};
        if (code[at] != LOAD)
            continue;
        while (i < LOOK_BACK &&
               insn_decode(&in, call - LOOK_BACK + i, code + i, LOOK_BACK - i) == 0 &&
               in.kind == INSN_PLAIN && !(in.gprs_kill & 1u << RAX) && !(in.gprs_read & 1u << RAX))
            i += in.len;
        memcpy(&number, code + at + 1, sizeof number);
        if (i == LOOK_BACK)
            return number;
    }
    return KINDS_CALLS;
}

/* The number of the call of the kernel that a thread is in; -1: none, KINDS_CALLS: one
 * that is not known. A signal that ends the
 * program interrupts the call of the thread that takes it: then the result is there, and the number
 * in the code before. */
static int64_t call_number(struct hang_job *j, const struct program_registers *r)
{
    enum { ENTRY_BYTES = 2, EINTR_RESULT = -4 };
    enum { RESTART_FIRST = -516, RESTART_LAST = -512 }; /* the kernel's own results */
    static const uint8_t syscall[ENTRY_BYTES] = {0x0f, 0x05};
    const int64_t rax = (int64_t)r->gpr[RAX];
    uint8_t code[ENTRY_BYTES];
    if (past_read(j->end, r->rip, code, sizeof code) == sizeof code &&
        memcmp(code, syscall, sizeof code) == 0)
        return rax;
    if ((rax != EINTR_RESULT && (rax < RESTART_FIRST || rax > RESTART_LAST)) ||
        past_read(j->end, r->rip - sizeof code, code, sizeof code) != sizeof code ||
        memcmp(code, syscall, sizeof code) != 0)
        return -1;
    return loaded_number(j, r->rip - sizeof code);
}

static void look_at_call(struct hang_job *j, struct hang_place *p,
                         const struct program_registers *r)
{
    static const uint8_t argument[HANG_ARGUMENTS] = {RDI, RSI, RDX, R10, R8, R9};
    enum { PRIVATE = 128 };
    struct hang_thread *t = &p->thread;
    t->call = call_number(j, r);
    if (t->call < 0)
        return;
    for (unsigned i = 0; i < HANG_ARGUMENTS; i++)
        t->arg[i] = r->gpr[argument[i]];
    t->waits = kinds_of(t->call).waits || t->call == KINDS_CALLS;
    p->futex = is_futex_wait(t);
    t->waits = t->waits && (p->futex || kinds_of(t->call).does != DOES_FUTEX);
    t->endless = p->futex && !t->arg[3] && (t->arg[1] & PRIVATE);
}

/* Where no code is the user's own: the innermost call outside the C library. */
static gaddr other_line_pc(struct study *s, const struct hang_place *p)
{
    for (size_t i = 0; i < p->frames; i++)
        if (parts_code(s, stack_line_pc(p->frame, i)) == PART_OTHER)
            return stack_line_pc(p->frame, i);
    return 0;
}

static int place_thread(struct hang_job *j, const struct program_thread *live, struct err *err)
{
    struct hang_place *p = &j->place[j->places];
    const struct stack_memory memory = {read_end, j->end};
    struct program_registers *r = malloc(sizeof *r);
    if (!r)
        return err_set(err, "no memory");
    if (past_registers(j->end, live->number, r, err)) {
        free(r);
        return -1;
    }
    struct hang_thread *t = &p->thread;
    t->number = live->number;
    t->tid = live->tid;
    memcpy(t->name, live->name, sizeof t->name);
    t->name[sizeof t->name - 1] = 0;
    t->at = (struct position){.thread = live->number, .count = r->count, .pc = r->rip};
    look_at_call(j, p, r);
    p->frame[0] = stack_innermost(r);
    p->fs_base = r->fs_base;
    p->frames = stack_unwind(j->study, &memory, p->frame, STACK_FRAMES);
    p->own = stack_own(j->study, p->frame, p->frames);
    if (p->own < p->frames) {
        t->line_pc = stack_line_pc(p->frame, p->own);
        t->cfa = p->frame[p->own].cfa;
    } else {
        t->line_pc = other_line_pc(j->study, p);
    }
    j->places++;
    free(r);
    return 0;
}

static int place_threads(struct hang_job *j, struct err *err)
{
    struct program_thread *live = calloc(THREADS_MOST, sizeof *live);
    if (!live)
        return err_set(err, "no memory");
    size_t n = past_threads(j->end, live, THREADS_MOST);
    n = n < THREADS_MOST ? n : THREADS_MOST;
    j->place = calloc(n + 1, sizeof *j->place);
    int bad = j->place ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && i < n; i++)
        bad = place_thread(j, &live[i], err);
    free(live);
    return bad;
}

/* ---- what they wait for ---- */

static const struct hang_place *by_tid(const struct hang_job *j, int32_t tid)
{
    for (size_t i = 0; tid && i < j->places; i++)
        if (j->place[i].thread.tid == tid)
            return &j->place[i];
    return NULL;
}

static const struct hang_place *by_number(const struct hang_job *j, uint32_t number)
{
    for (size_t i = 0; i < j->places; i++)
        if (j->place[i].thread.number == number)
            return &j->place[i];
    return NULL;
}

static struct hang_moment moment_of(struct hang_job *j, const struct history_call *c)
{
    struct hang_moment m = {.at = c->at, .ticks = c->ticks};
    if (m.at.thread)
        m.line_pc = history_line(j->study, c);
    return m;
}

/* A thread's end is a word of its own that the kernel clears. */
static bool look_for_join(struct hang_job *j, struct hang_place *p)
{
    const gaddr word = p->thread.arg[0];
    for (size_t i = 0; i < j->places; i++) {
        const struct hang_place *o = &j->place[i];
        if (o == p || word - o->fs_base >= THREAD_BYTES ||
            word_at(j->end, word) != (uint32_t)o->thread.tid)
            continue;
        p->thread.kind = LOCKS_JOIN;
        p->thread.holder = o->thread.number;
        p->thread.endless = !p->thread.arg[3];
        return true;
    }
    return false;
}

/* The call that the thread is in, of those that were told: its frame is one of the thread's. */
static const struct history_party *call_of(const struct hang_job *j, const struct hang_place *p)
{
    const struct history_party *last = NULL;
    for (size_t i = 0; i < j->history.parties; i++) {
        const struct history_party *h = &j->history.party[i];
        if (h->thread != p->thread.number || (last && h->in.order < last->in.order))
            continue;
        for (size_t k = 0; k < p->frames; k++)
            if (h->in.at.thread && p->frame[k].cfa &&
                h->in.frame.reg[STACK_RSP] + 8 == p->frame[k].cfa)
                last = h;
    }
    return last;
}

static void set_holder(struct hang_job *j, struct hang_thread *t, const struct history_party *h)
{
    t->holder = h->thread;
    t->ended = !by_number(j, h->thread);
    t->taken = moment_of(j, h->thread == t->number ? &h->earlier : &h->in);
}

/* It took the object, and was not told to have given it back. */
static bool has_kept(const struct history_party *h)
{
    return h->in.at.thread && h->out.order < h->in.order;
}

/* Is a reader's, without the one that the waiter itself wants now. */
static bool is_read(const struct history_party *h, const struct hang_thread *t)
{
    return h->readers > (h->thread == t->number && history_reads(&h->in));
}

/* The lock's memory says which thread has it. */
static void find_holder(struct hang_job *j, struct hang_place *p)
{
    struct hang_thread *t = &p->thread;
    gaddr at = t->object + (t->kind == LOCKS_MUTEX ? MUTEX_OWNER_AT : RWLOCK_WRITER_AT);
    int32_t tid = (int32_t)word_at(j->end, at);
    const struct hang_place *owner = by_tid(j, tid);
    for (size_t i = 0; i < j->history.parties; i++) {
        const struct history_party *h = &j->history.party[i];
        bool live = by_number(j, h->thread) != NULL;
        if (h->object != t->object || h->in.is.kind != t->kind)
            continue;
        if (owner ? h->thread == owner->thread.number
            : tid ? !live && has_kept(h)
                  : t->kind == LOCKS_RWLOCK && is_read(h, t))
            set_holder(j, t, h);
    }
    if (owner && !t->holder)
        t->holder = owner->thread.number;
}

static void find_signal(struct hang_job *j, struct hang_thread *t)
{
    const struct history_call *last = NULL;
    for (size_t i = 0; i < j->history.parties; i++) {
        const struct history_party *h = &j->history.party[i];
        if (h->object == t->object && h->out.at.thread && (!last || last->order < h->out.order))
            last = &h->out;
    }
    if (last)
        t->signalled = moment_of(j, last);
}

static void name_object(struct hang_job *j, struct hang_place *p)
{
    struct hang_thread *t = &p->thread;
    const struct source_frame frame = {.cfa = t->cfa, .fs_base = p->fs_base};
    naming_lock(j->study, t->line_pc, &frame, t->object, t->what, sizeof t->what);
}

static void look_at_futex(struct hang_job *j, struct hang_place *p)
{
    struct hang_thread *t = &p->thread;
    const struct history_party *h;
    if (look_for_join(j, p)) {
        snprintf(t->what, sizeof t->what, "T%" PRIu32, t->holder);
        return;
    }
    h = call_of(j, p);
    t->object = h ? h->object : t->arg[0];
    t->kind = h ? h->in.is.kind : LOCKS_NONE;
    if (h)
        t->since = moment_of(j, &h->in);
    name_object(j, p);
    if (t->kind == LOCKS_MUTEX || t->kind == LOCKS_RWLOCK)
        find_holder(j, p);
    if (t->kind == LOCKS_CONDITION || t->kind == LOCKS_SEMAPHORE)
        find_signal(j, t);
}

static void look_at_wait(struct hang_job *j, struct hang_place *p)
{
    struct hang_thread *t = &p->thread;
    if (p->futex)
        look_at_futex(j, p);
    else if (t->waits && kinds_of(t->call).message & MESSAGE_BY_DESCRIPTOR)
        snprintf(t->what, sizeof t->what, "descriptor %" PRIu64, t->arg[0]);
}

/* ---- circles ---- */

static void find_circles(struct hang_job *j)
{
    for (size_t i = 0; i < j->places; i++) {
        const struct hang_place *p = &j->place[i];
        size_t steps = 0;
        if (p->thread.circle)
            continue;
        do
            p = p->thread.waits && p->thread.holder && p->thread.endless
                    ? by_number(j, p->thread.holder)
                    : NULL;
        while (p && p != &j->place[i] && ++steps <= j->places);
        if (p != &j->place[i])
            continue;
        uint32_t circle = ++j->circles;
        do {
            struct hang_place *in = &j->place[p - j->place];
            in->thread.circle = circle;
            p = by_number(j, in->thread.holder);
        } while (p != &j->place[i]);
    }
}

static int by_circle(const void *a, const void *b)
{
    const struct hang_thread *x = a, *y = b;
    uint32_t c = x->circle ? x->circle : UINT32_MAX, d = y->circle ? y->circle : UINT32_MAX;
    if (c != d)
        return c < d ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* ---- all of it ---- */

static int tell_past(struct hang_job *j, struct err *err)
{
    gaddr *word = calloc(j->places + 1, sizeof *word);
    size_t words = 0;
    if (!word)
        return err_set(err, "no memory");
    for (size_t i = 0; i < j->places; i++)
        if (j->place[i].futex)
            word[words++] = j->place[i].thread.arg[0];
    int bad = words ? history_make(&j->history, j->study, word, words, err) : 0;
    free(word);
    return bad;
}

static struct hang *make_list(struct hang_job *j)
{
    struct hang *h = calloc(1, sizeof *h);
    if (h && !(h->thread = calloc(j->places + 1, sizeof *h->thread))) {
        free(h);
        return NULL;
    }
    for (size_t i = 0; h && i < j->places; i++) {
        h->thread[h->threads++] = j->place[i].thread;
        h->waiting += j->place[i].thread.waits;
    }
    if (h) {
        h->circles = j->circles;
        qsort(h->thread, h->threads, sizeof *h->thread, by_circle);
    }
    return h;
}

static void free_hang(void *made)
{
    struct hang *h = made;
    free(h->thread);
    free(h);
}

static struct hang *find(struct hang_job *j, struct err *err)
{
    struct hang *made;
    if (!(j->end = study_at_end(j->study, err)) || place_threads(j, err) || tell_past(j, err))
        return NULL;
    for (size_t i = 0; i < j->places; i++)
        look_at_wait(j, &j->place[i]);
    if (condition_find_all(j, err))
        return NULL;
    find_circles(j);
    if (!(made = make_list(j)))
        err_set(err, "no memory");
    return made;
}

bool hang_is(const struct study *s, const struct hang *h)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL, SIGQUIT, SIGHUP, SIGALRM};
    struct position at;
    int status;
    uint32_t reason = study_end(s, &status, &at);
    bool is = reason == END_KILLED || reason == END_LOST;
    for (size_t i = 0; reason == END_SIGNAL && i < sizeof signals / sizeof *signals; i++)
        is = is || status == signals[i];
    for (size_t i = 0; is && h && i < h->threads; i++)
        if (h->thread[i].number == 1)
            return h->thread[i].waits;
    return is;
}

const struct hang *hang_find(struct study *s, struct err *err)
{
    struct hang *h = s->fact[STUDY_HANG].made;
    struct hang_job j = {.study = s};
    if (h)
        return h;
    h = find(&j, err);
    history_deinit(&j.history);
    free(j.place);
    if (h) {
        s->fact[STUDY_HANG].made = h;
        s->fact[STUDY_HANG].free = free_hang;
    }
    return h;
}
