/* notes.c - what the kernel did to registers, backwards. SPDX-License-Identifier: MIT */
#include <string.h>

#include "slicer/walk/walk.h"
#include "trace/classes.h"
#include "trace/forward.h"
#include "trace/sigframe.h"

static void clear_handler_registers(struct walk *w, uint32_t thread)
{
    static const uint8_t set[] = {RDI, RSI, RDX, RAX};
    for (size_t i = 0; i < sizeof set; i++)
        loc_set_remove(&w->reg[thread], loc_gpr(set[i]), 8);
    loc_set_remove(&w->reg[thread], LOC_DF, 1);
    loc_set_remove(&w->reg[thread], LOC_VEC, LOC_CF - LOC_VEC); /* x87 and masks, too */
    loc_set_remove(&w->reg[thread], LOC_C0, LOC_MXCSR_STATUS - LOC_C0 + 1);
}

static void want_from_memory(struct walk *w, uint32_t thread, gaddr addr, unsigned loc, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (wanted_take(&w->memory, addr + i, 1))
            want_loc(w, thread, loc + i, 1);
}

/* A delivery: the frame's memory is what the registers were. */
void slice_walk_signal(struct walk *w, uint32_t thread, const struct flow_signal *s)
{
    clear_handler_registers(w, thread);
    for (size_t i = 0; i < sizeof forward_context; i++)
        want_from_memory(w, thread, s->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]),
                         8);
    if (wanted_take(&w->memory, s->frame + FORWARD_CONTEXT_FLAGS, 4))
        want_loc(w, thread, LOC_CF, LOC_DF - LOC_CF + 1);
    struct sigframe f;
    sigframe_init(&f, s->fpstate, s->end);
    for (size_t i = 0; i < f.places; i++)
        want_from_memory(w, thread, f.place[i].at, f.place[i].loc, f.place[i].bytes);
    wanted_take(&w->memory, s->frame, s->end - s->frame);
}

static void want_memory_for(struct walk *w, uint32_t thread, gaddr addr, unsigned loc, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (loc_set_has(&w->reg[thread], loc + i))
            w->ok &= wanted_add(&w->memory, addr + i, 1);
}

void slice_walk_sigreturn(struct walk *w, uint32_t thread, const struct flow_call *c, uint64_t insn)
{
    const struct scan_signal *by = scan_delivery(&w->s->scan, c->frame, insn);
    struct sigframe f;
    sigframe_init(&f, by ? by->fpstate : 0, by ? by->end : 0);
    for (size_t i = 0; i < sizeof forward_context; i++)
        want_memory_for(w, thread, c->frame + FORWARD_CONTEXT + 8 * i, loc_gpr(forward_context[i]),
                        8);
    for (size_t i = 0; i < f.places; i++)
        want_memory_for(w, thread, f.place[i].at, f.place[i].loc, f.place[i].bytes);
    for (unsigned flag = LOC_CF; flag <= LOC_DF; flag++)
        if (loc_set_has(&w->reg[thread], flag))
            w->ok &= wanted_add(&w->memory, c->frame + FORWARD_CONTEXT_FLAGS, 4);
    memset(&w->reg[thread], 0, sizeof w->reg[thread]);
}

bool slice_walk_begin(struct walk *w, const struct flow_begin *b)
{
    uint32_t child = trace_thread_find(w->s->trace, b->thread);
    uint32_t parent = trace_thread_find(w->s->trace, b->parent);
    if (trace_thread(w->s->trace, child) != b->thread ||
        trace_thread(w->s->trace, parent) != b->parent)
        return false;
    static const uint8_t made[] = {RAX, RSP, RCX, R11};
    bool call = control_root(w->control, child);
    struct loc_set *set = &w->reg[child];
    for (size_t i = 0; i < sizeof made; i++) {
        call |= slice_walk_any(w, child, loc_gpr(made[i]), 8);
        loc_set_remove(set, loc_gpr(made[i]), 8);
    }
    call |= slice_walk_any(w, child, LOC_FS_BASE, 1);
    loc_set_remove(set, LOC_FS_BASE, 1);
    for (struct loc_span span = loc_set_next(set, 0); span.count;
         span = loc_set_next(set, span.first + span.count))
        want_loc(w, parent, span.first, span.count);
    memset(set, 0, sizeof *set);
    return call;
}

bool slice_walk_did(struct walk *w, uint32_t thread, const struct flow_did *d)
{
    bool any = d->how & FLOW_BEGAN && control_root(w->control, thread);
    struct loc_set set;
    if (d->how & FLOW_OWN)
        return any; /* the instruction that stands for it defines them */
    classes_locations(d->wrote, &set);
    for (size_t i = 0; i < sizeof set.bits / sizeof *set.bits; i++) {
        any |= w->reg[thread].bits[i] & set.bits[i];
        w->reg[thread].bits[i] &= ~set.bits[i];
    }
    return any;
}
