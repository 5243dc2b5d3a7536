/* place_frame.c - a place as one of its callers sees it, or another thread.
 *
 * SPDX-License-Identifier: MIT
 *
 * The calls that a thread is in are those that the trace has seen: no stack is unwound. A frame
 * that is not the innermost one has the registers of the moment in which it was left: those before
 * the call, of which the callee keeps what its ABI asks for, or those that a signal's frame has
 * saved.
 */
#include <stdlib.h>

#include "slicer/criterion/place.h"
#include "study/past.h"
#include "trace/forward.h"
#include "trace/pass.h"

/* On the way outwards. */
struct stand {
    struct study *study;
    struct place *place;
    const struct frame *frame;
    gaddr pc;
    struct past *past; /* at the place; NULL: nobody has asked yet */
};

static int look_back(struct stand *w, struct err *err)
{
    if (!w->past)
        w->past = study_past(w->study, w->place->at, &w->place->position, err);
    return w->past ? 0 : -1;
}

/* Follows the trace as far as the place. */
static int run_to(struct study *s, struct pass *pass, uint64_t insn, struct err *err)
{
    struct pass_step st;
    int more = pass_skip(pass, s->index, insn, err) ? -1 : 1;
    while (more == 1 && (more = pass_next(pass, &st, err)) == 1)
        if (insn < st.insn + st.step->insns)
            break;
    return more < 0 ? -1 : 0;
}

/* ---- the innermost frame ---- */

/* The place's own; a signal may have come there, whose handler is on top of it. */
static void begin_here(struct stand *w, const struct pass *pass)
{
    const struct frame *top = pass->frames.thread[w->place->thread].top, *f = top;
    while (f && place_cfa(f) != w->place->cfa)
        f = f->parent;
    w->frame = f ? f : top;
    w->pc = w->place->position.pc;
}

static int pc_of_thread(struct stand *w, uint32_t number, struct err *err)
{
    struct program_registers *r = malloc(sizeof *r);
    if (!r)
        return err_set(err, "no memory");
    int bad = look_back(w, err) || past_registers(w->past, number, r, err);
    w->pc = bad ? 0 : r->rip;
    free(r);
    return bad ? -1 : 0;
}

/* That of another thread, whose pc the replay knows. */
static int begin_there(struct stand *w, struct pass *pass, uint32_t number, struct err *err)
{
    struct study *s = w->study;
    uint32_t thread = trace_thread_find(s->trace, number);
    enum frames_effect effect;
    if (trace_thread(s->trace, thread) != number)
        return err_set_code(err, PLACE_NEVER, "there is no thread %u in the trace%s", number,
                            place_since(s));
    if (pc_of_thread(w, number, err))
        return -1;
    w->frame = frames_enter(&pass->frames, thread, NULL, w->pc, &effect);
    if (!w->frame)
        return err_set(err, "no memory");
    w->place->thread = thread;
    place_set_frame(w->place, w->frame);
    return 0;
}

/* ---- outwards ---- */

/* Where the call at `pc` returns to; 0: it is none of the trace. */
static gaddr behind_call(const struct study *s, gaddr pc)
{
    const struct code *code = trace_code(s->trace);
    for (uint32_t i = 0; i < code_count(code); i++)
        if (code_last(code_block(code, i))->pc == pc)
            return code_block(code, i)->end;
    return 0;
}

static void enter_parent(struct stand *w, uint64_t call, gaddr context)
{
    w->frame = w->frame->parent;
    place_set_frame(w->place, w->frame);
    w->place->call = call;
    w->place->context = context;
}

/* To the frame that a signal has interrupted. */
static int leave_handler(struct stand *w, struct err *err)
{
    const gaddr context = w->frame->slot + FORWARD_CONTEXT;
    const size_t rip = sizeof forward_context + 1; /* behind rsp */
    if (look_back(w, err))
        return -1;
    if (past_read(w->past, context + 8 * rip, &w->pc, sizeof w->pc) != sizeof w->pc)
        return err_set(err, "the signal's frame at 0x%llx is gone",
                       (unsigned long long)w->frame->slot);
    enter_parent(w, UINT64_MAX, context);
    return 0;
}

static int leave_call(struct stand *w, struct err *err)
{
    gaddr back = behind_call(w->study, w->frame->call_pc);
    if (!back || w->frame->maker == FRAME_NO_MAKER)
        return err_set_code(err, PLACE_NEVER, "the call that made the frame is not in the trace");
    w->pc = back - 1; /* in the call: behind it other variables may be visible */
    enter_parent(w, w->frame->maker, 0);
    return 0;
}

static int go_out(struct stand *w, uint32_t number, struct err *err)
{
    for (uint32_t left = number;;) {
        size_t inlined = source_calls(w->study->source, w->pc, NULL, 0);
        bool signal = w->frame->kind == FRAME_SIGNAL;
        if (left <= inlined) {
            w->place->inlined = left;
            return 0;
        }
        left -= (uint32_t)inlined + 1;
        if (signal && !left--)
            return err_set_code(err, PLACE_NEVER,
                                "frame %u is where a signal came: it has no variables", number);
        if (!w->frame->parent)
            return err_set_code(err, PLACE_NEVER, "there is no frame %u", number);
        if (signal ? leave_handler(w, err) : leave_call(w, err))
            return -1;
    }
}

int place_frame(struct study *s, struct place *p, const struct place_view *view, struct err *err)
{
    struct stand w = {.study = s, .place = p};
    struct pass pass;
    bool other = view->thread && view->thread != trace_thread(s->trace, p->thread);
    if (!other && !view->frame)
        return 0;
    if (pass_init(&pass, s->trace, err))
        return -1;
    int bad = run_to(s, &pass, p->at, err);
    if (!bad && other)
        bad = begin_there(&w, &pass, view->thread, err);
    else if (!bad)
        begin_here(&w, &pass);
    bad = bad || go_out(&w, view->frame, err);
    if (!bad) {
        p->pc = p->scope = w.pc;
        if (other || p->call != UINT64_MAX || p->context)
            p->line_pc = w.pc;
        p->insns = 0;
    }
    past_free(w.past);
    pass_deinit(&pass);
    return bad ? -1 : 0;
}
