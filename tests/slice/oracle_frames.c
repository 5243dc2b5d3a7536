/* oracle_frames.c - which call an instruction belongs to, and its control dependence.
 *
 * SPDX-License-Identifier: MIT
 *
 * docs/slicing.md, "Frames" and "Control".
 */
#include <stdlib.h>
#include <string.h>

#include "tests/slice/oracle_int.h"

enum { STACK_MOST = 64 << 20 };

struct frame *oracle_frames_top(struct stack *st)
{
    return &st->frame[st->frames - 1];
}

static void push(struct oracle *o, struct stack *st, struct frame f)
{
    f.number = o->frames++;
    f.graph = oracle_graph(o->graphs, f.entry);
    ORACLE_PUSH(st->frame, st->frames, st->room, f);
}

static void pop_to(struct stack *st, size_t frames)
{
    while (st->frames > frames) {
        free(st->frame[--st->frames].taken);
        free(st->frame[st->frames].state);
    }
}

void oracle_frames_deinit(struct stack *st)
{
    pop_to(st, 0);
    free(st->frame);
}

/* The frame nearest to the top with that slot, plus one; 0: none. */
static size_t find(const struct stack *st, gaddr slot, bool signal)
{
    for (size_t i = st->frames; i > 1; i--) {
        const struct frame *f = &st->frame[i - 1];
        if (f->kind != FRAME_ROOT && f->slot == slot && (f->kind == FRAME_SIGNAL) == signal)
            return i;
    }
    return 0;
}

bool oracle_frames_returns(const struct stack *st, gaddr slot)
{
    return find(st, slot, false) > 0;
}

void oracle_frames_stack_set(struct stack *st, gaddr value)
{
    while (st->frames > 1 && value - oracle_frames_top(st)->slot - 1 < STACK_MOST - 1)
        pop_to(st, st->frames - 1);
}

/* An operand [rip + x] and no other register. */
static bool through_rip(const struct insn *in)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    return ops.op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && ops.op[0].mem.base == ZYDIS_REGISTER_RIP;
}

static void tail_call(struct oracle *o, struct stack *st, gaddr pc)
{
    const struct leaving *l = &st->leaving;
    const struct insn *in = l->in;
    struct frame *top = oracle_frames_top(st);
    bool rip = in->kind == INSN_JMP_IND && through_rip(in);
    unsigned landing = oracle_graph_landing(top->graph);
    bool stub = rip && (in->pc == top->entry || (landing && in->pc == top->entry + landing));
    bool to_resolver = rip && l->after_push;
    bool resolved = top->resolver && (in->kind == INSN_JMP || in->kind == INSN_JMP_IND);
    struct frame f = {.kind = top->kind, .resolver = to_resolver, .entry = pc, .slot = top->slot};
    f.maker = stub || to_resolver || resolved ? top->maker : l->node + 1;
    pop_to(st, st->frames - 1);
    push(o, st, f);
}

static void take_branch(struct stack *st, gaddr pc)
{
    const struct leaving *l = &st->leaving;
    struct frame *top = oracle_frames_top(st);
    if (top->number != l->frame)
        return;
    int32_t from = oracle_graph_find(top->graph, l->in->pc);
    int32_t to = oracle_graph_find(top->graph, pc);
    if (from == GRAPH_NONE || to == GRAPH_NONE || !oracle_graph_is_branch(top->graph, from))
        return; /* nothing depends on an edge to the exit */
    struct taken t = {from, to, l->node};
    ORACLE_PUSH(top->taken, top->takens, top->taken_room, t);
}

void oracle_frames_arrive(struct oracle *o, struct stack *st, gaddr pc)
{
    if (!st->frames)
        push(o, st, (struct frame){.kind = FRAME_ROOT, .entry = pc});
    const struct leaving *l = &st->leaving;
    if (!l->is)
        return;
    bool jumps = false;
    switch (l->in->kind) {
    case INSN_CALL:
    case INSN_CALL_IND:
        push(
            o, st,
            (struct frame){.kind = FRAME_CALL, .entry = pc, .slot = l->slot, .maker = l->node + 1});
        break;
    case INSN_RET:
        if (oracle_frames_returns(st, l->slot))
            pop_to(st, find(st, l->slot, false) - 1);
        else
            jumps = true;
        break;
    case INSN_JMP:
    case INSN_JMP_IND:
    case INSN_JCC:
    case INSN_JCXZ:
        jumps = true;
        break;
    default:
        break;
    }
    if (jumps && pc != oracle_frames_top(st)->entry && trace_is_entry(o->trace, pc))
        tail_call(o, st, pc);
    take_branch(st, pc);
    st->leaving.is = false;
}

void oracle_frames_signal(struct oracle *o, struct stack *st, const struct flow_signal *note)
{
    push(o, st, (struct frame){.kind = FRAME_SIGNAL, .entry = note->handler, .slot = note->frame});
}

void oracle_frames_sigreturn(struct stack *st, gaddr frame)
{
    size_t at = find(st, frame, true);
    if (at)
        pop_to(st, at - 1);
}

source oracle_frames_control(struct stack *st, gaddr pc)
{
    const struct frame *f = oracle_frames_top(st);
    int32_t s = oracle_graph_find(f->graph, pc);
    for (size_t i = f->takens; s != GRAPH_NONE && i > 0; i--) {
        const struct taken *t = &f->taken[i - 1];
        if (oracle_graph_depends(f->graph, s, t->insn, t->to))
            return t->node + 1;
    }
    if (f->maker)
        return f->maker;
    return f->kind == FRAME_ROOT ? st->made_by : 0;
}
