/* follow.c - executions of functions, followed through a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each thread has a stack of executions beside its frames. Serials of frames grow, so that a look
 * at the frame that runs says what happened:
 * 1. It has the serial of the execution on top: nothing.
 * 2. It has a larger one: it is new, and perhaps more below it are. What is above its parent is
 *    over; but if that has the same slot, the new one was jumped to, and both will return together.
 * 3. It has a smaller one: what is above is over.
 * A function that is only ever jumped to is no entry of the trace (trace.h) and has no frame of its
 * own: its execution shares the frame of the one that jumped.
 */
#include "facts/calls/follow.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "study/kept.h"
#include "study/study.h"
#include "trace/access.h"

/* Executions that jumped to another one and are kept: state machines do nothing else. */
enum { CHAIN_MAX = 1 << 16 };

/* ---- begin and end ---- */

int follow_init(struct follow *f, struct trace *trace, struct err *err)
{
    const struct code *code = trace_code(trace);
    *f = (struct follow){.trace = trace, .threads = trace_threads(trace)};
    f->block = calloc(code_count(code) + 1u, sizeof *f->block);
    f->thread = calloc(f->threads + 1, sizeof *f->thread);
    f->state = calloc(f->threads + 1, sizeof *f->state);
    f->seen = calloc(f->threads + 1, sizeof *f->seen);
    f->step_count = calloc(f->threads + 1, sizeof *f->step_count);
    if (!f->block || !f->thread || !f->state || !f->seen || !f->step_count)
        err_set(err, "no memory");
    else if (!frames_init(&f->frames, trace, err)) {
        for (uint32_t i = 0; i < code_count(code); i++) {
            const struct code_block *b = code_block(code, i);
            bool leaves = b->moves_stack || b->tail == INSN_RET || b->tail == INSN_CALL ||
                          b->tail == INSN_CALL_IND;
            f->block[i] = (struct follow_block){
                FOLLOW_NO_FUNCTION, b->insns,
                (uint8_t)((leaves ? FOLLOW_LEAVES : 0) | (b->entry ? FOLLOW_ENTRY : 0))};
        }
        for (uint32_t i = 0; i < f->threads; i++)
            f->thread[i].pending = true;
        return 0;
    }
    follow_deinit(f);
    return -1;
}

void follow_deinit(struct follow *f)
{
    for (uint32_t i = 0; f->thread && i < f->threads; i++) {
        free(f->thread[i].call);
        free(f->thread[i].active);
    }
    frames_deinit(&f->frames);
    trace_chunk_deinit(&f->chunk);
    free(f->block);
    free(f->thread);
    free(f->state);
    free(f->seen);
    free(f->step_count);
    free(f->odd);
    *f = (struct follow){0};
}

/* ---- the stack of executions ---- */

static struct follow_call *top_of(const struct follow_thread *t)
{
    return t->calls ? &t->call[t->calls - 1] : NULL;
}

static uint32_t function_of(struct follow_call *c, const struct follow_block *b)
{
    if (b->flags & FOLLOW_STUB) {
        c->stub = b->function + 1;
        return FOLLOW_NO_FUNCTION;
    }
    if (b->function == FOLLOW_NO_FUNCTION && b->flags & FOLLOW_TARGET && c->stub && !c->resolver)
        return c->stub - 1;
    return b->function;
}

/* The execution on top has its first step now. */
static int begin(struct follow *f, uint32_t thread, const struct follow_block *b, uint64_t insn,
                 struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    struct follow_call *c = top_of(t);
    const uint32_t function = function_of(c, b);
    c->fresh = false;
    c->first = insn;
    c->function = function;
    if (function == FOLLOW_NO_FUNCTION)
        return 0;
    if (!t->active && !(t->active = calloc(f->functions + 1u, sizeof *t->active)))
        return err_set(err, "no memory");
    c->again = t->active[function]++;
    return f->v->begin && follow_tells(f, thread) ? f->v->begin(f->v->arg, f, thread, c, err) : 0;
}

static int pop(struct follow *f, uint32_t thread, enum follow_end how, struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    struct follow_call *c = top_of(t);
    int end = 0;
    if (c->function != FOLLOW_NO_FUNCTION) {
        if (f->v->end && follow_tells(f, thread))
            end = f->v->end(f->v->arg, f, thread, c, how, err);
        t->active[c->function]--;
    }
    t->chain -= c->tail;
    t->calls--;
    if (t->calls) {
        struct follow_call *under = top_of(t);
        under->below += follow_inclusive(t, c);
        t->block = under->block;
    }
    return end;
}

static int push(struct follow *f, uint32_t thread, struct follow_call new, struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    struct follow_call *under = top_of(t);
    new.function = FOLLOW_NO_FUNCTION;
    new.before = t->insns;
    new.fresh = true;
    new.depth = under ? under->depth + !under->tail : 0;
    if (under)
        under->block = t->block;
    t->block = 0;
    return array_push(&t->call, &t->calls, &t->room, new) ? err_set(err, "no memory") : 0;
}

/* The execution on top jumps to another function. It stays below that one, unless nobody wants to
 * know of it. */
static int leave_by_jump(struct follow *f, uint32_t thread, struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    struct follow_call *c = top_of(t);
    if (c->function != FOLLOW_NO_FUNCTION && t->chain < CHAIN_MAX) {
        c->tail = true;
        t->chain++;
        return 0;
    }
    return pop(f, thread, FOLLOW_TAIL, err);
}

/* A frame that no execution has yet. */
static int push_frame(struct follow *f, uint32_t thread, const struct frame *k, bool tail,
                      struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    struct follow_call new = {.serial = k->serial,
                              .slot = k->slot,
                              .entry = k->entry,
                              .signal = k->kind == FRAME_SIGNAL,
                              .resolver = k->resolver,
                              .stub = tail && !k->jump_pc ? top_of(t)->stub : 0};
    if (tail && k->jump_pc) {
        new.how = FOLLOW_JUMPED;
        new.from = k->maker_pc;
    } else {
        new.how = k->kind == FRAME_CALL     ? FOLLOW_CALLED
                  : k->kind == FRAME_SIGNAL ? FOLLOW_SIGNAL
                                            : FOLLOW_THREAD;
        new.from = k->call_pc;
    }
    uint32_t depth = tail ? top_of(t)->depth : 0;
    if (tail && leave_by_jump(f, thread, err))
        return -1;
    if (push(f, thread, new, err))
        return -1;
    if (tail)
        top_of(t)->depth = depth;
    return 0;
}

/* What is above the frame with this serial is over. The frame at its bottom was returned from, if
 * anything was. */
static int pop_to(struct follow *f, uint32_t thread, uint64_t serial, bool returned,
                  struct err *err)
{
    struct follow_thread *t = &f->thread[thread];
    uint32_t n = t->calls;
    int end = 0;
    while (n && t->call[n - 1].serial > serial)
        n--;
    gaddr slot = n < t->calls ? t->call[n].slot : 0;
    while (!end && t->calls > n) {
        const struct follow_call *c = top_of(t);
        bool whole = returned && c->slot == slot;
        end = pop(f, thread,
                  !whole    ? FOLLOW_UNWOUND
                  : c->tail ? FOLLOW_TAIL
                            : FOLLOW_RETURNED,
                  err);
    }
    return end;
}

/* The new frames from the lowest one up to `k`; `under` is the serial of those that are known. */
static int push_frames(struct follow *f, uint32_t thread, const struct frame *k, uint64_t known,
                       struct err *err)
{
    const struct frame *lowest = k;
    while (lowest->parent && lowest->parent->serial > known)
        lowest = lowest->parent;
    const uint64_t base = lowest->parent ? lowest->parent->serial : 0;
    struct follow_thread *t = &f->thread[thread];
    const struct follow_call *top = top_of(t);
    bool tail = top && top->serial != base && top->slot == lowest->slot &&
                top->signal == (lowest->kind == FRAME_SIGNAL);
    int end = tail ? 0 : pop_to(f, thread, base, false, err);
    if (!end)
        end = push_frame(f, thread, lowest, tail, err);
    /* At most a handler that came before the function's first instruction. */
    if (!end && lowest != k)
        end = push_frame(f, thread, k, false, err);
    return end;
}

/* A handler returns to code that ends its frame. What that executes is no function's that anybody
 * called. */
static int finish_handler(struct follow *f, uint32_t thread, const struct frame *k, struct err *err)
{
    int end = pop_to(f, thread, k->parent ? k->parent->serial : 0, true, err);
    return end ? end : push_frame(f, thread, k, false, err);
}

/* The thread enters a block, in a frame. */
static int settle(struct follow *f, const struct trace_walk *w, const struct frame *k,
                  enum frames_effect effect, struct err *err)
{
    const uint32_t thread = w->step->thread;
    struct follow_thread *t = &f->thread[thread];
    const struct follow_block *b = &f->block[w->step->block];
    uint64_t known = t->calls ? top_of(t)->serial : 0;
    int end = 0;
    if (k->serial < known)
        end = pop_to(f, thread, k->serial, effect == FRAMES_POPPED || t->from_handler, err);
    else if (k->serial > known)
        end = push_frames(f, thread, k, known, err);
    else if (t->by_return && k->kind == FRAME_SIGNAL && effect == FRAMES_STAYED)
        end = finish_handler(f, thread, k, err);
    t->from_handler = false;
    struct follow_call *c = top_of(t);
    if (end)
        return end;
    if (!c || c->serial != k->serial) /* it was there before all that is known */
        end = push_frame(f, thread, k, false, err);
    else if (!c->fresh && b->flags & FOLLOW_START && c->function != b->function) {
        struct follow_call jumped = {.serial = k->serial,
                                     .slot = c->slot,
                                     .entry = k->entry,
                                     .from = t->last_pc,
                                     .signal = c->signal,
                                     .how = FOLLOW_JUMPED};
        uint32_t depth = c->depth;
        end = leave_by_jump(f, thread, err);
        if (!end)
            end = push(f, thread, jumped, err);
        if (!end)
            top_of(t)->depth = depth;
    }
    if (end || !top_of(t)->fresh)
        return end;
    top_of(t)->entry = code_block(trace_code(f->trace), w->step->block)->pc;
    return begin(f, thread, b, w->insns, err);
}

/* ---- steps and notes ---- */

static const struct frames_told *odd_at(const struct follow *f, uint64_t insn)
{
    const size_t i = search_below(f->odd, f->odds, insn, insn);
    return i < f->odds && f->odd[i].insn == insn ? &f->odd[i].told : NULL;
}

static void leave_frames(struct follow *f, const struct trace_step *s, const struct code_block *b,
                         uint64_t insn)
{
    struct follow_odd odd = {.insn = insn};
    bool simple = !(f->block[s->block].flags & FOLLOW_LEAVES);
    if (f->odds_known) {
        frames_leave_told(&f->frames, s, b, simple ? NULL : odd_at(f, insn), insn);
        return;
    }
    uint32_t torn = frames_leave(&f->frames, s, b, f->chunk.value + s->value_at, insn);
    if (!simple && frames_tell(&f->frames, s->thread, torn, &odd.told) &&
        array_push(&f->odd, &f->odds, &f->odd_room, odd))
        f->frames.failed = true;
}

/* Frames are told of the step that the thread did last. */
static void leave(struct follow *f, struct follow_thread *t)
{
    const struct trace_step *s = t->last;
    if (!s)
        return;
    const struct code_block *b = code_block(trace_code(f->trace), s->block);
    const uint64_t insn = f->chunk.first_insn + s->insn_at;
    leave_frames(f, s, b, insn);
    t->last = NULL;
    t->by_return = b->tail == INSN_RET && s->insns == b->insns;
    if (s->insns) {
        t->last_insn = insn + s->insns - 1u;
        t->last_pc = b->insn[s->insns - 1].in.pc;
    }
}

static int look(struct follow *f, const struct trace_walk *w, struct err *err)
{
    const struct trace_step *s = w->step;
    const struct code_block *b = code_block(trace_code(f->trace), s->block);
    struct follow_thread *t = &f->thread[s->thread];
    enum frames_effect effect;
    leave(f, t);
    struct frame *k = frames_enter(&f->frames, s->thread, b, b->pc, &effect);
    return k ? settle(f, w, k, effect, err) : err_set(err, "no memory");
}

static inline int do_step(struct follow *f, const struct trace_walk *w, struct err *err)
{
    const struct trace_step *s = w->step;
    struct follow_thread *t = &f->thread[s->thread];
    const struct follow_block *b = &f->block[s->block];
    const bool told = follow_tells(f, s->thread);
    int end = 0;
    if (b->flags & (FOLLOW_ENTRY | FOLLOW_START) || t->pending)
        end = look(f, w, err);
    if (!end && b->flags & FOLLOW_WITHIN && told)
        end = f->v->within(f->v->arg, f, s, err);
    bool cut = s->insns != b->insns;
    t->insns += s->insns;
    t->last = s;
    t->block = s->block + 1;
    t->pending = b->flags & FOLLOW_LEAVES || cut;
    if (f->count)
        f->count[s->block] += !cut && told;
    if (cut && !end && f->v->cut && told)
        end = f->v->cut(f->v->arg, f, s, err);
    return end;
}

static int do_note(struct follow *f, const struct trace_walk *w, struct err *err)
{
    const struct flow_note *n = w->note;
    struct follow_thread *t = &f->thread[w->thread];
    bool returns =
        n->kind == FLOW_CALL && access_is_sigreturn((const struct flow_call *)(const void *)n);
    if (n->kind != FLOW_SIGNAL && n->kind != FLOW_DID && !returns)
        return 0;
    leave(f, t);
    t->pending = true;
    t->from_handler = returns;
    return frames_note(&f->frames, w->thread, n) ? err_set(err, "no memory") : 0;
}

static int do_chunk(struct follow *f, struct err *err)
{
    struct trace_walk w;
    int end = 0;
    f->behind_begun = false;
    f->chunk_runs = f->runs;
    trace_walk_begin(&w, f->trace, &f->chunk, f->runs);
    while (!end && trace_walk_next(&w)) {
        f->step = w.step;
        end = w.step ? do_step(f, &w, err) : do_note(f, &w, err);
    }
    f->runs = w.thread;
    f->step = NULL;
    for (uint32_t i = 0; !end && i < f->threads; i++)
        leave(f, &f->thread[i]);
    return end;
}

static int by_insn(const void *a, const void *b)
{
    const struct follow_odd *x = a, *y = b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

/* Whatever has not ended. */
static int finish(struct follow *f, struct err *err)
{
    int end = 0;
    for (uint32_t i = 0; i < f->threads; i++)
        while (!end && f->thread[i].calls)
            end = pop(f, i, FOLLOW_RUNNING, err);
    return end;
}

static bool is_interrupted(const struct follow *f, uint32_t chunk)
{
    const struct follow_watch *w = &f->v->watch;
    if (w->progress)
        w->progress(w->arg, trace_chunk_first(f->trace, chunk), trace_insns(f->trace));
    return w->interrupted && w->interrupted();
}

int follow_pass(struct follow *f, const struct follow_visitor *v, struct err *err)
{
    int end = 0;
    f->v = v;
    for (uint32_t i = 0; !end && i < trace_chunks(f->trace); i++) {
        end = is_interrupted(f, i);
        if (!end)
            end = f->odds_known ? trace_read_steps(f->trace, i, &f->chunk, err)
                                : trace_read(f->trace, i, &f->chunk, err);
        if (!end)
            end = do_chunk(f, err);
    }
    if (!end && f->frames.failed)
        end = err_set(err, "no memory");
    if (!end && f->odds && !f->odds_known)
        qsort(f->odd, f->odds, sizeof *f->odd, by_insn);
    return end ? end : finish(f, err);
}

/* What is kept may be damaged, though it looks good: then frames are wrong, and nothing else. */
int follow_study(struct follow *f, struct study *study, const struct follow_visitor *v,
                 struct err *err)
{
    static const struct kept_fact fact = {.name = "calls", .version = 1};
    size_t bytes = 0;
    f->odd = kept_get(study, &fact, &bytes);
    f->odds_known = f->odd && bytes % sizeof *f->odd == 0;
    f->odds = f->odds_known ? bytes / sizeof *f->odd : 0;
    const bool known = f->odds_known;
    int end = follow_pass(f, v, err);
    /* One that no step has: there is something to be kept even if none is odd. */
    const struct follow_odd last = {.insn = UINT64_MAX};
    if (!end && !known && !array_push(&f->odd, &f->odds, &f->odd_room, last))
        kept_put(study, &fact, f->odd, f->odds * sizeof *f->odd);
    return end;
}

/* ---- positions ---- */

/* Ticks as the chunk begins. What is wanted of a thread that has no step in it is the count when
 * its last one began: a return's own tick comes later. */
static void begin_behind(struct follow *f)
{
    const struct code *code = trace_code(f->trace);
    trace_walk_begin(&f->behind, f->trace, &f->chunk, f->chunk_runs);
    f->behind_begun = true;
    for (uint32_t i = 0; i < f->threads; i++) {
        struct trace_state *s = &f->state[i];
        *s = i < f->chunk.threads ? f->chunk.state[i] : (struct trace_state){0};
        f->seen[i] = s->last || s->count;
        const struct code_block *last = s->last ? code_block(code, s->last - 1) : NULL;
        f->step_count[i] = s->count - (s->settled && last && last->tail == INSN_RET && s->count);
    }
}

/* Counts the ticks of so many steps of the chunk. */
static void catch_up(struct follow *f, uint32_t steps)
{
    const struct code *code = trace_code(f->trace);
    struct trace_walk *w = &f->behind;
    if (!f->behind_begun)
        begin_behind(f);
    while (w->next_step < steps && trace_walk_next(w)) {
        struct trace_state *s = &f->state[w->thread];
        if (w->note) {
            trace_state_take(s, &f->seen[w->thread], code, &f->chunk, w->next_step, w->thread,
                             w->note);
            continue;
        }
        f->seen[w->thread] = true;
        trace_state_enter(s, code, code_block(code, w->step->block)->pc);
        s->last = w->step->block + 1;
        f->step_count[w->thread] = s->count;
    }
}

struct position follow_position(struct follow *f)
{
    const struct trace_step *s = f->step;
    catch_up(f, (uint32_t)(s - f->chunk.step) + 1);
    return (struct position){.thread = trace_thread(f->trace, s->thread),
                             .count = f->step_count[s->thread],
                             .pc = code_block(trace_code(f->trace), s->block)->pc};
}

struct position follow_last(struct follow *f, uint32_t thread)
{
    catch_up(f, f->step ? (uint32_t)(f->step - f->chunk.step) : f->chunk.steps);
    return (struct position){.thread = trace_thread(f->trace, thread),
                             .count = f->step_count[thread],
                             .pc = f->thread[thread].last_pc};
}
