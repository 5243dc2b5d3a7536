/* walk.c - a trace walked backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * The state is what is wanted: bytes of memory, locations of each thread, and nodes that wait for
 * what controls them (control.h). A chunk is read, the frames of its steps are found by following
 * it forwards from what the scan knows of its beginning, and then its steps and notes are gone
 * through from the last to the first. docs/slicing.md is the specification; the order of things
 * inside a step follows from it:
 *
 * 1. notes behind a step come before the step;
 * 2. a step's last instruction is first asked whether frames it made, or nodes that wait for the
 *    edge it took, want it;
 * 3. then each instruction from the last to the first: does it define what is wanted?
 *
 * Most steps are executions of blocks that were met before, and are done by what is remembered of
 * these (transfer.h); instructions one by one are for what is rare.
 */
#include <stdlib.h>
#include <string.h>

#include "slicer/walk/walk.h"
#include "trace/walk.h"

/* ---- wanted from outside ---- */

static void want_more(struct walk *w, uint64_t at)
{
    while (w->wants && w->want[0]->at >= at) {
        const struct slice_want *x = w->want[0];
        if (x->kind == SLICE_USES && x->at == at)
            return; /* when it is met */
        if (x->kind == SLICE_MEMORY)
            w->ok &= wanted_add(&w->memory, x->addr, x->bytes);
        else if (x->kind == SLICE_REGISTER && x->addr < LOC_COUNT && x->thread < w->threads)
            want_loc(w, x->thread, (unsigned)x->addr,
                     (unsigned)(x->bytes < LOC_COUNT - x->addr ? x->bytes : LOC_COUNT - x->addr));
        w->want++;
        w->wants--;
    }
}

static bool is_criterion(struct walk *w, uint64_t at)
{
    bool any = false;
    while (w->wants && w->want[0]->at == at && w->want[0]->kind == SLICE_USES) {
        any = true;
        w->want++;
        w->wants--;
    }
    return any;
}

/* ---- chunks ---- */

/* A chunk that is followed forwards; lists are by thread. */
struct following {
    struct walk *w;
    struct frames frames;
    struct followed {
        uint32_t last; /* step whose next place is not known yet, plus one */
        gaddr carry;   /* where it went on first, if it had begun before the chunk */
        bool entered;  /* ... which is known now */
    } * thread;
};

/* The thread enters block b, or is interrupted, at pc: its last step went on there. */
static struct frame *enter(struct following *f, uint32_t thread, const struct code_block *b,
                           gaddr pc)
{
    struct followed *t = &f->thread[thread];
    bool pending = f->frames.thread[thread].left;
    enum frames_effect effect;
    struct frame *now = frames_enter(&f->frames, thread, b, pc, &effect);
    if (pending && effect == FRAMES_STAYED) {
        if (t->last)
            f->w->place[t->last - 1].next = pc;
        else if (!t->entered)
            t->carry = pc;
    }
    t->entered = true;
    t->last = 0;
    return now;
}

static int follow_note(void *arg, const struct trace_walk *at, struct err *err)
{
    struct following *f = arg;
    const struct flow_note *n = at->note;
    if ((n->kind == FLOW_SIGNAL && /* it went on, and was interrupted there */
         !enter(f, at->thread, NULL, ((const struct flow_signal *)n)->pc)) ||
        frames_note(&f->frames, at->thread, n))
        return err_set(err, "no memory");
    return 0;
}

static int follow_step(void *arg, const struct trace_walk *at, struct err *err)
{
    struct following *f = arg;
    const struct trace_step *st = at->step;
    const struct code_block *b = code_block(f->w->s->code, st->block);
    const uint32_t i = trace_walk_steps(at);
    struct frame *now = enter(f, at->thread, b, b->pc);
    if (!now)
        return err_set(err, "no memory");
    f->thread[at->thread].last = i + 1;
    f->w->place[i] = (struct place){frame_ref(now), 0};
    frames_leave(&f->frames, st, b, at->chunk->value + st->value_at, at->insns);
    return 0;
}

/* Frames of all steps of the chunk, forwards. */
static int follow(struct walk *w, struct err *err)
{
    static const struct trace_visitor visitor = {follow_step, follow_note};
    struct following f = {.w = w, .thread = calloc(w->threads + 1, sizeof *f.thread)};
    uint32_t thread = w->scan->thread;
    if (!f.thread)
        return err_set(err, "no memory");
    int bad = frames_copy(&f.frames, &w->scan->start, err);
    if (!bad)
        bad = trace_walk_chunk(w->s->trace, &w->chunk, &thread, &visitor, &f, err);
    /* The last steps of the chunk went on where the next chunk, walked before, says. */
    for (uint32_t t = 0; t < w->threads; t++) {
        if (f.thread[t].last)
            w->place[f.thread[t].last - 1].next = w->carry[t];
        if (f.thread[t].entered)
            w->carry[t] = f.thread[t].carry;
    }
    frames_deinit(&f.frames);
    free(f.thread);
    return bad;
}

/* ---- steps ---- */

struct attached {
    const struct flow_call *call;
    const struct flow_access *odd[PLAN_INSNS];
    unsigned odds;
    bool wanted; /* the call, by the thread it made */
};

static const struct flow_access *odd_of(const struct attached *x, gaddr pc)
{
    for (unsigned i = 0; i < x->odds; i++)
        if (x->odd[i]->pc == pc)
            return x->odd[i];
    return NULL;
}

/* The node is instruction i of its step. */
static void at_insn(struct node *n, unsigned i, const struct attached *a, bool last)
{
    n->i = i;
    n->insn = n->step->insn_at + i;
    n->call = last && n->b->insn[i].in.kind == INSN_SYSCALL ? a->call : NULL;
    n->odd = a->odds ? odd_of(a, n->b->insn[i].in.pc) : NULL;
}

/* The step's block, as its function has it. */
static struct transfer_block *block_of(struct walk *w, const struct code_block *b, gaddr entry,
                                       struct err *err)
{
    struct transfer_block *x = transfer_find(w->transfer, b->number, entry);
    bool frame_pointer;
    if (x)
        return x;
    const struct cfg_function *f = control_function(w->control, entry, &frame_pointer, err);
    if (!f)
        return NULL;
    unsigned flags = w->o->stack_pointer ? DEFUSE_STACK_POINTER : frame_pointer ? DEFUSE_FRAME : 0;
    x = transfer_add(w->transfer, b, entry, f, flags);
    if (!x)
        err_set(err, "no memory");
    return x;
}

/* Did somebody wait for the branch at the end of the block, which led to `next`? */
static bool waits_for_branch(struct walk *w, struct transfer_block *x, const struct frame *f,
                             gaddr next)
{
    if (!x->branches || !next || !control_waits(w->control, f))
        return false;
    if (x->seen_pc != next) {
        x->seen_pc = next;
        x->seen = cfg_block_of(x->function, next);
    }
    return x->seen != CFG_NONE && control_branch(w->control, f, x->last, x->seen);
}

/* May an instruction that is no simple one do something to what is wanted? */
static bool piece_matters(struct walk *w, const struct node *n, const struct transfer_piece *p)
{
    const struct loc_set *reg = &w->reg[n->thread];
    if (p->look)
        return true;
    for (unsigned k = 0; k < p->words; k++)
        if (reg->bits[p->word[k].at] & p->word[k].bits)
            return true;
    if (!p->saves)
        return p->writes && w->memory.live;
    const struct code_insn *ci = &n->b->insn[p->first];
    gaddr addr = code_address(&n->b->access[ci->access_at], n->values);
    return slice_walk_saved(w, n->frame, addr) || wanted_any(&w->memory, addr, 8);
}

/* A step of which all was executed and nothing is asked from outside. */
static int do_block(struct walk *w, struct node *n, const struct transfer_block *x, bool by_control,
                    const struct attached *a, struct err *err)
{
    uint64_t taken = 0;
    for (unsigned k = x->pieces; k-- > 0;) {
        struct transfer_piece *p = &x->piece[k];
        bool last = p->end == n->b->insns, take = last && by_control;
        if (p->simple) {
            if (!transfer_run(w->transfer, x, p, take, n->values, &w->reg[n->thread], &w->memory,
                              &taken))
                return err_set(err, "no memory");
            continue;
        }
        if (!take && !piece_matters(w, n, p))
            continue;
        at_insn(n, p->first, a, last);
        if (slice_walk_insn(w, n, take, err))
            return -1;
    }
    return taken ? slice_walk_put(w, x, n->frame, n->step, taken, err) : 0;
}

/* A step whose instructions are looked at one by one. */
static int do_insns(struct walk *w, struct node *n, bool by_control, const struct attached *a,
                    struct err *err)
{
    const struct trace_step *s = n->step;
    uint64_t number = w->chunk.first_insn + s->insn_at;
    for (unsigned i = s->insns; i-- > 0;) {
        bool last = i == s->insns - 1u;
        if (number + i < w->o->first)
            return 0;
        want_more(w, number + i + 1);
        at_insn(n, i, a, last && s->insns == n->b->insns);
        n->criterion = is_criterion(w, number + i);
        if (slice_walk_insn(w, n, n->criterion || (last && by_control), err))
            return -1;
    }
    want_more(w, number);
    return 0;
}

static int do_step(struct walk *w, uint32_t at, const struct attached *a, struct err *err)
{
    const struct trace_step *s = &w->chunk.step[at];
    const struct code_block *b = code_block(w->s->code, s->block);
    const struct place *p = &w->place[at];
    struct transfer_block *x = block_of(w, b, p->frame->entry, err);
    if (!x)
        return -1;
    struct node n = {.step = s,
                     .b = b,
                     .x = x,
                     .values = w->chunk.value + s->value_at,
                     .frame = p->frame,
                     .thread = s->thread,
                     .flags = x->flags};
    uint64_t number = w->chunk.first_insn + s->insn_at;
    bool whole = s->insns == b->insns && s->insns;
    bool by_control = whole && a->wanted && code_last(b)->kind == INSN_SYSCALL;
    if (whole && (w->edges & SLICE_CONTROL)) {
        by_control |= control_maker(w->control, number + s->insns - 1u);
        by_control |= waits_for_branch(w, x, p->frame, p->next);
    }
    bool asked = w->wants && w->want[0]->at >= number;
    int bad = 0;
    if (!whole || asked || number < w->o->first)
        bad = do_insns(w, &n, by_control, a, err);
    else if (by_control || x->look || (x->saves && w->ghosts_waiting) ||
             transfer_matters(x, &w->reg[n.thread], &w->memory, n.values))
        bad = do_block(w, &n, x, by_control, a, err);
    return bad ? -1 : w->ok ? 0 : err_set(err, "no memory");
}

/* A note, before the steps that come before it. */
static void do_note(struct walk *w, uint32_t thread, const struct flow_note *n, uint64_t insn,
                    struct attached *x)
{
    switch (n->kind) {
    case FLOW_CALL:
        x->call = (const struct flow_call *)n;
        if (access_is_sigreturn(x->call))
            slice_walk_sigreturn(w, thread, x->call, insn);
        break;
    case FLOW_ACCESS:
        if (x->odds < PLAN_INSNS)
            x->odd[x->odds++] = (const struct flow_access *)n;
        break;
    case FLOW_SIGNAL:
        slice_walk_signal(w, thread, (const struct flow_signal *)n);
        break;
    case FLOW_BEGIN:
        x->wanted |= slice_walk_begin(w, (const struct flow_begin *)n);
        break;
    case FLOW_DID:
        x->wanted |= slice_walk_did(w, thread, (const struct flow_did *)n);
        break;
    default:
        break;
    }
}

static int walk_back(struct walk *w, struct attached *x, struct err *err)
{
    struct trace_walk at;
    trace_walk_end(&at, w->s->trace, &w->chunk, w->scan->thread);
    while (trace_walk_prev(&at)) {
        if (at.note) {
            do_note(w, at.thread, at.note, at.insns, x);
            continue;
        }
        if (w->o->most && w->out->count >= w->o->most)
            break;
        if (do_step(w, trace_walk_steps(&at), x, err))
            return -1;
        x->call = NULL;
        x->odds = 0;
        x->wanted = false;
    }
    return w->ok ? 0 : err_set(err, "no memory");
}

static int walk_chunk(struct walk *w, uint32_t number, struct attached *x, struct err *err)
{
    w->scan = &w->s->scan.chunk[number];
    if (trace_read(w->s->trace, number, &w->chunk, err) || scan_unpack(w->scan, &w->lists, err))
        return -1;
    w->out->figures.chunks++;
    memset(w->place, 0, sizeof *w->place * w->chunk.steps);
    int bad = follow(w, err) || walk_back(w, x, err) ? -1 : 0;
    for (uint32_t i = 0; i < w->chunk.steps; i++)
        frame_unref(w->place[i].frame);
    return bad;
}

/* Where the threads go on that execute something in the chunk, which is not read. */
static void pass_over(struct walk *w, uint32_t number)
{
    const struct gist *g = &w->s->scan.chunk[number].gist;
    w->out->passed[number] = true;
    for (uint32_t i = 0; i < g->threads; i++) {
        const struct gist_thread *t = &g->thread[i];
        w->carry[t->thread] = t->carry ? code_block(w->s->code, t->carry - 1)->pc : 0;
    }
}

/* ---- all of it ---- */

static int by_place(const void *a, const void *b)
{
    const struct slice_want *const *x = a, *const *y = b;
    if ((*x)->at != (*y)->at)
        return (*x)->at > (*y)->at ? -1 : 1;
    /* An instruction comes before what is wanted before it. */
    return ((*y)->kind == SLICE_USES) - ((*x)->kind == SLICE_USES);
}

static bool anything_wanted(const struct walk *w)
{
    if (w->wants || w->memory.live || w->ghosts_waiting || w->state)
        return true;
    for (uint32_t t = 0; t < w->threads; t++)
        if (loc_set_next(&w->reg[t], 0).count)
            return true;
    return w->edges & SLICE_CONTROL;
}

/* Tells how far the walk is, which is before instruction `behind`. Has the user had enough? */
static bool has_enough(const struct trace_index *s, uint64_t behind)
{
    const struct scan_progress *p = &s->progress;
    uint64_t total = trace_insns(s->trace);
    return p->tell && p->tell(p->arg, total - behind, total);
}

static int note_before(void *arg, gaddr addr, uint64_t bytes)
{
    struct slice_figures *f = arg;
    if (f->befores < SLICE_BEFORE)
        f->before[f->befores] = (struct slice_before){addr, bytes};
    f->befores++;
    return 0;
}

int slice_walk(struct trace_index *s, struct slice *out, const struct slice_want *want,
               size_t wants, const struct slice_options *o, struct err *err)
{
    struct walk w = {.s = s,
                     .out = out,
                     .o = o,
                     .edges = o->edges ? o->edges : SLICE_ALL,
                     .threads = trace_threads(s->trace),
                     .ok = true};
    const struct slice_want **sorted = malloc(sizeof *sorted * (wants + 1));
    int bad = -1;
    w.place = malloc(sizeof *w.place * TRACE_STEPS);
    w.control = control_new(s->cfg);
    w.reg = calloc(w.threads + 1, sizeof *w.reg);
    w.carry = calloc(w.threads + 1, sizeof *w.carry);
    if (!sorted || !w.place || !w.control || !w.reg || !w.carry || table_reserve_pair(&w.ghost)) {
        err_set(err, "no memory");
        goto done;
    }
    if (prune_init(&w.prune, o, err))
        goto done;
    struct transfer_options how = {.code = s->code,
                                   .addresses = w.edges & SLICE_ADDRESS,
                                   .keep_saves = o->keep_saves,
                                   .nothing_simple = w.prune.any,
                                   .most_bytes = o->remember,
                                   .constant = slice_walk_constant,
                                   .ctx = &w};
    if (!(w.transfer = transfer_new(&how))) {
        err_set(err, "no memory");
        goto done;
    }
    for (size_t i = 0; i < wants; i++)
        sorted[i] = &want[i];
    qsort(sorted, wants, sizeof *sorted, by_place);
    w.want = sorted;
    w.wants = wants;
    struct attached x = {0};
    want_more(&w, trace_insns(s->trace));
    for (uint32_t i = trace_chunks(s->trace); i-- > 0;) {
        uint64_t behind = trace_chunk_first(s->trace, i + 1);
        if (!anything_wanted(&w) || behind <= o->first)
            break;
        out->figures.stopped = has_enough(s, behind);
        if (out->figures.stopped || (o->most && out->count >= o->most) || i < s->scan.first) {
            out->figures.from = behind;
            break;
        }
        if (!x.call && !x.odds && !x.wanted && slice_walk_passes(&w, i))
            pass_over(&w, i);
        else if (walk_chunk(&w, i, &x, err))
            goto done;
    }
    if (w.memory.live && !out->figures.from && w.ok)
        w.ok = wanted_each(&w.memory, note_before, &out->figures);
    bad = w.ok ? 0 : err_set(err, "no memory");
done:
    trace_chunk_deinit(&w.chunk);
    scan_lists_deinit(&w.lists);
    control_free(w.control);
    wanted_deinit(&w.memory);
    state_free(w.state);
    prune_deinit(&w.prune);
    free(sorted);
    free(w.place);
    free(w.reg);
    free(w.carry);
    transfer_free(w.transfer);
    free(w.ghost.slot);
    return bad;
}
