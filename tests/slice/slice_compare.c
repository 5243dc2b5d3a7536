/* slice_compare.c - slices of a recording by slicer/ and by the oracle, node by node.
 *
 * SPDX-License-Identifier: MIT
 *
 *     slice_compare PINBALL TRACE [SEED [CRITERIA]]
 *
 * Traces the pinball into the file TRACE and draws criteria: registers and memory at points, uses
 * of instructions. Each is sliced with all edges, without control, by value only; with saved
 * registers looked through and kept; pruned by random locations. Says what differs first, counted
 * from the end, and why the oracle has it. The trace has small chunks, and a third of the slices
 * and their edges must be what they are if all chunks are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "pinball/pinball.h"
#include "slicer/walk/edges.h"
#include "source/frame.h"
#include "study/study.h"
#include "tests/slice/oracle.h"
#include "trace/collect.h"

enum {
    CRITERIA = 25,
    DIFFERENCES_MOST = 5,
    TRIES = 400,
    PRUNES = 10,
    INSNS_MOST = 4000000,
    SKIP = 77
};

static struct {
    struct trace *trace;
    struct trace_chunk chunk;
    uint64_t random;
    int32_t program; /* the program's own file */
    uint64_t *own;   /* the first nodes of its steps */
    size_t owns;
    struct slice_want *kernel; /* memory that system calls and signals have written */
    size_t kernels, kernel_room;
    uint64_t *nodes; /* of the slices of the first setting */
} in;

static void fail(const char *what)
{
    fprintf(stderr, "slice_compare: %s\n", what);
    exit(2);
}

static uint64_t draw(uint64_t below)
{
    in.random ^= in.random << 13;
    in.random ^= in.random >> 7;
    in.random ^= in.random << 17;
    return below ? (in.random * 0x2545f4914f6cdd1dull >> 11) % below : 0;
}

/* ---- places in the trace ---- */

struct spot {
    uint64_t node;
    uint32_t thread;
    const struct code_block *block;
    const uint64_t *value;
    unsigned insn;
};

static struct spot spot_of(uint64_t node)
{
    struct err err;
    uint32_t n = 0;
    while (n + 1 < trace_chunks(in.trace) && trace_chunk_first(in.trace, n + 1) <= node)
        n++;
    if ((!in.chunk.step || in.chunk.number != n) && trace_read(in.trace, n, &in.chunk, &err))
        fail(err.msg);
    uint32_t at = (uint32_t)(node - in.chunk.first_insn), low = 0, high = in.chunk.steps;
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        if (in.chunk.step[mid].insn_at <= at)
            low = mid;
        else
            high = mid;
    }
    const struct trace_step *s = &in.chunk.step[low];
    return (struct spot){.node = node,
                         .thread = s->thread,
                         .block = code_block(trace_code(in.trace), s->block),
                         .value = in.chunk.value + s->value_at,
                         .insn = at - s->insn_at};
}

static int32_t file_at(gaddr pc)
{
    const struct trace_map *map;
    size_t maps = trace_maps(in.trace, &map);
    for (size_t i = 0; i < maps; i++)
        if (pc >= map[i].start && pc < map[i].end)
            return map[i].file;
    return -1;
}

static void *more(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 1024;
    list = realloc(list, *room * size);
    if (!list)
        fail("no memory");
    return list;
}

static void add_kernel(uint64_t at, gaddr addr, uint64_t bytes)
{
    in.kernel = more(in.kernel, in.kernels, &in.kernel_room, sizeof *in.kernel);
    in.kernel[in.kernels++] =
        (struct slice_want){.kind = SLICE_MEMORY, .at = at, .addr = addr, .bytes = bytes};
}

static void find_kernel(const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->notes; i++) {
        const struct flow_note *n = trace_note(c, i);
        uint32_t step = c->note[i].step;
        uint64_t at = c->first_insn + (step < c->steps ? c->step[step].insn_at : c->insns);
        const struct flow_call *call = (const struct flow_call *)n;
        const struct flow_signal *signal = (const struct flow_signal *)n;
        if (n->kind == FLOW_SIGNAL)
            add_kernel(at, signal->frame, signal->end - signal->frame);
        for (size_t k = 0;
             n->kind == FLOW_CALL && sizeof *call + k * sizeof call->range[0] < n->bytes; k++)
            if (call->range[k].how != FLOW_READ)
                add_kernel(at, call->range[k].addr, call->range[k].bytes);
    }
}

/* Where the program's own code is executed: most of a small program is the loader's start. */
static void find_own(void)
{
    const struct trace_map *map;
    size_t maps = trace_maps(in.trace, &map), room = 0;
    struct err err;
    in.program = -1;
    for (size_t i = 0; i < maps && in.program < 0; i++)
        in.program = map[i].file;
    uint32_t blocks = code_count(trace_code(in.trace));
    bool *own = calloc(blocks + 1, 1);
    for (uint32_t i = 0; own && i < blocks; i++)
        own[i] = file_at(code_block(trace_code(in.trace), i)->pc) == in.program;
    for (uint32_t n = 0; own && n < trace_chunks(in.trace); n++) {
        if (trace_read(in.trace, n, &in.chunk, &err))
            fail(err.msg);
        find_kernel(&in.chunk);
        for (uint32_t i = 0; i < in.chunk.steps; i++) {
            const struct trace_step *s = &in.chunk.step[i];
            if (!own[s->block] || !s->insns)
                continue;
            in.own = more(in.own, in.owns, &room, sizeof *in.own);
            in.own[in.owns++] = in.chunk.first_insn + s->insn_at;
        }
    }
    free(own);
}

/* ---- criteria ---- */

static uint64_t draw_node(void)
{
    uint64_t insns = trace_insns(in.trace);
    if (in.owns && draw(2)) {
        uint64_t node = in.own[draw(in.owns)] + draw(4);
        return node < insns ? node : insns - 1;
    }
    return draw(4) ? draw(insns) : insns - 1 - draw(insns / 10 + 1);
}

static bool any(const struct insn *i)
{
    return i->kind != INSN_SYSCALL;
}

static bool branches(const struct insn *i)
{
    return i->kind == INSN_JCC || i->kind == INSN_JMP_IND || i->kind == INSN_CALL_IND ||
           i->kind == INSN_RET;
}

/* An access that it makes, at a known address. */
static const struct plan_access *access_of(const struct spot *s, bool write)
{
    const struct code_insn *ci = &s->block->insn[s->insn];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &s->block->access[ci->access_at + k];
        bool told = a->slot != PLAN_NONE || a->add;
        if (told && (write ? a->mem.write : a->mem.read))
            return a;
    }
    return NULL;
}

static bool uses_wanted(struct slice_want *w, bool (*what)(const struct insn *), bool load)
{
    for (int i = 0; i < TRIES; i++) {
        struct spot s = spot_of(draw_node());
        if (!what(&s.block->insn[s.insn].in) || (load && !access_of(&s, false)))
            continue;
        *w = (struct slice_want){.kind = SLICE_USES, .at = s.node, .thread = s.thread};
        return true;
    }
    return false;
}

static bool memory_wanted(struct slice_want *w)
{
    uint64_t insns = trace_insns(in.trace);
    for (int i = 0; i < TRIES; i++) {
        struct spot s = spot_of(draw_node());
        const struct plan_access *a = access_of(&s, true);
        if (!a || !a->mem.bytes)
            continue;
        int64_t times = code_is_repeated(a) ? code_repeats(s.block, a, s.value) : 0;
        int64_t which = (int64_t)draw((uint64_t)(times < 0 ? -times : times));
        gaddr addr =
            code_address(a, s.value) + (uint64_t)(times < 0 ? -which : which) * a->mem.bytes;
        uint64_t later = s.node + 1 + draw(1ull << draw(14));
        *w = (struct slice_want){.kind = SLICE_MEMORY,
                                 .at = later < insns && draw(4) ? later : insns,
                                 .thread = s.thread,
                                 .addr = addr,
                                 .bytes = a->mem.bytes};
        return true;
    }
    return false;
}

/* A few bytes of what the kernel wrote; of a signal's frame mostly of its registers. */
static bool kernel_wanted(struct slice_want *w)
{
    if (!in.kernels)
        return memory_wanted(w);
    *w = in.kernel[draw(in.kernels)];
    uint64_t at = draw(w->bytes > 400 && draw(4) ? 400 : w->bytes) & ~7ull;
    uint64_t left = w->bytes - at, bytes = 1 + draw(16);
    w->addr += at;
    w->bytes = bytes < left ? bytes : left;
    w->at += draw(3) ? 0 : draw(1000);
    if (w->at > trace_insns(in.trace))
        w->at = trace_insns(in.trace);
    return true;
}

static bool register_wanted(struct slice_want *w)
{
    bool end = draw(6) == 0;
    struct spot s = spot_of(draw_node());
    *w =
        (struct slice_want){.kind = SLICE_REGISTER,
                            .at = end ? trace_insns(in.trace) : s.node,
                            .thread = draw(8) ? s.thread : (uint32_t)draw(trace_threads(in.trace))};
    switch (draw(8)) {
    case 0:
        w->addr = LOC_CF;
        w->bytes = LOC_DF - LOC_CF + 1;
        break;
    case 1:
        w->addr = loc_vec((unsigned)draw(8));
        w->bytes = 16 << draw(3);
        break;
    default:
        w->addr = loc_gpr((unsigned)draw(GPR_COUNT));
        w->bytes = draw(4) ? 8 : 1 + draw(4);
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct slice_want *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t draw_wants(struct slice_want *want, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < most; i++) {
        bool drawn = i % 6 == 0   ? uses_wanted(&want[n], branches, false)
                     : i % 6 == 1 ? memory_wanted(&want[n])
                     : i % 6 == 2 ? uses_wanted(&want[n], any, draw(2))
                     : i % 6 == 3 ? register_wanted(&want[n])
                     : i % 6 == 4 ? kernel_wanted(&want[n])
                                  : memory_wanted(&want[n]);
        n += drawn;
    }
    qsort(want, n, sizeof *want, by_place);
    return n;
}

/* ---- prunings ---- */

static struct slice_prune prunes[PRUNES];

/* Of a random instruction: what it accesses, near its CFA, or a register; for all code or some. */
static void draw_prune(struct slice_prune *p, unsigned which)
{
    struct spot s = spot_of(draw_node());
    const struct plan_access *a = access_of(&s, false);
    for (int i = 0; which == 0 && i < TRIES && !(a && code_is_repeated(a)); i++) {
        s = spot_of(draw_node()); /* one of what is copied */
        a = access_of(&s, false);
    }
    gaddr pc = s.block->insn[s.insn].in.pc;
    *p = (struct slice_prune){.kind = SLICE_PRUNE_REGISTER,
                              .addr = loc_gpr((unsigned)draw(GPR_COUNT)) + (draw(3) ? 0 : draw(8)),
                              .bytes = 1 + draw(8)};
    if (which % 3 == 0 && a) {
        p->kind = SLICE_PRUNE_MEMORY;
        p->addr = code_address(a, s.value) - draw(4);
        p->bytes = 1 + draw(1ull << draw(8));
    } else if (which % 3 == 1) {
        p->kind = SLICE_PRUNE_FRAME;
        p->addr = (uint64_t)-8 - draw(80);
        p->bytes = 1 + draw(24);
    }
    if (p->kind == SLICE_PRUNE_FRAME || draw(2)) {
        uint64_t before = draw(1ull << draw(12));
        p->from = pc > before ? pc - before : 1;
        p->to = pc + 1 + draw(1ull << draw(12));
    }
}

/* ---- comparing ---- */

static void print_want(const struct slice_want *w)
{
    static const char *const kind[] = {"memory", "registers", "uses"};
    printf("%s at %llu, thread %u, %#llx, %llu bytes", kind[w->kind], (unsigned long long)w->at,
           w->thread, (unsigned long long)w->addr, (unsigned long long)w->bytes);
}

static void print_node(const struct oracle *o, uint64_t node)
{
    const struct oracle_node *n = oracle_node(o, node);
    const struct insn *i = &code_block(trace_code(in.trace), n->block)->insn[n->insn].in;
    printf("%llu T%u 0x%llx %s [", (unsigned long long)node, n->thread, (unsigned long long)i->pc,
           insn_name(i));
    for (int k = 0; k < i->len; k++)
        printf("%s%02x", k ? " " : "", i->bytes[k]);
    printf("] frame %u of 0x%llx, control %lld", n->frame, (unsigned long long)n->entry,
           (long long)n->control - 1);
}

static void print_reasons(const struct oracle *o, const struct oracle_reason *reason, uint64_t node)
{
    static const char *const how[] = {"out", "wanted", "value of", "address of", "control of"};
    for (int i = 0; i < 4; i++) {
        printf("        %s ", how[reason[node].how]);
        if (reason[node].how == ORACLE_WANTED) {
            printf("\n");
            return;
        }
        node = reason[node].from;
        print_node(o, node);
        printf("\n");
    }
}

/* Who depends on it in the oracle's graph, and is in the slice by slicer/. */
static void print_users(const struct oracle *o, const struct slice *slice, uint64_t node)
{
    int left = 4;
    for (uint64_t m = node + 1; m < trace_insns(in.trace) && left; m++) {
        unsigned edges = oracle_depends(o, (uint32_t)m, (uint32_t)node);
        if (!edges)
            continue;
        printf("        used%s%s%s by ", edges & SLICE_VALUE ? ", value," : "",
               edges & SLICE_ADDRESS ? ", address," : "",
               edges & SLICE_CONTROL ? ", control," : "");
        print_node(o, m);
        printf("%s\n", slice_has(slice, m) ? " (in both or here)" : " (not in the slice)");
        left--;
    }
}

static unsigned compare(const struct oracle *o, const struct oracle_reason *reason,
                        const struct slice *slice, uint64_t first)
{
    uint64_t differ = 0, count = 0;
    for (uint64_t n = trace_insns(in.trace); n-- > 0;) {
        bool oracle = n >= first && reason[n].how != ORACLE_OUT, has = slice_has(slice, n);
        count += has;
        if (oracle == has || differ++ >= DIFFERENCES_MOST)
            continue;
        printf("    %s: ", oracle ? "missing" : "too much");
        print_node(o, n);
        printf("\n");
        if (oracle)
            print_reasons(o, reason, n);
        else
            print_users(o, slice, n);
    }
    if (count != slice_count(slice))
        printf("    it says it has %llu nodes\n", (unsigned long long)slice_count(slice));
    if (differ)
        printf("    %llu nodes differ\n", (unsigned long long)differ);
    return differ || count != slice_count(slice);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct {
    unsigned edges;
    const char *name;
} kinds[] = {
    {SLICE_ALL, "all edges"},
    {SLICE_VALUE | SLICE_ADDRESS, "data"},
    {SLICE_VALUE, "value"},
};

static struct {
    struct oracle_options options;
    size_t kinds; /* the first of them */
    const char *name;
} settings[] = {
    {{.keep_saves = false}, 3, "saves looked through"},
    {{.keep_saves = true}, 3, "saves kept"},
    {{.stack_pointer = true}, 1, "with the stack pointer"},
    {{.relocated = true, .max_save = 3}, 1, "with the loader's work, three saves"},
    {{.prune = prunes, .prunes = PRUNES}, 3, "pruned"},
};

static struct {
    unsigned slices, bad, pruned;
    uint64_t nodes, largest, pairs;
    uint64_t chunks, passed; /* of all slices; and those that were passed over */
    double oracle, product;
} sum;

/* Of `count` wants from number w on, nothing before `first`. */
struct question {
    const struct slice_want *want;
    size_t w, count, setting, kind;
    uint64_t first;
};

static void print_question(const struct question *q)
{
    printf("  %s, %s", kinds[q->kind].name, settings[q->setting].name);
    for (size_t i = 0; i < q->count; i++) {
        printf("%s", i ? "; " : ": ");
        print_want(&q->want[q->w + i]);
    }
    printf("; from %llu on\n", (unsigned long long)q->first);
}

/* ---- chunks that are passed over ---- */

/* All edges of a slice, as they are told. */
struct told {
    struct slice_dependence *at;
    size_t count, room;
};

static int tell(void *arg, const struct slice_dependence *edge)
{
    struct told *t = arg;
    if (array_push(&t->at, &t->count, &t->room, *edge))
        fail("no memory");
    return 0;
}

static bool same_edge(const struct slice_dependence *a, const struct slice_dependence *b)
{
    return a->node == b->node && a->on == b->on && a->kind == b->kind && a->memory == b->memory &&
           a->addr == b->addr && a->bytes == b->bytes && a->node_thread == b->node_thread &&
           a->on_thread == b->on_thread && a->node_pc == b->node_pc && a->on_pc == b->on_pc &&
           a->node_cfa == b->node_cfa && a->on_cfa == b->on_cfa;
}

static struct told edges_of(struct trace_index *index, const struct slice *s,
                            const struct question *q, const struct slice_options *o)
{
    struct told t = {0};
    struct err err;
    if (slice_edges(index, s, &q->want[q->w], q->count, o, tell, &t, &err))
        fail(err.msg);
    return t;
}

/* The slice, and its edges, must be those of a walk that reads everything. */
static bool compare_whole(struct trace_index *index, const struct slice *slice,
                          const struct question *q, struct slice_options o)
{
    struct err err;
    struct slice_figures some, all;
    struct told a = edges_of(index, slice, q, &o);
    o.whole = true;
    struct slice *whole = slice_backward(index, &q->want[q->w], q->count, &o, &err);
    if (!whole)
        fail(err.msg);
    struct told b = edges_of(index, whole, q, &o);
    bool same = a.count == b.count && slice_count(slice) == slice_count(whole);
    for (uint64_t n = slice_next(whole, 0); same && n != UINT64_MAX; n = slice_next(whole, n + 1))
        same = slice_has(slice, n);
    for (size_t i = 0; same && i < a.count; i++)
        same = same_edge(&a.at[i], &b.at[i]);
    if (!same)
        printf("    %zu edges, %zu if all chunks are read\n", a.count, b.count);
    slice_figures(slice, &some);
    slice_figures(whole, &all);
    sum.chunks += all.chunks;
    sum.passed += all.chunks - some.chunks;
    slice_free(whole);
    free(a.at);
    free(b.at);
    return same;
}

static void compare_slice(const struct oracle *o, struct trace_index *index,
                          const struct question *q)
{
    struct err err;
    const struct oracle_options *s = &settings[q->setting].options;
    struct slice_options options = {.edges = kinds[q->kind].edges,
                                    .keep_saves = s->keep_saves,
                                    .stack_pointer = s->stack_pointer,
                                    .relocated = s->relocated,
                                    .max_save = s->max_save,
                                    .first = q->first,
                                    .prune = s->prune,
                                    .prunes = s->prunes,
                                    .remember = q->w % 2 ? 0 : 1 << 18}; /* not enough */
    struct slice_figures figures;
    double begin = seconds();
    struct oracle_reason *reason = oracle_slice(o, q->w, q->count, kinds[q->kind].edges);
    double middle = seconds();
    struct slice *slice = slice_backward(index, &q->want[q->w], q->count, &options, &err);
    if (!slice)
        fail(err.msg);
    sum.product += seconds() - middle;
    sum.oracle += middle - begin;
    slice_figures(slice, &figures);
    sum.slices++;
    size_t number = 3 * q->w + q->kind;
    if (q->setting == 0)
        in.nodes[number] = slice_count(slice);
    sum.pruned += s->prunes && slice_count(slice) < in.nodes[number];
    sum.nodes += slice_count(slice);
    sum.pairs += figures.pairs;
    if (slice_count(slice) > sum.largest)
        sum.largest = slice_count(slice);
    bool some = (q->w + q->setting + q->kind) % 3 == 0;
    bool whole = !some || compare_whole(index, slice, q, options);
    if (compare(o, reason, slice, q->first) || !whole) {
        print_question(q);
        sum.bad++;
    }
    slice_free(slice);
    free(reason);
}

/* SLICE_SHOW=FROM,TO: these nodes, for who looks into a difference. */
static void show(const struct oracle *o)
{
    const char *text = getenv("SLICE_SHOW");
    char *rest;
    if (!text)
        return;
    uint64_t from = strtoull(text, &rest, 0), to = *rest ? strtoull(rest + 1, NULL, 0) : from;
    for (; from <= to && from < trace_insns(in.trace); from++) {
        print_node(o, from);
        printf("\n");
    }
}

/* For the oracle, from the rows, where the slicer reads the program that makes them. */
static size_t slots(void *ctx, gaddr pc, unsigned reg, int64_t *out, size_t room)
{
    static const uint8_t gpr[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP};
    struct source_save save[64];
    size_t count = source_saves(ctx, pc, save, 64), n = 0;
    for (size_t i = 0; i < count && i < 64; i++) {
        unsigned number = save[i].reg < sizeof gpr ? gpr[save[i].reg] : save[i].reg;
        if (number != reg)
            continue;
        if (n == room)
            fail("a register with many places");
        out[n++] = save[i].offset;
    }
    return n;
}

static void compare_all(struct study *study, const struct slice_want *want, size_t wants)
{
    struct err err;
    struct oracle_graphs *graphs = oracle_graphs_new(in.trace, study->pinball, study->source);
    struct trace_index *index = study->index;
    struct oracle_facts facts = {slots, study->source};
    for (unsigned i = 0; i < PRUNES; i++)
        draw_prune(&prunes[i], i);
    in.nodes = calloc(3 * wants + 1, sizeof *in.nodes);
    if (!in.nodes)
        fail("no memory");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        double begin = seconds();
        struct oracle_options options = settings[i].options;
        options.facts = &facts;
        struct oracle *o = oracle_new(in.trace, graphs, &options, want, wants, &err);
        if (!o)
            fail(err.msg);
        sum.oracle += seconds() - begin;
        show(o);
        for (size_t w = 0; w < wants; w++)
            for (size_t k = 0; k < settings[i].kinds; k++) {
                struct question q = {.want = want, .w = w, .count = 1, .setting = i, .kind = k};
                if (settings[i].kinds == 1) { /* variations */
                    q.count = w + 1 < wants && draw(2) ? 2 : 1;
                    q.first = draw(2) ? 0 : draw(want[w].at);
                }
                compare_slice(o, index, &q);
            }
        oracle_free(o);
    }
    oracle_graphs_free(graphs);
}

/* A trace with many chunks, so that there are some in which nothing is wanted. Where many criteria
 * are drawn the program is small. */
static void collect_chunks(const char *from, const char *to, size_t wants)
{
    struct err err;
    struct collect_result result;
    struct collect_options options = {.chunk_steps = wants > CRITERIA ? 1 + (uint32_t)draw(16)
                                                                      : 20 + (uint32_t)draw(1000)};
    struct pinball *pinball = pinball_open(from, &err);
    if (!pinball || collect(pinball, to, &options, &result, &err))
        fail(err.msg);
    pinball_close(pinball);
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc < 3)
        fail("usage: slice_compare PINBALL TRACE [SEED [CRITERIA]]");
    in.random = 0x9e3779b97f4a7c15ull + (argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
    size_t wants = argc > 4 ? strtoull(argv[4], NULL, 0) : CRITERIA;
    collect_chunks(argv[1], argv[2], wants);
    struct study_options options = {.trace = argv[2]};
    struct study *study = study_open(argv[1], &options, &err);
    if (!study)
        fail(err.msg);
    in.trace = study->trace;
    if (trace_insns(in.trace) > INSNS_MOST) {
        printf("skipped: %llu instructions\n", (unsigned long long)trace_insns(in.trace));
        return SKIP;
    }
    find_own();
    struct slice_want *want = calloc(wants + 1, sizeof *want);
    if (!want || !trace_insns(in.trace))
        fail("nothing to compare");
    wants = draw_wants(want, wants);
    compare_all(study, want, wants);
    printf("%llu instructions, %u threads, %zu criteria, %u slices of %llu nodes on average, the "
           "largest has %llu, %llu pairs, %u made smaller by pruning, %llu of %llu chunks "
           "passed over, %u differ; oracle %.2f s, slicer %.2f s\n",
           (unsigned long long)trace_insns(in.trace), trace_threads(in.trace), wants, sum.slices,
           (unsigned long long)(sum.nodes / (sum.slices ? sum.slices : 1)),
           (unsigned long long)sum.largest, (unsigned long long)sum.pairs, sum.pruned,
           (unsigned long long)sum.passed, (unsigned long long)sum.chunks, sum.bad, sum.oracle,
           sum.product);
    free(want);
    free(in.own);
    free(in.nodes);
    free(in.kernel);
    trace_chunk_deinit(&in.chunk);
    study_close(study);
    return sum.bad ? 1 : 0;
}
