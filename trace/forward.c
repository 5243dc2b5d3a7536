/* forward.c - a trace gone through forwards. SPDX-License-Identifier: MIT */
#include "trace/forward.h"

#include <stdlib.h>
#include <string.h>

#include "trace/graph/control.h"
#include "trace/state.h"

const uint8_t forward_context[15] = {R8,  R9,  R10, R11, R12, R13, R14, R15,
                                     RDI, RSI, RBP, RBX, RDX, RAX, RCX};

struct pass {
    struct trace_index *s;
    const struct forward_options *o;
    const struct forward_visitor *v;
    struct control *control; /* for functions only */
    struct frames frames;
    struct trace_state *state;
    struct forward_went *left; /* by thread: a step that is done; no frame: none */
    uint32_t threads;
    struct scan_lists lists; /* of the chunk */
    bool behind;             /* the chunk before was passed over */
    bool *went_on;           /* by chunk: it was gone on from */
};

bool forward_extent(const struct forward_at *n, unsigned k, gaddr *addr, uint64_t *bytes)
{
    const struct plan_access *a = &n->b->access[n->b->insn[n->i].access_at + k];
    if (access_is_odd(a))
        return false;
    *addr = access_extent(n->b, a, n->values, bytes);
    return true;
}

static int do_insn(struct pass *p, struct forward_at *n, uint32_t insn, unsigned flags,
                   struct err *err)
{
    const struct code_insn *ci = &n->b->insn[n->i];
    n->in = &ci->in;
    n->saves = ci->saves;
    n->restores = -1;
    bool none =
        (n->call && access_is_sigreturn(n->call)) || (n->frame->resolver && state_is(&ci->in));
    n->du = none ? NULL : code_defuse(p->s->code, n->b, n->i, flags, n->values);
    if (!none && !n->du)
        return err_set(err, "no memory");
    if (n->call && n->du)
        n->du = access_call_defuse(p->s->call, n->du, n->call);
    if (ci->saves >= 0 || ci->restores >= 0)
        n->pair = code_address(&n->b->access[ci->access_at], n->values);
    if (!p->o->keep_saves && ci->restores >= 0 && n->du && n->du->defs &&
        scan_lists_has(p->lists.restore, p->lists.restores, insn))
        n->restores = ci->restores;
    n->intact = ci->in.kind == INSN_RET && frames_returns(n->frame, n->b, n->i, n->values) &&
                !scan_lists_has(p->lists.changed, p->lists.changes, insn);
    return p->v->insn(p->v->arg, n, err);
}

static int settle(struct pass *p, uint32_t thread, struct frame *now, gaddr pc, struct err *err)
{
    struct forward_went *l = &p->left[thread];
    int end = 0;
    l->next = pc;
    if (l->frame && now->serial == l->frame->serial && p->v->went) {
        struct forward_went w = *l;
        w.frame = now;
        end = p->v->went(p->v->arg, &w, err);
    }
    frame_unref(l->frame);
    l->frame = NULL;
    return end;
}

/* The notes of a step that belong to its instruction: they come behind the step. */
static void attach(const struct trace_walk *w, struct forward_at *n)
{
    const struct insn *in = &n->b->insn[n->i].in;
    const struct flow_note *note;
    n->call = NULL;
    n->odd = NULL;
    for (uint32_t k = 0; (note = trace_walk_ahead(w, k)); k++) {
        if (note->kind == FLOW_CALL && in->kind == INSN_SYSCALL)
            n->call = (const struct flow_call *)note;
        if (note->kind == FLOW_ACCESS && ((const struct flow_access *)note)->pc == in->pc)
            n->odd = (const struct flow_access *)note;
    }
}

static int do_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct trace_chunk *c = w->chunk;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(p->s->code, st->block);
    struct trace_state *state = &p->state[st->thread];
    enum frames_effect effect;
    bool frame_pointer = false;
    trace_state_enter(state, p->s->code, b->pc);
    state->last = b->number + 1;
    struct forward_at n = {.b = b,
                           .values = c->value + st->value_at,
                           .thread = st->thread,
                           .count = state->count,
                           .frame = frames_enter(&p->frames, st->thread, b, b->pc, &effect)};
    if (!n.frame)
        return err_set(err, "no memory");
    int end = settle(p, st->thread, n.frame, b->pc, err);
    if (end)
        return end;
    n.insn = w->insns;
    bool resolves = n.frame->resolver && state_is(code_last(b));
    bool quiet = !resolves && p->v->quiet && p->v->quiet(p->v->arg, n.insn, st->insns);
    if (quiet && !b->pairs) {
        frames_leave(&p->frames, st, b, n.values, n.insn);
        return 0;
    }
    if (!p->o->stack_pointer && !control_function(p->control, n.frame->entry, &frame_pointer, err))
        return -1;
    unsigned flags = p->o->stack_pointer ? DEFUSE_STACK_POINTER : frame_pointer ? DEFUSE_FRAME : 0;
    for (n.i = 0; n.i < st->insns; n.i++) {
        if (quiet && b->insn[n.i].saves < 0 && b->insn[n.i].restores < 0)
            continue;
        n.insn = w->insns + n.i;
        attach(w, &n);
        end = do_insn(p, &n, st->insn_at + n.i, flags, err);
        if (end)
            return end;
    }
    if (st->insns == b->insns && !quiet)
        p->left[st->thread] = (struct forward_went){frame_ref(n.frame), w->insns + st->insns - 1u,
                                                    code_last(b)->pc, 0};
    frames_leave(&p->frames, st, b, n.values, w->insns);
    return 0;
}

static int do_signal(struct pass *p, uint32_t thread, const struct flow_signal *s, struct err *err)
{
    enum frames_effect effect;
    struct frame *now = frames_enter(&p->frames, thread, NULL, s->pc, &effect);
    int end = now ? settle(p, thread, now, s->pc, err) : err_set(err, "no memory");
    return end || !p->v->signal ? end : p->v->signal(p->v->arg, thread, s, err);
}

/* A thread was made by the call that ends step `before`, or by none. */
static int do_begin(struct pass *p, const struct trace_walk *w, const struct trace_step *before,
                    struct err *err)
{
    const struct flow_begin *b = (const struct flow_begin *)w->note;
    uint32_t child = trace_thread_find(p->s->trace, b->thread);
    const struct code_block *last = before ? code_block(p->s->code, before->block) : NULL;
    bool done = last && before->insns == last->insns && code_last(last)->kind == INSN_SYSCALL;
    if (trace_thread(p->s->trace, child) != b->thread)
        return 0;
    return p->v->begin(p->v->arg, w->thread, child, done ? w->insns - 1 : UINT64_MAX, err);
}

static int do_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct pass *p = arg;
    const struct flow_note *n = w->note;
    const uint32_t thread = w->thread;
    const struct trace_step *before = w->next_step ? &w->chunk->step[w->next_step - 1] : NULL;
    int end = 0;
    if (n->kind == FLOW_CUT && before && before->thread == thread &&
        before->insns < code_block(p->s->code, before->block)->insns)
        p->state[thread].settled = 1;
    trace_state_note(&p->state[thread], n);
    if (n->kind == FLOW_SIGNAL)
        end = do_signal(p, thread, (const struct flow_signal *)n, err);
    if (n->kind == FLOW_BEGIN && p->v->begin)
        end = do_begin(p, w, before, err);
    if (n->kind == FLOW_DID && p->v->did && !(((const struct flow_did *)n)->how & FLOW_OWN))
        end = p->v->did(p->v->arg, thread, w->insns - 1, (const struct flow_did *)n, err);
    const struct flow_call *call = (const struct flow_call *)n;
    if (n->kind == FLOW_CALL && p->v->sigreturn && access_is_sigreturn(call))
        end = p->v->sigreturn(p->v->arg, thread, call,
                              scan_delivery(&p->s->scan, call->frame, w->insns), err);
    if (end)
        return end;
    return frames_note(&p->frames, thread, n) ? err_set(err, "no memory") : 0;
}

static void take_states(struct pass *p, const struct trace_chunk *c)
{
    for (uint32_t i = 0; i < c->threads && i < p->threads; i++)
        p->state[i] = c->state[i];
}

/* The threads that execute something in the chunk leave the steps that they were in. */
static int pass_over(struct pass *p, const struct gist *g, struct err *err)
{
    int end = 0;
    for (uint32_t i = 0; !end && i < g->threads; i++) {
        struct forward_went *l = &p->left[g->thread[i].thread];
        if (l->frame && g->thread[i].carry) {
            gaddr pc = code_block(p->s->code, g->thread[i].carry - 1)->pc;
            end = settle(p, g->thread[i].thread, l->frame, pc, err);
        }
        frame_unref(l->frame);
        l->frame = NULL;
    }
    p->behind = true;
    return end;
}

/* The state when the chunk begins that was just read, behind some that were passed over. */
static int go_on(struct pass *p, const struct scan_chunk *sc, const struct trace_chunk *c,
                 struct err *err)
{
    p->went_on[c->number] = true;
    p->behind = false;
    take_states(p, c);
    return frames_go_on(&p->frames, &sc->start, err);
}

static int do_chunk(struct pass *p, uint32_t number, struct trace_chunk *c, struct err *err)
{
    static const struct trace_visitor visitor = {do_step, do_note};
    const struct scan_chunk *sc = &p->s->scan.chunk[number];
    uint32_t thread = sc->thread;
    if (p->v->passes && p->v->passes(p->v->arg, number))
        return pass_over(p, &sc->gist, err);
    if (trace_read(p->s->trace, number, c, err) || scan_unpack(sc, &p->lists, err) ||
        (p->behind && go_on(p, sc, c, err)))
        return -1;
    return trace_walk_chunk(p->s->trace, c, &thread, &visitor, p, err);
}

int forward_pass(struct trace_index *s, const struct forward_options *o,
                 const struct forward_visitor *v, struct err *err)
{
    struct trace_chunk c = {0};
    struct pass p = {.s = s, .o = o, .v = v, .threads = trace_threads(s->trace)};
    uint32_t chunk = 0, chunks = trace_chunks(s->trace);
    while (chunk + 1 < chunks && trace_chunk_first(s->trace, chunk + 1) <= v->first)
        chunk++;
    int end = trace_index_scan(s, o->max_save, err);
    if (!end)
        end = trace_index_reach(s, chunk, err);
    if (!end)
        end = chunks ? frames_copy(&p.frames, &s->scan.chunk[chunk].start, err)
                     : frames_init(&p.frames, s->trace, err);
    p.control = control_new(s->cfg);
    p.state = calloc(p.threads + 1, sizeof *p.state);
    p.left = calloc(p.threads + 1, sizeof *p.left);
    p.went_on = calloc(chunks + 1, sizeof *p.went_on);
    if (!end && (!p.control || !p.state || !p.left || !p.went_on))
        end = err_set(err, "no memory");
    if (!end && chunks) {
        end = trace_read(s->trace, chunk, &c, err);
        if (!end)
            take_states(&p, &c);
    }
    for (uint32_t i = chunk; !end && i < chunks; i++) {
        if (v->last && trace_chunk_first(s->trace, i) > v->last)
            break;
        end = do_chunk(&p, i, &c, err);
    }
    if (s->scan.chunk && chunks && p.went_on)
        for (uint32_t i = chunk; i < chunks; i++)
            if (i == chunk || p.went_on[i])
                frames_forget(&s->scan.chunk[i].start);
    for (uint32_t i = 0; p.left && i < p.threads; i++)
        frame_unref(p.left[i].frame);
    trace_chunk_deinit(&c);
    scan_lists_deinit(&p.lists);
    control_free(p.control);
    frames_deinit(&p.frames);
    free(p.state);
    free(p.left);
    free(p.went_on);
    return end;
}
