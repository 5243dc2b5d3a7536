/* sync.c - memory by which threads synchronise.
 *
 * SPDX-License-Identifier: MIT
 *
 * One look at all code, which tells what instructions with LOCK there are, and one pass over the
 * trace, which tells what memory they touched.
 */
#include "facts/order/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "engine/os/kinds.h"
#include "source/atomic.h"
#include "trace/access.h"
#include "trace/pcset.h"
#include "trace/walk.h"

enum { RECENT = 1024, NEVER = 4, FUTEX_BYTES = 4, FILTER_LEAST = 16, FILTER_MOST = 26 };

struct pass {
    struct sync *s;
    struct study *study;
    struct pcset *found; /* address, bytes */
    gaddr never[NEVER];  /* addresses that are no variables */
    unsigned nevers;
    gaddr recent[RECENT]; /* found before: most are found again and again */
    uint32_t thread;
    uint32_t first_begin; /* chunk; UINT32_MAX: none yet */
};

static void add(struct pass *p, gaddr addr, uint64_t bytes)
{
    gaddr *recent = &p->recent[(addr >> 2 ^ addr >> 12) % RECENT];
    gaddr both = addr ^ bytes << 56;
    if (*recent == both || !bytes)
        return;
    pcset_add(p->found, addr, bytes);
    *recent = both;
}

/* ---- code ---- */

static bool begins_with(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    return false;
}

/* By the function that a locked instruction is in. */
static enum sync_role role_of(struct source *s, gaddr pc)
{
    static const char *const take[] = {"pthread_mutex_lock",
                                       "pthread_mutex_trylock",
                                       "pthread_mutex_timedlock",
                                       "pthread_mutex_clocklock",
                                       "pthread_mutex_cond_lock",
                                       "pthread_spin_lock",
                                       "pthread_spin_trylock",
                                       "mtx_lock",
                                       "mtx_trylock",
                                       "mtx_timedlock",
                                       "lll_lock_wait",
                                       NULL};
    static const char *const give[] = {"pthread_mutex_unlock", "pthread_spin_unlock", "mtx_unlock",
                                       NULL};
    struct source_line l;
    source_line(s, pc, &l);
    const char *name = l.outer ? l.outer : "";
    name += strspn(name, "_");
    return begins_with(name, take)   ? SYNC_ACQUIRE
           : begins_with(name, give) ? SYNC_RELEASE
                                     : SYNC_BOTH;
}

/* How many threads there are: pthread_create() counts them, and so does a thread's end, but nobody
 * is to know by that what the thread did. */
static bool counts_threads(struct source *s, const struct insn *in, const struct plan_access *a)
{
    static const char *const make[] = {"pthread_create", "thrd_create", NULL};
    struct source_line l;
    bool adds = in->mnemonic == ZYDIS_MNEMONIC_INC || in->mnemonic == ZYDIS_MNEMONIC_DEC ||
                in->mnemonic == ZYDIS_MNEMONIC_ADD || in->mnemonic == ZYDIS_MNEMONIC_XADD;
    if (!adds || a->slot != PLAN_NONE)
        return false;
    source_line(s, in->pc, &l);
    return l.outer && begins_with(l.outer + strspn(l.outer, "_"), make);
}

/* An operand of std::atomic's code. Those of a function of its own may also be its locals. */
static bool is_object(const struct code_insn *ci, const struct plan_access *a, bool inlined)
{
    struct insn_operands ops;
    if (ci->in.kind != INSN_PLAIN || ci->in.mnemonic == ZYDIS_MNEMONIC_PUSH ||
        ci->in.mnemonic == ZYDIS_MNEMONIC_POP)
        return false;
    if (inlined)
        return true;
    insn_operands(&ci->in, &ops);
    ZydisRegister base = ops.op[a->mem.op].mem.base;
    return base != ZYDIS_REGISTER_RBP && base != ZYDIS_REGISTER_RSP;
}

/* Fills in the roles of an instruction's accesses. True: one is not plain. */
static bool look_at(struct pass *p, const struct code_block *b, const struct code_insn *ci,
                    uint8_t *role)
{
    struct source *source = p->study->source;
    bool any = false, inlined = false, locked = insn_locks(&ci->in);
    bool atomic = !locked && ci->accesses && source_atomic_code(source, ci->in.pc, &inlined);
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &b->access[ci->access_at + k];
        if (locked && a->mem.write)
            role[ci->access_at + k] = (uint8_t)role_of(source, ci->in.pc);
        if (locked && p->nevers < NEVER && counts_threads(source, &ci->in, a))
            p->never[p->nevers++] = (gaddr)a->add;
        if (atomic && is_object(ci, a, inlined))
            role[ci->access_at + k] = SYNC_BOTH;
        any = any || role[ci->access_at + k];
    }
    return any;
}

static int look_at_code(struct pass *p, struct err *err)
{
    struct sync *s = p->s;
    struct code *code = trace_code(p->study->trace);
    uint8_t role[PLAN_ACCESSES];
    s->blocks = code_count(code);
    s->role = calloc(s->blocks + 1, sizeof *s->role);
    if (!s->role)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < s->blocks; i++) {
        const struct code_block *b = code_block(code, i);
        bool any = false;
        memset(role, SYNC_PLAIN, sizeof role);
        for (unsigned k = 0; k < b->insns; k++)
            any |= look_at(p, b, &b->insn[k], role);
        if (!any)
            continue;
        s->role[i] = malloc(b->accesses);
        if (!s->role[i])
            return err_set(err, "no memory");
        memcpy(s->role[i], role, b->accesses);
    }
    return 0;
}

/* ---- the trace ---- */

static int take_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct trace_step *st = w->step;
    (void)err;
    const uint8_t *role = p->s->role[st->block];
    p->thread = st->thread;
    if (st->insns)
        p->s->thread[st->thread].last = w->insns + st->insns - 1u;
    if (!role)
        return 0;
    const struct code_block *b = code_block(trace_code(p->study->trace), st->block);
    for (uint32_t k = 0; k < b->accesses && b->access[k].insn < st->insns; k++)
        if (role[k] && !access_is_odd(&b->access[k]))
            add(p, code_address(&b->access[k], w->chunk->value + st->value_at),
                b->access[k].mem.bytes);
    return 0;
}

/* The word of a new thread. Where the call's arguments are in memory: what it writes is the same
 * word in the libraries that use it. */
static void take_made(struct pass *p, const struct flow_call *c, bool in_memory)
{
    enum { CHILD_CLEARTID = 0x200000 };
    struct sync_thread *t = &p->s->thread[p->thread];
    gaddr word = !in_memory && c->arg[0] & CHILD_CLEARTID ? c->arg[3] : 0;
    size_t ranges;
    const struct flow_range *r = trace_ranges(&c->note, &ranges);
    for (size_t i = 0; in_memory && !word && i < ranges; i++)
        word = r[i].how == FLOW_WRITE && r[i].bytes == FUTEX_BYTES ? r[i].addr : 0;
    if (t->child && word) {
        p->s->thread[t->child - 1].word = word;
        add(p, word, FUTEX_BYTES);
    }
    t->child = 0;
}

static void take_call(struct pass *p, const struct flow_call *c)
{
    enum {
        COMMAND = 0x7f,
        REQUEUE = 3,
        CMP_REQUEUE,
        WAKE_OP,
        WAIT_REQUEUE_PI = 11,
        CMP_REQUEUE_PI
    };
    switch (kinds_of(c->nr).does) {
    case DOES_CLONES:
        take_made(p, c, false);
        break;
    case DOES_CLONES_BY:
        take_made(p, c, true);
        break;
    case DOES_SETS_WORD:
        p->s->thread[p->thread].word = c->arg[0];
        add(p, c->arg[0], FUTEX_BYTES);
        break;
    case DOES_FUTEX: {
        unsigned command = c->arg[1] & COMMAND;
        add(p, c->arg[0], FUTEX_BYTES);
        if ((command >= REQUEUE && command <= WAKE_OP) || command == WAIT_REQUEUE_PI ||
            command == CMP_REQUEUE_PI)
            add(p, c->arg[4], FUTEX_BYTES);
        break;
    }
    default:
        break;
    }
}

static void take_begin(struct pass *p, const struct flow_begin *f, uint32_t chunk)
{
    uint32_t child = trace_thread_find(p->study->trace, f->thread);
    if (trace_thread(p->study->trace, child) != f->thread)
        return; /* it has not executed anything */
    p->s->thread[child].begun = true;
    p->s->thread[p->thread].child = child + 1;
    if (p->first_begin == UINT32_MAX)
        p->first_begin = chunk;
}

static int take_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    (void)err;
    p->thread = w->thread;
    if (w->note->kind == FLOW_BEGIN)
        take_begin(p, (const struct flow_begin *)w->note, w->chunk->number);
    else if (w->note->kind == FLOW_CALL)
        take_call(p, (const struct flow_call *)w->note);
    return 0;
}

static int look_at_trace(struct pass *p, struct err *err)
{
    static const struct trace_visitor visitor = {take_step, take_note};
    struct trace *trace = p->study->trace;
    uint32_t threads = trace_threads(trace);
    for (uint32_t i = 0; i < threads; i++)
        p->s->thread[i].last = UINT64_MAX;
    int bad = trace_walk_all(trace, 0, &visitor, p, err);
    p->s->first_chunk = p->first_begin == UINT32_MAX ? 0 : p->first_begin;
    for (uint32_t i = 1; i < threads; i++)
        if (!p->s->thread[i].begun)
            p->s->first_chunk = 0;
    return bad;
}

/* ---- variables ---- */

static int make_filter(struct sync *s, struct err *err)
{
    unsigned bits = FILTER_LEAST;
    while (bits < FILTER_MOST && (uint64_t)1 << bits < 32 * (uint64_t)s->variables)
        bits++;
    s->filter_shift = 64 - bits;
    s->filter = calloc((size_t)1 << (bits - 6), sizeof *s->filter);
    if (!s->filter)
        return err_set(err, "no memory");
    for (size_t i = 0; i < s->variables; i++)
        for (gaddr w = s->variable[i].start >> 3; w <= (s->variable[i].end - 1) >> 3; w++) {
            uint64_t h = hash_fold(0, w) >> s->filter_shift;
            s->filter[h >> 6] |= 1ull << (h & 63);
        }
    return 0;
}

static bool is_never(const struct pass *p, gaddr addr)
{
    for (unsigned i = 0; i < p->nevers; i++)
        if (p->never[i] == addr)
            return true;
    return false;
}

/* Variables that overlap are one. */
static int merge(struct pass *p, struct err *err)
{
    struct sync *s = p->s;
    size_t count;
    const gaddr(*pair)[2] = pcset_pairs(p->found, &count);
    s->variable = malloc(sizeof *s->variable * (count + 1));
    if (!s->variable || !pair || pcset_failed(p->found))
        return err_set(err, "no memory");
    for (size_t i = 0; i < count; i++) {
        struct sync_variable v = {pair[i][0], pair[i][0] + pair[i][1]};
        struct sync_variable *before = s->variables ? &s->variable[s->variables - 1] : NULL;
        if (v.end < v.start || is_never(p, v.start))
            continue;
        if (!before || v.start >= before->end)
            s->variable[s->variables++] = v;
        else if (v.end > before->end)
            before->end = v.end;
    }
    return make_filter(s, err);
}

size_t sync_find(const struct sync *s, gaddr addr)
{
    return search_upto(s->variable, s->variables, end, addr);
}

static void add_atomic(void *arg, gaddr addr, uint64_t bytes)
{
    add(arg, addr, bytes);
}

int sync_init(struct sync *s, struct study *study, struct err *err)
{
    struct pass p = {.s = s, .study = study, .found = pcset_new(), .first_begin = UINT32_MAX};
    *s = (struct sync){.thread = calloc(trace_threads(study->trace) + 1, sizeof *s->thread)};
    int bad = p.found && s->thread ? 0 : err_set(err, "no memory");
    if (!bad)
        bad = look_at_code(&p, err) || look_at_trace(&p, err);
    if (!bad) {
        source_atomic_each(study->source, add_atomic, &p);
        bad = merge(&p, err);
    }
    pcset_free(p.found);
    return bad ? -1 : 0;
}

void sync_deinit(struct sync *s)
{
    for (uint32_t i = 0; s->role && i < s->blocks; i++)
        free(s->role[i]);
    free(s->role);
    free(s->variable);
    free(s->thread);
    free(s->filter);
    *s = (struct sync){0};
}
