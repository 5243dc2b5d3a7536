/* calls.c - the calls of allocator functions: when, by the trace; with what values, by a replay.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1. A pass over the trace finds the outermost calls of each pool, and the return that ended each.
 * 2. Probes at the entries and at these returns take registers. Both sequences have the order of
 *    the execution, so a row is that of the next event with its position.
 *
 * posix_memalign() stores the block's address. What it stores is taken where its own code stores
 * words outside its frame; the one that goes where its first argument points is the result.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "facts/heap/heap.h"
#include "study/probe.h"
#include "trace/pass.h"

/* What a row is expected for. */
struct event {
    uint32_t call;
    uint32_t probe;
    uint32_t thread; /* its number in positions */
    uint64_t count;
    gaddr addr; /* of a store */
};

enum probe_kind { AT_ENTRY, AT_RETURN, AT_STORE };

struct place { /* of a probe */
    gaddr key; /* pc and kind: never 0 */
    uint32_t probe;
};

struct open {
    uint32_t call; /* HEAP_NONE: none */
    gaddr slot;    /* of its frame */
    uint64_t serial;
};

struct thread {
    struct open open[HEAP_POOLS];
    gaddr jump, jump_slot; /* a tail call through a stub, and the frame's slot; 0: none */
};

struct finder {
    struct heap *h;
    struct study *s;
    struct thread *thread;
    uint8_t *entry; /* by block: an allocator function begins in it at this instruction, plus one */
    bool *to_stub;  /* by block: it ends with a jump to a stub of the PLT */
    TABLE(struct place) places;
    struct probe *probe;
    uint8_t (*code)[PROBE_TAKE_REGISTERS];
    uint8_t *reg; /* by probe of a store: the register */
    size_t probes, probe_room, code_room, reg_room;
    struct event *event;
    size_t events, event_room;
    size_t next; /* event that is expected */
};

/* ---- probes ---- */

static uint32_t probe_at(struct finder *f, gaddr pc, enum probe_kind kind, uint8_t reg)
{
    if (table_reserve(&f->places))
        return HEAP_NONE;
    struct place *p = table_find(&f->places, pc << 2 | (unsigned)kind | 1ull << 63);
    if (p->key)
        return p->probe;
    uint32_t number = (uint32_t)f->probes;
    if (array_push(&f->probe, &f->probes, &f->probe_room, (struct probe){.pc = pc}) ||
        array_reserve(&f->code, &f->code_room, f->probes) ||
        array_reserve(&f->reg, &f->reg_room, f->probes))
        return HEAP_NONE;
    f->reg[number] = reg;
    uint64_t mask = kind == AT_ENTRY    ? 1ull << AGENT_RDI | 1ull << AGENT_RSI | 1ull << AGENT_RDX
                    : kind == AT_RETURN ? 1ull << AGENT_RAX
                                        : 1ull << reg;
    f->probe[number].take_bytes = probe_take_registers(mask, f->code[number]);
    *p = (struct place){pc << 2 | (unsigned)kind | 1ull << 63, number};
    f->places.used++;
    return number;
}

static int expect(struct finder *f, const struct pass_step *st, unsigned insn, uint32_t call,
                  enum probe_kind kind, uint8_t reg, gaddr addr)
{
    uint32_t probe = probe_at(f, st->block->insn[insn].in.pc, kind, reg);
    struct event e = {call, probe, trace_thread(f->s->trace, st->step->thread), st->count, addr};
    if (probe == HEAP_NONE)
        return -1;
    return array_push(&f->event, &f->events, &f->event_room, e);
}

/* ---- the trace ---- */

uint32_t heap_stack(struct heap *h, const struct frame *frame, gaddr jump)
{
    gaddr list[HEAP_DEPTH];
    uint32_t n = 0;
    uint64_t hash = 0;
    for (; frame; frame = frame->parent, jump = 0) {
        if ((jump || frame->jump_pc) &&
            n < HEAP_DEPTH) /* the function that jumped here is the caller, too */
            list[n++] = jump ? jump : frame->jump_pc;
        if (frame->call_pc && n < HEAP_DEPTH)
            list[n++] = frame->call_pc;
    }
    for (uint32_t i = 0; i < n; i++)
        hash = hash_fold(hash, list[i]) >> 1;
    if (table_reserve(&h->same))
        return HEAP_NONE;
    struct heap_same *same = table_find(&h->same, hash + 1);
    if (same->hash) {
        const struct heap_stack *s = &h->stack[same->stack];
        if (s->count == n && memcmp(h->frame + s->first, list, n * sizeof *list) == 0)
            return (uint32_t)same->stack;
    }
    struct heap_stack s = {(uint32_t)h->frames, n};
    for (uint32_t i = 0; i < n; i++)
        if (array_push(&h->frame, &h->frames, &h->frame_room, list[i]))
            return HEAP_NONE;
    if (array_push(&h->stack, &h->stacks, &h->stack_room, s))
        return HEAP_NONE;
    h->same.used += !same->hash;
    *same = (struct heap_same){hash + 1, h->stacks - 1};
    return (uint32_t)h->stacks - 1;
}

static int begin(struct finder *f, const struct pass_step *st, unsigned insn,
                 const struct heap_function *fn)
{
    struct thread *t = &f->thread[st->step->thread];
    struct open *o = &t->open[heap_pool(fn)];
    if (o->call != HEAP_NONE)
        return 0;
    struct heap_call c = {
        .first = st->insn + insn,
        .last = HEAP_NEVER,
        .over = HEAP_NEVER,
        .count = st->count,
        .thread = st->step->thread,
        .function = (uint32_t)(fn - f->h->functions.list),
        .stack = heap_stack(f->h, st->frame, t->jump_slot == st->frame->slot ? t->jump : 0),
        .block = HEAP_NONE,
        .took = HEAP_NONE};
    uint32_t number = (uint32_t)f->h->calls;
    *o = (struct open){number, st->frame->slot, st->frame->serial};
    if (c.stack == HEAP_NONE || array_push(&f->h->call, &f->h->calls, &f->h->call_room, c))
        return -1;
    return expect(f, st, insn, number, AT_ENTRY, 0, 0);
}

/* Where the return address is that the block's last instruction reads or writes. */
static gaddr returned_by(const struct pass_step *st, bool write)
{
    const struct code_insn *last = &st->block->insn[st->block->insns - 1];
    for (unsigned i = 0; i < last->accesses; i++) {
        const struct plan_access *a = &st->block->access[last->access_at + i];
        if ((write ? a->mem.write : a->mem.read) && a->slot != PLAN_NONE)
            return code_address(a, st->values);
    }
    return 0;
}

/* Words that the function itself stores outside its frame. */
static int take_stores(struct finder *f, const struct pass_step *st, const struct open *o)
{
    const struct code_block *b = st->block;
    struct insn_operands ops;
    for (unsigned k = 0; k < b->accesses && b->access[k].insn < st->step->insns; k++) {
        const struct plan_access *a = &b->access[k];
        const struct insn *in = &b->insn[a->insn].in;
        if (!a->mem.write || a->mem.bytes != 8 || in->mnemonic != ZYDIS_MNEMONIC_MOV)
            continue;
        gaddr addr = code_address(a, st->values);
        insn_operands(in, &ops);
        int reg = ops.op[1].type == ZYDIS_OPERAND_TYPE_REGISTER
                      ? insn_gpr_number(ops.op[1].reg.value)
                      : -1;
        static const uint8_t agent[] = {AGENT_RAX, AGENT_RCX, AGENT_RDX, AGENT_RBX,
                                        AGENT_RSP, AGENT_RBP, AGENT_RSI, AGENT_RDI};
        if (reg < 0 || (addr < o->slot && o->slot - addr < 4096))
            continue;
        uint8_t number = reg < 8 ? agent[reg] : (uint8_t)reg;
        if (expect(f, st, a->insn, o->call, AT_STORE, number, addr))
            return -1;
    }
    return 0;
}

/* Is the call's frame still there? A handler may run on another stack meanwhile. */
static bool is_over(const struct pass_step *st, const struct open *o)
{
    if (st->frame->slot <= o->slot && st->frame->slot)
        return false;
    for (const struct frame *k = st->frame; k; k = k->parent)
        if (k->slot == o->slot)
            return false;
    return true;
}

static int go_on(struct finder *f, const struct pass_step *st, struct open *o)
{
    struct heap_call *c = &f->h->call[o->call];
    const struct heap_function *fn = &f->h->functions.list[c->function];
    const struct code_block *b = st->block;
    if (fn->does == HEAP_STORES && st->frame->slot == o->slot && take_stores(f, st, o))
        return -1;
    if (b->tail != INSN_RET || st->step->insns != b->insns || returned_by(st, false) != o->slot)
        return 0;
    c->last = st->insn + b->insns - 1u;
    c->over = c->last + 1;
    int bad = expect(f, st, b->insns - 1u, o->call, AT_RETURN, 0, 0);
    o->call = HEAP_NONE;
    return bad;
}

/* Frames do not tell of a jump to a stub by which nothing was called yet. It is forgotten when a
 * call writes to the same slot. */
static void follow_jump(struct finder *f, struct thread *t, const struct pass_step *st)
{
    const struct code_block *b = st->block;
    if (st->step->insns != b->insns)
        return;
    if (f->to_stub[b->number]) {
        t->jump = code_last(b)->pc;
        t->jump_slot = st->frame->slot;
    } else if (t->jump && (b->tail == INSN_CALL || b->tail == INSN_CALL_IND) &&
               returned_by(st, true) == t->jump_slot) {
        t->jump = t->jump_slot = 0;
    }
}

static int take_step(struct finder *f, const struct pass_step *st)
{
    struct thread *t = &f->thread[st->step->thread];
    unsigned insn = f->entry[st->block->number];
    const struct heap_function *fn;
    for (unsigned i = 0; i < HEAP_POOLS; i++)
        if (t->open[i].call != HEAP_NONE && is_over(st, &t->open[i])) {
            f->h->call[t->open[i].call].over = st->insn;
            t->open[i].call = HEAP_NONE;
        }
    if (insn && insn <= st->step->insns &&
        (fn = allocators_at(&f->h->functions, st->block->insn[insn - 1].in.pc)) &&
        begin(f, st, insn - 1, fn))
        return -1;
    follow_jump(f, t, st);
    /* the pool's own call is outside that of malloc: it ends later */
    for (unsigned i = 0; i < HEAP_POOLS; i++)
        if (t->open[i].call != HEAP_NONE && go_on(f, st, &t->open[i]))
            return -1;
    return 0;
}

static bool is_stub(struct source *s, gaddr pc)
{
    struct source_line l;
    source_line(s, pc, &l);
    size_t n = l.outer ? strlen(l.outer) : 0;
    return n > 4 && strcmp(l.outer + n - 4, "@plt") == 0;
}

static int look_at_code(struct finder *f, struct err *err)
{
    struct code *code = trace_code(f->s->trace);
    f->entry = calloc(code_count(code) + 1, 1);
    f->to_stub = calloc(code_count(code) + 1, sizeof *f->to_stub);
    if (!f->entry || !f->to_stub)
        return err_set(err, "no memory");
    for (uint32_t i = 0; i < code_count(code); i++) {
        const struct code_block *b = code_block(code, i);
        for (unsigned k = 0; k < b->insns && !f->entry[i]; k++)
            if (allocators_at(&f->h->functions, b->insn[k].in.pc))
                f->entry[i] = (uint8_t)(k + 1);
        f->to_stub[i] = (b->tail == INSN_JMP || b->tail == INSN_JCC) &&
                        is_stub(f->s->source, code_last(b)->target) &&
                        !is_stub(f->s->source, b->pc);
    }
    return 0;
}

static int look_at_trace(struct finder *f, struct err *err)
{
    struct pass p;
    struct pass_step st;
    int more;
    if (look_at_code(f, err) || pass_init(&p, f->s->trace, err))
        return -1;
    while ((more = pass_next(&p, &st, err)) > 0)
        if (take_step(f, &st)) {
            more = err_set(err, "no memory");
            break;
        }
    pass_deinit(&p);
    return more;
}

/* ---- values ---- */

static bool is_row_of(const struct event *e, const struct finder *f, const struct probe_row *row)
{
    return e->probe == row->probe && e->thread == row->at.thread && e->count == row->at.count &&
           f->probe[e->probe].pc == row->at.pc;
}

static unsigned take_pieces(const struct probe_row *row, uint64_t *out, unsigned room)
{
    struct probe_piece piece;
    const uint8_t *bytes;
    uint32_t at = 0;
    unsigned n = 0;
    while (n < room && probe_piece(row, &at, &piece, &bytes) == 1)
        memcpy(&out[n++], bytes, sizeof *out);
    return n;
}

/* Pieces come in the order of the registers' numbers: rdx, rsi, rdi. */
static void take_values(struct finder *f, const struct event *e, const struct probe_row *row)
{
    struct heap_call *c = &f->h->call[e->call];
    uint64_t value[HEAP_ARGUMENTS];
    unsigned n = take_pieces(row, value, HEAP_ARGUMENTS);
    bool stores = f->h->functions.list[c->function].does == HEAP_STORES;
    if (n == HEAP_ARGUMENTS) {
        c->arg[0] = value[2];
        c->arg[1] = value[1];
        c->arg[2] = value[0];
        c->entered = true;
    } else if (n == 1 && e->addr && c->entered && e->addr == c->arg[0]) {
        c->result = value[0];
    } else if (n == 1 && !e->addr && !stores) {
        c->result = value[0];
        c->returned = true;
    } else if (n == 1 && !e->addr) {
        c->returned = true; /* 0: it has worked */
        c->result = value[0] ? 0 : c->result;
    }
}

/* Some rows have no event: those before a window. */
static int take_row(void *arg, const struct probe_row *row, struct err *err)
{
    enum { AHEAD = 64 };
    struct finder *f = arg;
    (void)err;
    for (size_t i = f->next; !row->undone && i < f->events && i < f->next + AHEAD; i++)
        if (is_row_of(&f->event[i], f, row)) {
            take_values(f, &f->event[i], row);
            f->next = i + 1;
            break;
        }
    return 0;
}

static int take_rows(struct finder *f, struct err *err)
{
    if (!f->probes)
        return 0;
    for (size_t i = 0; i < f->probes; i++)
        f->probe[i].take = f->code[i];
    return study_probe(f->s, f->probe, f->probes, NULL, take_row, f, err) < 0 ? -1 : 0;
}

int heap_take_calls(struct heap *h, struct study *s, struct err *err)
{
    struct finder f = {.h = h, .s = s};
    uint32_t threads = trace_threads(s->trace);
    f.thread = calloc(threads + 1, sizeof *f.thread);
    int bad = f.thread ? 0 : err_set(err, "no memory");
    for (uint32_t i = 0; !bad && i < threads; i++)
        for (unsigned k = 0; k < HEAP_POOLS; k++)
            f.thread[i].open[k].call = HEAP_NONE;
    if (!bad)
        bad = look_at_trace(&f, err) || take_rows(&f, err);
    free(f.thread);
    free(f.entry);
    free(f.to_stub);
    free(f.places.slot);
    free(f.probe);
    free(f.code);
    free(f.reg);
    free(f.event);
    return bad ? -1 : 0;
}
