/* oracle_graphs.c - graphs of functions, one vertex per instruction.
 *
 * SPDX-License-Identifier: MIT
 *
 * The rules are those of trace/graph/cfg.h. Post-dominance is by definition: m post-dominates n if
 * n does not reach the exit when m is not there. It is found for one m at a time, when first asked
 * for.
 */
#include <stdlib.h>
#include <string.h>

#include "pinball/pinball.h"
#include "source/source.h"
#include "tests/slice/oracle_int.h"

enum { EXIT = -1, PROLOGUE = 12, BUCKETS = 1 << 12 };

/* Code, and which bytes of it are known. */
struct page {
    gaddr addr;
    struct page *next;
    bool filled; /* what files have is there */
    uint8_t byte[PAGE_BYTES], known[PAGE_BYTES];
};

struct vertex {
    struct insn in;
    int32_t *succ; /* EXIT is one of them */
    size_t succs, succ_room;
    int32_t *pred;
    size_t preds, pred_room;
    bool *postdominates; /* by vertex; NULL: not asked yet */
};

struct oracle_graph {
    gaddr entry;
    struct oracle_graph *next;
    struct vertex *vertex;
    size_t vertices, vertex_room;
    int32_t *slot; /* by hash of the pc, vertex + 1 */
    size_t slots;
};

struct oracle_graphs {
    struct trace *trace;
    struct pinball *pinball;
    struct source *facts;
    struct page *page[BUCKETS];
    struct oracle_graph *graph[BUCKETS];
};

static unsigned bucket(gaddr addr)
{
    return (unsigned)(addr * 0x9e3779b97f4a7c15ull >> 52);
}

/* ---- code ---- */

static struct page *page_of(struct oracle_graphs *g, gaddr addr)
{
    addr = PAGE_DOWN(addr);
    struct page **at = &g->page[bucket(addr / PAGE_BYTES)];
    for (struct page *p = *at; p; p = p->next)
        if (p->addr == addr)
            return p;
    struct page *p = oracle_zeros(1, sizeof *p);
    p->addr = addr;
    p->next = *at;
    return *at = p;
}

/* Files come first; what was executed elsewhere is known from its blocks, the first that were there
 * if code has changed. */
static void fill_from_files(struct oracle_graphs *g, struct page *p)
{
    const struct trace_map *map;
    size_t maps = trace_maps(g->trace, &map);
    struct err err;
    p->filled = true;
    for (size_t i = 0; i < maps; i++) {
        gaddr from = map[i].start > p->addr ? map[i].start : p->addr;
        gaddr to = map[i].end < p->addr + PAGE_BYTES ? map[i].end : p->addr + PAGE_BYTES;
        if (map[i].file < 0 || from >= to)
            continue;
        if (pinball_file_read(g->pinball, (uint32_t)map[i].file,
                              map[i].offset + (from - map[i].start), p->byte + (from - p->addr),
                              to - from, &err) == 0)
            memset(p->known + (from - p->addr), 1, to - from);
    }
}

static void learn_blocks(struct oracle_graphs *g)
{
    const struct code *code = trace_code(g->trace);
    for (uint32_t n = 0; n < code_count(code); n++) {
        const struct code_block *b = code_block(code, n);
        for (unsigned i = 0; i < b->insns; i++)
            for (unsigned k = 0; k < b->insn[i].in.len; k++) {
                gaddr at = b->insn[i].in.pc + k;
                struct page *p = page_of(g, at);
                if (!p->known[at % PAGE_BYTES])
                    p->byte[at % PAGE_BYTES] = b->insn[i].in.bytes[k];
                p->known[at % PAGE_BYTES] = 1;
            }
    }
}

static void decode(struct oracle_graphs *g, gaddr pc, struct insn *in)
{
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = 0;
    for (; n < sizeof bytes; n++) {
        struct page *p = page_of(g, pc + n);
        if (!p->filled)
            fill_from_files(g, p);
        if (!p->known[(pc + n) % PAGE_BYTES])
            break;
        bytes[n] = p->byte[(pc + n) % PAGE_BYTES];
    }
    if (n && insn_decode(in, pc, bytes, n) == 0)
        return;
    *in = (struct insn){.pc = pc, .kind = INSN_ILLEGAL, .len = 1};
}

/* ---- graphs ---- */

static int32_t *slot_of(const struct oracle_graph *f, gaddr pc)
{
    size_t i = (size_t)(pc * 0x9e3779b97f4a7c15ull >> 20) % f->slots;
    while (f->slot[i] && f->vertex[f->slot[i] - 1].in.pc != pc)
        i = (i + 1) % f->slots;
    return &f->slot[i];
}

int32_t oracle_graph_find(const struct oracle_graph *f, gaddr pc)
{
    return *slot_of(f, pc) - 1;
}

static void grow_slots(struct oracle_graph *f)
{
    free(f->slot);
    f->slots = f->slots ? 2 * f->slots + 1 : 61;
    f->slot = oracle_zeros(f->slots, sizeof *f->slot);
    for (size_t i = 0; i < f->vertices; i++)
        *slot_of(f, f->vertex[i].in.pc) = (int32_t)i + 1;
}

static int32_t add_vertex(struct oracle_graphs *g, struct oracle_graph *f, gaddr pc)
{
    if (2 * f->vertices >= f->slots)
        grow_slots(f);
    int32_t *slot = slot_of(f, pc);
    if (*slot)
        return *slot - 1;
    struct vertex v = {.succ = NULL};
    decode(g, pc, &v.in);
    *slot = (int32_t)f->vertices + 1;
    ORACLE_PUSH(f->vertex, f->vertices, f->vertex_room, v);
    return (int32_t)f->vertices - 1;
}

static void add_edge(struct oracle_graph *f, int32_t from, int32_t to)
{
    struct vertex *v = &f->vertex[from];
    for (size_t i = 0; i < v->succs; i++)
        if (v->succ[i] == to)
            return;
    ORACLE_PUSH(v->succ, v->succs, v->succ_room, to);
    if (to == EXIT)
        return;
    struct vertex *w = &f->vertex[to];
    ORACLE_PUSH(w->pred, w->preds, w->pred_room, from);
}

static void add_way(struct oracle_graphs *g, struct oracle_graph *f, int32_t from, gaddr pc)
{
    bool leaves = pc != f->entry && trace_is_entry(g->trace, pc);
    add_edge(f, from, leaves ? EXIT : add_vertex(g, f, pc));
}

static bool is_far(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
        return true;
    default:
        return false;
    }
}

/* Rule 1. */
static void add_ways(struct oracle_graphs *g, struct oracle_graph *f, int32_t v)
{
    const struct insn in = f->vertex[v].in;
    const gaddr *target;
    size_t targets;
    switch (in.kind) {
    case INSN_EMULATE:
        if (is_far(&in))
            add_edge(f, v, EXIT);
        else
            add_way(g, f, v, in.pc + in.len);
        break;
    case INSN_PLAIN:
        add_way(g, f, v, in.pc + in.len);
        break;
    case INSN_JMP:
        add_way(g, f, v, in.target);
        break;
    case INSN_JCC:
    case INSN_JCXZ:
        add_way(g, f, v, in.target);
        add_way(g, f, v, in.pc + in.len);
        break;
    case INSN_CALL:
    case INSN_CALL_IND:
    case INSN_SYSCALL:
        if (trace_stays(g->trace, in.pc) ||
            (in.kind == INSN_CALL && g->facts && source_is_noreturn(g->facts, in.target)))
            add_edge(f, v, EXIT);
        else
            add_way(g, f, v, in.pc + in.len);
        break;
    case INSN_JMP_IND:
        targets = trace_targets(g->trace, in.pc, &target);
        for (size_t i = 0; i < targets; i++)
            add_way(g, f, v, target[i]);
        if (!targets)
            add_edge(f, v, EXIT);
        break;
    default:
        add_edge(f, v, EXIT);
    }
}

/* Which vertices reach the exit when `without` is not there. */
static bool *reaching(const struct oracle_graph *f, int32_t without)
{
    bool *reaches = oracle_zeros(f->vertices, sizeof *reaches);
    int32_t *todo = oracle_zeros(f->vertices, sizeof *todo);
    size_t todos = 0;
    for (size_t v = 0; v < f->vertices; v++)
        for (size_t i = 0; i < f->vertex[v].succs; i++)
            if (f->vertex[v].succ[i] == EXIT && (int32_t)v != without && !reaches[v]) {
                reaches[v] = true;
                todo[todos++] = (int32_t)v;
            }
    while (todos) {
        const struct vertex *v = &f->vertex[todo[--todos]];
        for (size_t i = 0; i < v->preds; i++)
            if (!reaches[v->pred[i]] && v->pred[i] != without) {
                reaches[v->pred[i]] = true;
                todo[todos++] = v->pred[i];
            }
    }
    free(todo);
    return reaches;
}

/* Rule 3. */
static void open_endless_loops(struct oracle_graph *f)
{
    for (;;) {
        bool *reaches = reaching(f, EXIT);
        int32_t highest = EXIT;
        for (size_t v = 0; v < f->vertices; v++)
            if (!reaches[v] && (highest == EXIT || f->vertex[v].in.pc > f->vertex[highest].in.pc))
                highest = (int32_t)v;
        free(reaches);
        if (highest == EXIT)
            return;
        add_edge(f, highest, EXIT);
    }
}

const struct oracle_graph *oracle_graph(struct oracle_graphs *g, gaddr entry)
{
    struct oracle_graph **at = &g->graph[bucket(entry)];
    for (struct oracle_graph *f = *at; f; f = f->next)
        if (f->entry == entry)
            return f;
    struct oracle_graph *f = oracle_zeros(1, sizeof *f);
    f->entry = entry;
    f->next = *at;
    *at = f;
    add_vertex(g, f, entry);
    for (size_t v = 0; v < f->vertices; v++)
        add_ways(g, f, (int32_t)v);
    open_endless_loops(f);
    return f;
}

/* ---- questions ---- */

bool oracle_graph_is_branch(const struct oracle_graph *f, int32_t insn)
{
    return f->vertex[insn].succs >= 2;
}

static bool postdominates(const struct oracle_graph *f, int32_t s, int32_t x)
{
    struct vertex *v = &f->vertex[s];
    if (!v->postdominates) {
        v->postdominates = reaching(f, s);
        for (size_t i = 0; i < f->vertices; i++)
            v->postdominates[i] = !v->postdominates[i];
    }
    return v->postdominates[x];
}

bool oracle_graph_depends(const struct oracle_graph *f, int32_t s, int32_t b, int32_t x)
{
    return x != EXIT && postdominates(f, s, x) && !(s != b && postdominates(f, s, b));
}

static bool sets_frame_pointer(const struct insn *in)
{
    struct insn_operands o;
    if (in->kind == INSN_ILLEGAL)
        return false;
    insn_operands(in, &o);
    if (o.op[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o.op[0].reg.value != ZYDIS_REGISTER_RBP)
        return false;
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV)
        return o.op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               o.op[1].reg.value == ZYDIS_REGISTER_RSP;
    return in->mnemonic == ZYDIS_MNEMONIC_LEA && o.op[1].mem.base == ZYDIS_REGISTER_RSP &&
           o.op[1].mem.index == ZYDIS_REGISTER_NONE;
}

bool oracle_graph_frame_pointer(const struct oracle_graph *f)
{
    gaddr pc = f->entry;
    for (int n = 0; n < PROLOGUE; n++) {
        int32_t v = oracle_graph_find(f, pc);
        if (v == GRAPH_NONE)
            return false;
        const struct insn *in = &f->vertex[v].in;
        if (sets_frame_pointer(in))
            return true;
        if (in->kind != INSN_PLAIN && (in->kind != INSN_EMULATE || is_far(in)))
            return false;
        pc += in->len;
    }
    return false;
}

unsigned oracle_graph_landing(const struct oracle_graph *f)
{
    const struct insn *in = &f->vertex[0].in;
    bool lands = in->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || in->mnemonic == ZYDIS_MNEMONIC_PUSH;
    return in->kind == INSN_PLAIN && lands ? in->len : 0;
}

/* ---- all of them ---- */

struct oracle_graphs *oracle_graphs_new(struct trace *trace, struct pinball *pinball,
                                        struct source *facts)
{
    struct oracle_graphs *g = oracle_zeros(1, sizeof *g);
    g->trace = trace;
    g->pinball = pinball;
    g->facts = facts;
    learn_blocks(g);
    return g;
}

static void graph_free(struct oracle_graph *f)
{
    for (size_t v = 0; v < f->vertices; v++) {
        free(f->vertex[v].succ);
        free(f->vertex[v].pred);
        free(f->vertex[v].postdominates);
    }
    free(f->vertex);
    free(f->slot);
    free(f);
}

void oracle_graphs_free(struct oracle_graphs *g)
{
    for (int i = 0; g && i < BUCKETS; i++) {
        for (struct page *next, *p = g->page[i]; p; p = next) {
            next = p->next;
            free(p);
        }
        for (struct oracle_graph *next, *f = g->graph[i]; f; f = next) {
            next = f->next;
            graph_free(f);
        }
    }
    free(g);
}
