/* frames.c - which call an instruction was executed in. SPDX-License-Identifier: MIT */
#include "trace/frames.h"

#include <stdlib.h>
#include <string.h>

#include "trace/access.h"

enum { SAME_STACK = 64 << 20 };

void frame_unref(struct frame *frame)
{
    while (frame && !--frame->refs) {
        struct frame *parent = frame->parent;
        if (frame->own)
            frame->drop(frame->own);
        free(frame);
        frame = parent;
    }
}

int frames_init(struct frames *f, const struct trace *trace, struct err *err)
{
    *f = (struct frames){.trace = trace, .threads = trace_threads(trace)};
    f->thread = calloc(f->threads + 1, sizeof *f->thread);
    return f->thread ? 0 : err_set(err, "no memory");
}

int frames_copy(struct frames *to, const struct frames *from, struct err *err)
{
    *to = *from;
    to->thread = malloc(sizeof *to->thread * (from->threads + 1));
    if (!to->thread)
        return err_set(err, "no memory");
    memcpy(to->thread, from->thread, sizeof *to->thread * from->threads);
    for (uint32_t i = 0; i < to->threads; i++)
        if (to->thread[i].top)
            frame_ref(to->thread[i].top);
    return 0;
}

void frames_deinit(struct frames *f)
{
    for (uint32_t i = 0; f->thread && i < f->threads; i++)
        frame_unref(f->thread[i].top);
    free(f->thread);
    f->thread = NULL;
}

/* Frames of a stack have ascending serials. */
static void hand_over(struct frame *old, struct frame *new)
{
    while (old && new) {
        if (old == new)
            return; /* the frames below are the same, too */
        if (old->serial == new->serial && old->own && !new->own) {
            new->own = old->own;
            new->drop = old->drop;
            old->own = NULL;
        }
        uint64_t serial = old->serial < new->serial ? new->serial : old->serial;
        old = old->serial == serial ? old->parent : old;
        new = new->serial == serial ? new->parent : new;
    }
}

int frames_go_on(struct frames *f, const struct frames *from, struct err *err)
{
    struct frames next;
    if (frames_copy(&next, from, err))
        return -1;
    for (uint32_t i = 0; i < f->threads; i++)
        hand_over(f->thread[i].top, next.thread[i].top);
    frames_deinit(f);
    *f = next;
    return 0;
}

void frames_forget(struct frames *f)
{
    for (uint32_t i = 0; i < f->threads; i++)
        for (struct frame *k = f->thread[i].top; k; k = k->parent) {
            k->mark = 0;
            if (k->own)
                k->drop(k->own);
            k->own = NULL;
        }
}

/* ---- the stack ---- */

/* A frame on top of `parent`, whose count the new one takes over. */
static struct frame *push(struct frames *f, struct frames_thread *t, struct frame *parent,
                          struct frame like)
{
    struct frame *n = malloc(sizeof *n);
    f->failed |= !n;
    if (!n)
        return NULL;
    *n = like;
    n->parent = parent;
    n->refs = 1;
    n->serial = ++f->serials;
    n->second = 0;
    n->own = NULL;
    t->top = n;
    return n;
}

static void pop(struct frames_thread *t)
{
    struct frame *top = t->top;
    t->top = top->parent ? frame_ref(top->parent) : NULL;
    frame_unref(top);
}

/* Pops all up to `last`. */
static void pop_through(struct frames_thread *t, const struct frame *last)
{
    while (t->top != last)
        pop(t);
    pop(t);
}

static struct frame *find(const struct frames_thread *t, gaddr slot, bool signal)
{
    for (struct frame *k = t->top; k; k = k->parent)
        if (k->kind != FRAME_ROOT && k->slot == slot && (k->kind == FRAME_SIGNAL) == signal)
            return k;
    return NULL;
}

/* A jump to another entry: the frame is another function's from here on. */
static enum frames_effect tail_call(struct frames *f, struct frames_thread *t, gaddr pc)
{
    struct frame *old = t->top;
    const struct insn *in = code_last(t->left);
    const struct code_block *b = t->left;
    bool through_got = in->kind == INSN_JMP_IND && in->rip_relative;
    bool stub = through_got && (in->pc == old->entry || in->pc == old->second);
    bool resolver = false;
    if (through_got && b->insns >= 2) {
        const struct insn *push_in = &b->insn[b->insns - 2].in;
        resolver = push_in->mnemonic == ZYDIS_MNEMONIC_PUSH && push_in->rip_relative;
    }
    bool inherits = stub || resolver || (old->resolver && in->kind == INSN_JMP_IND);
    struct frame like = {.kind = old->kind,
                         .resolver = resolver,
                         .slot = old->slot,
                         .entry = pc,
                         .maker = inherits ? old->maker : t->insn,
                         .maker_pc = inherits ? old->maker_pc : in->pc,
                         .jump_pc = old->jump_pc || inherits ? old->jump_pc : in->pc,
                         .call_pc = old->call_pc};
    struct frame *parent = old->parent ? frame_ref(old->parent) : NULL;
    if (push(f, t, parent, like))
        frame_unref(old);
    return FRAMES_MADE;
}

static enum frames_effect jump(struct frames *f, struct frames_thread *t,
                               const struct code_block *b, gaddr pc)
{
    if (pc == t->top->entry || !(b ? b->entry : trace_is_entry(f->trace, pc)))
        return FRAMES_STAYED;
    return tail_call(f, t, pc);
}

/* What the transfer at the end of t->left did, now that it is known to have led to pc, to block b
 * if not NULL. */
static enum frames_effect settle(struct frames *f, struct frames_thread *t,
                                 const struct code_block *b, gaddr pc)
{
    struct frame *k;
    switch (t->left->tail) {
    case INSN_CALL:
    case INSN_CALL_IND:
        push(f, t, t->top,
             (struct frame){.kind = FRAME_CALL,
                            .slot = t->addr,
                            .entry = pc,
                            .maker = t->insn,
                            .maker_pc = code_last(t->left)->pc,
                            .call_pc = code_last(t->left)->pc});
        return FRAMES_MADE;
    case INSN_RET:
        if (!(k = find(t, t->addr, false)))
            return jump(f, t, b, pc);
        pop_through(t, k);
        return FRAMES_POPPED;
    case INSN_JMP:
    case INSN_JCC:
    case INSN_JCXZ:
    case INSN_JMP_IND:
        return jump(f, t, b, pc);
    default:
        return FRAMES_STAYED;
    }
}

/* ---- steps and notes ---- */

struct frame *frames_enter(struct frames *f, uint32_t thread, const struct code_block *b, gaddr pc,
                           enum frames_effect *effect)
{
    struct frames_thread *t = &f->thread[thread];
    *effect = FRAMES_STAYED;
    if (t->left && t->top)
        *effect = settle(f, t, b, pc);
    t->left = NULL;
    if (!t->top)
        push(f, t, NULL, (struct frame){.kind = FRAME_ROOT, .entry = pc, .maker = FRAME_NO_MAKER});
    if (t->top && b && pc == t->top->entry && !t->top->second)
        t->top->second = pc + b->insn[0].in.len;
    return f->failed ? NULL : t->top;
}

/* rsp was set to somewhere in a caller's frame: what was called since is over. */
static uint32_t unwind(struct frames_thread *t, gaddr sp)
{
    uint32_t n = 0;
    for (; t->top && t->top->kind != FRAME_ROOT && t->top->slot < sp &&
           sp - t->top->slot < SAME_STACK;
         n++)
        pop(t);
    return n;
}

/* Unwinders of exceptions return by `mov rsp, x; pop r; jmp r`: the frame whose return address is
 * popped is over, too. `slot` has set rsp. */
static bool pops_and_jumps(const struct trace_step *s, const struct code_block *b,
                           const struct plan_slot *slot)
{
    return b->tail == INSN_JMP_IND && s->insns == b->insns && slot->insn + 3u == b->insns &&
           b->insn[b->insns - 2].in.mnemonic == ZYDIS_MNEMONIC_POP;
}

/* True: it ends with a call or a return. */
static bool left(struct frames_thread *t, const struct trace_step *s, const struct code_block *b,
                 uint64_t insn)
{
    t->left = NULL;
    if (s->insns != b->insns)
        return false;
    t->left = b;
    t->insn = insn + s->insns - 1u;
    t->addr = 0;
    return b->tail == INSN_RET || b->tail == INSN_CALL || b->tail == INSN_CALL_IND;
}

uint32_t frames_leave(struct frames *f, const struct trace_step *s, const struct code_block *b,
                      const uint64_t *values, uint64_t insn)
{
    struct frames_thread *t = &f->thread[s->thread];
    uint32_t torn = 0;
    for (uint32_t i = 0; b->moves_stack && i < b->slots; i++)
        if (b->slot[i].kind == PLAN_STACK && b->slot[i].insn < s->insns)
            torn += unwind(t, values[i] + (pops_and_jumps(s, b, &b->slot[i]) ? sizeof(gaddr) : 0));
    if (!left(t, s, b, insn))
        return torn;
    const struct code_insn *last = &b->insn[b->insns - 1];
    for (uint32_t i = 0; i < last->accesses; i++) {
        const struct plan_access *a = &b->access[last->access_at + i];
        bool stack = b->tail == INSN_RET ? a->mem.read : a->mem.write;
        if (stack && a->slot != PLAN_NONE)
            t->addr = code_address(a, values);
    }
    return torn;
}

/* The frame that a return leaves if nothing is said: the one on top. */
static bool is_plain_return(const struct frames_thread *t)
{
    bool call = t->top && t->top->kind == FRAME_CALL;
    return call ? t->top->slot == t->addr : !find(t, t->addr, false);
}

bool frames_tell(const struct frames *f, uint32_t thread, uint32_t torn, struct frames_told *out)
{
    const struct frames_thread *t = &f->thread[thread];
    *out = (struct frames_told){.torn = torn};
    if (!t->left || t->left->tail != INSN_RET || is_plain_return(t))
        return torn;
    const struct frame *from = find(t, t->addr, false);
    for (const struct frame *k = t->top; from && k != from; k = k->parent)
        out->above++;
    if (!from)
        out->above = FRAMES_NOWHERE;
    return true;
}

void frames_leave_told(struct frames *f, const struct trace_step *s, const struct code_block *b,
                       const struct frames_told *told, uint64_t insn)
{
    static const gaddr NUMBER = 1ull << 63; /* no address is there */
    struct frames_thread *t = &f->thread[s->thread];
    for (uint32_t i = 0; told && t->top && i < told->torn; i++)
        pop(t);
    if (!left(t, s, b, insn))
        return;
    if (b->tail != INSN_RET) {
        t->addr = NUMBER | ++f->slots;
        return;
    }
    const struct frame *k = told && told->above == FRAMES_NOWHERE ? NULL : t->top;
    for (uint32_t i = 0; told && k && i < told->above; i++)
        k = k->parent;
    if (k && k->kind == FRAME_CALL)
        t->addr = k->slot;
}

/* Where instructions are left out, frames came and went. */
static int take_did(struct frames *f, struct frames_thread *t, const struct flow_did *d)
{
    const size_t made = (d->note.bytes - sizeof *d) / sizeof *d->frame;
    if (d->how & FLOW_OWN)
        f->gap = t->insn;
    t->left = NULL;
    for (uint32_t i = 0; i < d->left && t->top; i++)
        pop(t);
    for (size_t i = 0; i < made; i++) {
        const struct flow_frame *k = &d->frame[i];
        const bool call = k->kind == FRAME_CALL && t->top;
        if (!push(f, t, t->top,
                  (struct frame){.kind = (uint8_t)(t->top ? k->kind : FRAME_ROOT),
                                 .resolver = k->resolver,
                                 .slot = k->slot,
                                 .entry = k->entry,
                                 .maker = call ? f->gap : FRAME_NO_MAKER,
                                 .maker_pc = k->call_pc,
                                 .call_pc = k->call_pc}))
            return -1;
    }
    return 0;
}

int frames_note(struct frames *f, uint32_t thread, const struct flow_note *note)
{
    struct frames_thread *t = &f->thread[thread];
    enum frames_effect effect;
    if (note->kind == FLOW_SIGNAL) {
        const struct flow_signal *s = (const struct flow_signal *)note;
        if (!frames_enter(f, thread, NULL, s->pc, &effect))
            return -1;
        return push(f, t, t->top,
                    (struct frame){.kind = FRAME_SIGNAL,
                                   .slot = s->frame,
                                   .entry = s->handler,
                                   .maker = FRAME_NO_MAKER})
                   ? 0
                   : -1;
    }
    if (note->kind == FLOW_DID)
        return take_did(f, t, (const struct flow_did *)note);
    const struct flow_call *c = (const struct flow_call *)note;
    if (note->kind == FLOW_CALL && access_is_sigreturn(c)) {
        struct frame *k = find(t, c->frame, true);
        if (k)
            pop_through(t, k);
        t->left = NULL;
    }
    return 0;
}

bool frames_returns(const struct frame *frame, const struct code_block *b, unsigned i,
                    const uint64_t *values)
{
    const struct code_insn *ci = &b->insn[i];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &b->access[ci->access_at + k];
        if (!a->mem.read)
            continue;
        gaddr addr = code_address(a, values);
        for (; frame; frame = frame->parent)
            if (frame->kind == FRAME_CALL && frame->slot == addr)
                return true;
        return false;
    }
    return false;
}
