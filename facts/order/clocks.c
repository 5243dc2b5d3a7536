/* clocks.c - what happened before what, between the threads of a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * Invariants:
 * 1. A clock is the first instruction of each thread that is not known to be before; the thread's
 *    own part is not kept, since that is the instruction it is at.
 * 2. A thread that knows of an instruction of another thread knows all that the other one knew
 *    there. So a look at one element tells whether there is anything to acquire.
 * 3. What a variable carries is what one thread has released last: a clock that is shared until its
 *    owner learns something (copy on write), and the instruction. A store replaces it; an
 *    instruction that modifies a variable acquires before it releases, so nothing is lost.
 */
#include "facts/order/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "engine/os/kinds.h"
#include "facts/order/brief.h"
#include "trace/access.h"
#include "trace/walk.h"

struct clock {
    uint32_t refs;
    uint64_t known[]; /* by thread */
};

/* What a variable carries. */
struct released {
    struct clock *clock; /* NULL: nothing */
    uint32_t thread;
    uint64_t upto;
};

/* From instruction `at` on, `upto` is known of `of`. */
struct change {
    uint64_t at, upto;
    uint32_t of;
};

struct thread {
    struct clock *clock, *start; /* now; when it began */
    struct change *change;       /* in order; when all is done, by thread first */
    size_t changes, room;
};

struct clocks {
    struct thread *thread;
    uint32_t threads;
};

enum { FILES = 4096 };

struct pass {
    struct clocks *c;
    const struct sync *sync;
    struct trace *trace;
    const bool *without;       /* by variable: it orders nobody; NULL: all do */
    struct released *released; /* by variable; the last one is that of messages */
    struct briefs briefs;
    bool file[FILES]; /* descriptors that are of files */
    bool failed;      /* no memory */
};

/* ---- clocks ---- */

static struct clock *clock_new(uint32_t threads)
{
    struct clock *c = calloc(1, sizeof *c + sizeof *c->known * threads);
    if (c)
        c->refs = 1;
    return c;
}

static void clock_unref(struct clock *c)
{
    if (c && !--c->refs)
        free(c);
}

static struct clock *clock_ref(struct clock *c)
{
    c->refs++;
    return c;
}

/* The thread's clock, to be changed. NULL: no memory. */
static struct clock *own_clock(struct pass *p, uint32_t thread)
{
    struct thread *t = &p->c->thread[thread];
    if (t->clock->refs == 1)
        return t->clock;
    struct clock *c = clock_new(p->c->threads);
    if (!c) {
        p->failed = true;
        return NULL;
    }
    memcpy(c->known, t->clock->known, sizeof *c->known * p->c->threads);
    clock_unref(t->clock);
    t->clock = c;
    return c;
}

static void learn(struct pass *p, uint32_t thread, uint32_t of, uint64_t upto, uint64_t at)
{
    struct thread *t = &p->c->thread[thread];
    if (of == thread || t->clock->known[of] >= upto)
        return;
    if (array_push(&t->change, &t->changes, &t->room, (struct change){at, upto, of})) {
        p->failed = true;
        return;
    }
    t->clock->known[of] = upto;
}

static void acquire(struct pass *p, uint32_t thread, const struct released *r, uint64_t at)
{
    if (!r->clock || r->thread == thread ||
        p->c->thread[thread].clock->known[r->thread] >= r->upto || !own_clock(p, thread))
        return;
    for (uint32_t i = 0; i < p->c->threads; i++)
        if (r->clock->known[i])
            learn(p, thread, i, r->clock->known[i], at);
    learn(p, thread, r->thread, r->upto, at);
}

static void release(struct pass *p, uint32_t thread, struct released *r, uint64_t at)
{
    struct clock *now = p->c->thread[thread].clock;
    if (r->clock != now) {
        clock_unref(r->clock);
        r->clock = clock_ref(now);
    }
    r->thread = thread;
    r->upto = at + 1;
}

/* ---- what is executed ---- */

/* An access that the filter lets through. */
static void touch(struct pass *p, uint32_t thread, gaddr addr, uint64_t bytes, bool read,
                  bool write, uint64_t at)
{
    if (!bytes)
        return;
    for (size_t i = sync_find(p->sync, addr);
         i < p->sync->variables && p->sync->variable[i].start < addr + bytes; i++) {
        if (p->without && p->without[i])
            continue;
        if (read)
            acquire(p, thread, &p->released[i], at);
        if (write)
            release(p, thread, &p->released[i], at);
    }
}

static void take_access(struct pass *p, const struct trace_step *st, const struct code_block *b,
                        uint16_t k, const uint64_t *values, uint64_t insn)
{
    const struct plan_access *a = &b->access[k];
    const uint8_t *role = p->sync->role[st->block];
    uint64_t bytes;
    gaddr addr = access_extent(b, a, values, &bytes);
    bool read = a->mem.read && !(role && role[k] == SYNC_RELEASE);
    bool write = a->mem.write && !(role && role[k] == SYNC_ACQUIRE);
    touch(p, st->thread, addr, bytes, read, write, insn + a->insn);
}

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(trace_code(p->trace), st->block);
    const struct brief *x = briefs_of(&p->briefs, b);
    const uint64_t *values = w->chunk->value + st->value_at;
    uint64_t insn = w->insns;
    if (!x)
        return err_set(err, "no memory");
    for (; x->insn < st->insns; x++) {
        gaddr addr = brief_address(x, values);
        if (x->more == BRIEF_NOT_SIMPLE || sync_may(p->sync, addr) ||
            ((addr & 7) + x->more >= 8 && sync_may(p->sync, addr + x->more)))
            take_access(p, st, b, x->access, values, insn);
    }
    const struct sync_thread *t = &p->sync->thread[st->thread];
    if (t->word && st->insns && insn + st->insns - 1u == t->last)
        touch(p, st->thread, t->word, 1, false, true, t->last);
    return p->failed ? err_set(err, "no memory") : 0;
}

/* ---- what the kernel does ---- */

/* Files carry no messages, nor do the standard streams. */
static bool is_file(struct pass *p, const struct flow_call *c, struct call_kind k)
{
    bool opens = kinds_opens(k);
    uint64_t fd = opens ? (uint64_t)c->result : c->arg[0];
    bool *file = fd < FILES ? &p->file[fd] : NULL;
    bool was = fd <= 2 || (file && *file);
    if (file && (opens || k.does == DOES_CLOSES))
        *file = opens;
    return was && (k.message & MESSAGE_BY_DESCRIPTOR);
}

static struct released *messages(struct pass *p)
{
    return &p->released[p->sync->variables];
}

static void send(struct pass *p, uint32_t thread, uint64_t at)
{
    acquire(p, thread, messages(p), at);
    release(p, thread, messages(p), at);
}

static void take_ranges(struct pass *p, uint32_t thread, const struct flow_note *note, uint64_t at)
{
    size_t n;
    const struct flow_range *r = trace_ranges(note, &n);
    for (; n--; r++)
        touch(p, thread, r->addr, r->bytes, r->how == FLOW_READ, r->how != FLOW_READ, at);
}

static void take_call(struct pass *p, uint32_t thread, const struct flow_call *c, uint64_t at)
{
    const struct call_kind k = kinds_of(c->nr);
    bool file = is_file(p, c, k);
    take_ranges(p, thread, &c->note, at);
    if (file)
        return;
    if (k.message & MESSAGE_SENDS)
        send(p, thread, at);
    else if (k.message & MESSAGE_RECEIVES)
        acquire(p, thread, messages(p), at);
}

static void take_begin(struct pass *p, uint32_t thread, const struct flow_begin *f, uint64_t at)
{
    uint32_t number = trace_thread_find(p->trace, f->thread);
    struct thread *parent = &p->c->thread[thread], *child = &p->c->thread[number];
    if (trace_thread(p->trace, number) != f->thread || child == parent)
        return;
    clock_unref(child->clock);
    clock_unref(child->start);
    child->clock = clock_ref(parent->clock);
    child->start = NULL;
    if (own_clock(p, number)) {
        child->clock->known[thread] = at + 1;
        child->clock->known[number] = 0;
    }
    child->start = clock_ref(child->clock);
}

/* Which system call the instruction with that number makes, if the code of its block says so; -1:
 * it does not. */
static int64_t call_number(const struct code_block *b, unsigned i)
{
    struct insn_operands ops;
    while (i--) {
        insn_operands(&b->insn[i].in, &ops);
        bool of_rax = false;
        for (unsigned k = 0; k < ops.z.operand_count; k++)
            of_rax |= ops.op[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                      insn_gpr_number(ops.op[k].reg.value) == RAX &&
                      (ops.op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
        if (!of_rax)
            continue;
        if (ops.z.mnemonic == ZYDIS_MNEMONIC_MOV && ops.op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return (int64_t)(uint32_t)ops.op[1].imm.value.u;
        bool zero = ops.z.mnemonic == ZYDIS_MNEMONIC_XOR &&
                    ops.op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    ops.op[0].reg.value == ops.op[1].reg.value;
        return zero ? 0 : -1;
    }
    return -1;
}

/* A call that is given up while it waits may still have sent something: it is a message, unless it
 * is one that sends nothing (sleep, the wait for a lock, a thread's end). */
static void take_cut(struct pass *p, uint32_t thread, const struct flow_cut *f,
                     const struct trace_step *st, uint64_t at)
{
    const struct code_block *b = st ? code_block(trace_code(p->trace), st->block) : NULL;
    if (!b || st->insns >= b->insns || b->insn[st->insns].in.kind != INSN_SYSCALL ||
        b->insn[st->insns].in.pc != f->pc)
        return;
    int64_t call = call_number(b, st->insns);
    if (call < 0 || (kinds_of(call).message & MESSAGE_SENDS))
        send(p, thread, at);
}

/* It belongs to the instruction before it. */
static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct flow_note *n = w->note;
    const uint32_t thread = w->thread;
    const uint64_t at = w->insns ? w->insns - 1 : 0;
    switch (n->kind) {
    case FLOW_BEGIN:
        take_begin(p, thread, (const struct flow_begin *)n, at);
        break;
    case FLOW_CALL:
        take_call(p, thread, (const struct flow_call *)n, at);
        break;
    case FLOW_ACCESS:
        take_ranges(p, thread, n, at);
        break;
    case FLOW_CUT:
        take_cut(p, thread, (const struct flow_cut *)n,
                 w->next_step ? &w->chunk->step[w->next_step - 1] : NULL, at);
        break;
    case FLOW_SIGNAL:
        if (!((const struct flow_signal *)n)->fault)
            acquire(p, thread, messages(p), at);
        break;
    default:
        break;
    }
    return p->failed ? err_set(err, "no memory") : 0;
}

/* ---- the pass ---- */

static int by_thread(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->upto < y->upto ? -1 : x->upto > y->upto;
}

static int start(struct pass *p, struct err *err)
{
    struct clocks *c = p->c;
    uint32_t threads = trace_threads(p->trace);
    struct clock *nothing = clock_new(threads);
    c->thread = calloc(threads + 1, sizeof *c->thread);
    p->released = calloc(p->sync->variables + 1, sizeof *p->released);
    if (!nothing || !c->thread || !p->released) {
        clock_unref(nothing);
        return err_set(err, "no memory");
    }
    c->threads = threads;
    for (uint32_t i = 0; i < threads; i++)
        c->thread[i].clock = clock_ref(nothing);
    clock_unref(nothing);
    return briefs_init(&p->briefs, trace_code(p->trace), err);
}

static void finish(struct pass *p)
{
    for (uint32_t i = 0; i < p->c->threads; i++) {
        struct thread *t = &p->c->thread[i];
        if (t->changes)
            qsort(t->change, t->changes, sizeof *t->change, by_thread);
        clock_unref(t->clock);
        t->clock = NULL;
    }
    for (size_t i = 0; p->released && i <= p->sync->variables; i++)
        clock_unref(p->released[i].clock);
    free(p->released);
    briefs_deinit(&p->briefs);
}

struct clocks *clocks_new(struct study *study, const struct sync *sync, const bool *without,
                          struct err *err)
{
    struct pass p = {
        .c = calloc(1, sizeof *p.c), .sync = sync, .trace = study->trace, .without = without};
    static const struct trace_visitor visitor = {take_step, take_note};
    if (!p.c) {
        err_set(err, "no memory");
        return NULL;
    }
    int bad = start(&p, err);
    if (!bad)
        bad = trace_walk_all(p.trace, sync->first_chunk, &visitor, &p, err);
    finish(&p);
    if (!bad)
        return p.c;
    clocks_free(p.c);
    return NULL;
}

void clocks_free(struct clocks *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->threads; i++) {
        clock_unref(c->thread[i].clock);
        clock_unref(c->thread[i].start);
        free(c->thread[i].change);
    }
    free(c->thread);
    free(c);
}

/* What thread `t` knows of `of` when it has executed `insn`. */
static uint64_t known_of(const struct thread *t, uint32_t of, uint64_t insn)
{
    const struct change *c = t->change;
    const size_t behind =
        search_first(t->changes, i, c[i].of < of || (c[i].of == of && c[i].at <= insn));
    if (behind && c[behind - 1].of == of)
        return c[behind - 1].upto;
    return t->start ? t->start->known[of] : 0;
}

bool clocks_before(const struct clocks *c, struct clocks_point a, struct clocks_point b)
{
    if (a.thread == b.thread)
        return true;
    return a.thread < c->threads && b.thread < c->threads &&
           a.insn < known_of(&c->thread[b.thread], a.thread, b.insn);
}

size_t clocks_changes(const struct clocks *c)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->threads; i++)
        n += c->thread[i].changes;
    return n;
}
