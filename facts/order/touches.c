/* touches.c - one pass over all memory accesses of a trace. SPDX-License-Identifier: MIT */
#include "facts/order/touches.h"

#include "facts/order/brief.h"
#include "trace/access.h"

struct all {
    const struct touches_visitor *v;
    struct briefs briefs;
    struct pass_step step;  /* the last one; block NULL: none yet */
    struct trace_step last; /* of it: notes of the next chunk come when its own is gone */
};

static int take_step(struct all *q, struct err *err)
{
    const struct pass_step *st = &q->step;
    const struct brief *x = briefs_of(&q->briefs, st->block);
    if (!x)
        return err_set(err, "no memory");
    if (q->v->step && q->v->step(q->v->arg, st, err))
        return -1;
    for (; x->insn < st->step->insns; x++) {
        struct touches_one t = {.addr = brief_address(x, st->values),
                                .bytes = x->more + 1u,
                                .write = x->write,
                                .insn = x->insn};
        if (x->more == BRIEF_NOT_SIMPLE)
            t.addr = access_extent(st->block, &st->block->access[x->access], st->values, &t.bytes);
        if (q->v->touch(q->v->arg, st, &t, err))
            return -1;
    }
    return 0;
}

/* The instruction of the last step that a note is of. */
static unsigned noted(const struct all *q, const struct flow_note *note)
{
    const struct flow_access *odd = (const struct flow_access *)note;
    unsigned last = q->step.step->insns - 1u;
    for (unsigned i = 0; note->kind == FLOW_ACCESS && i <= last; i++)
        if (q->step.block->insn[i].in.pc == odd->pc)
            return i;
    return last;
}

/* A system call that changes what is mapped. It touches nothing that somebody else could. */
static bool maps(const struct flow_note *note, struct touches_one *out)
{
    const struct flow_call *c = (const struct flow_call *)note;
    if (note->kind != FLOW_CALL)
        return false;
    switch (kinds_of(c->nr).does) {
    case DOES_MAPS:
        *out = (struct touches_one){.addr = (gaddr)c->result, .bytes = c->arg[1]};
        break;
    case DOES_UNMAPS:
    case DOES_ADVISES:
    case DOES_REMAPS:
        *out = (struct touches_one){.addr = c->arg[0], .bytes = c->arg[1]};
        break;
    case DOES_PROTECTS:
    case DOES_BREAKS:
        *out = (struct touches_one){.bytes = 0};
        break;
    default:
        return false;
    }
    out->renews = true;
    if (c->result < 0 && c->result > -4096)
        out->bytes = 0;
    return true;
}

static int take_note(void *arg, const struct pass *p, struct err *err)
{
    struct all *q = arg;
    const struct flow_note *note = p->at.note;
    size_t n;
    const struct flow_range *r = trace_ranges(note, &n);
    if (q->v->note && q->v->note(q->v->arg, p, err))
        return -1;
    if (!q->step.block || !q->step.step->insns || q->step.step->thread != p->at.thread)
        return 0;
    struct touches_one mapped;
    if (maps(note, &mapped))
        return q->v->touch(q->v->arg, &q->step, &mapped, err);
    for (; n--; r++) {
        struct touches_one t = {.addr = r->addr,
                                .bytes = r->bytes,
                                .write = r->how != FLOW_READ,
                                .noted = true,
                                .insn = noted(q, note)};
        if (q->v->touch(q->v->arg, &q->step, &t, err))
            return -1;
    }
    return 0;
}

int touches_pass(struct study *s, uint32_t first_chunk, const struct touches_visitor *v,
                 struct err *err)
{
    struct all q = {.v = v};
    struct pass pass;
    int more;
    if (briefs_init(&q.briefs, trace_code(s->trace), err))
        return -1;
    if (pass_start(&pass, s->trace, first_chunk, err)) {
        briefs_deinit(&q.briefs);
        return -1;
    }
    pass.note = take_note;
    pass.arg = &q;
    while ((more = pass_next(&pass, &q.step, err)) == 1) {
        q.last = *q.step.step;
        q.step.step = &q.last;
        if (take_step(&q, err)) {
            more = -1;
            break;
        }
    }
    pass_deinit(&pass);
    briefs_deinit(&q.briefs);
    return more;
}
