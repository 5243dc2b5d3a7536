/* place.c - points of a trace, by what people call them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each question is a pass over the trace, over as little of it as will do: what is asked for last
 * is looked for in ever more of the end. What a block has to do with a line is two masks, one
 * bit for each instruction: where the breakpoint is, and what is of the line, inlined calls in it
 * included.
 */
#include "slicer/criterion/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "trace/number.h"
#include "trace/pass.h"

_Static_assert(PLAN_INSNS <= 64, "a bit for each instruction");

struct masks {
    uint64_t stop, line;
    bool known;
};

struct search {
    struct study *study;
    const struct place_options *options;
    struct source_breaks breaks;
    const char *file;   /* of the line */
    uint32_t line;      /* 0: an address */
    gaddr start, last;  /* or two, if last is set */
    struct masks *mask; /* by block */
    uint64_t hits;
    bool found, over;
    uint64_t serial; /* of the instance's frame */
    size_t room;
    struct place *out;
};

void place_deinit(struct place *p)
{
    free(p->insn);
    *p = (struct place){0};
}

gaddr place_cfa(const struct frame *f)
{
    return f->kind == FRAME_ROOT ? 0 : f->slot + 8;
}

void place_set_frame(struct place *out, const struct frame *f)
{
    out->call = UINT64_MAX;
    out->context = 0;
    out->cfa = place_cfa(f);
    out->entry = f->kind == FRAME_CALL && f->maker != FRAME_NO_MAKER ? f->maker + 1 : UINT64_MAX;
}

static struct position position_of(const struct study *s, const struct pass_step *st, gaddr pc)
{
    return (struct position){
        .thread = trace_thread(s->trace, st->step->thread), .count = st->count, .pc = pc};
}

/* ---- lines ---- */

static bool same_file(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is pc of the line, or of something that was inlined there? */
static bool of_line(struct search *q, gaddr pc)
{
    enum { DEEP = 32 };
    struct source_line l;
    struct source_call call[DEEP];
    if (q->last)
        return pc >= q->start && pc <= q->last;
    if (!source_line(q->study->source, pc, &l))
        return false;
    if (l.line == q->line && same_file(l.file, q->file))
        return true;
    if (!l.inlined)
        return false;
    size_t n = source_calls(q->study->source, pc, call, DEEP);
    for (size_t i = 0; i < n && i < DEEP; i++)
        if (call[i].line == q->line && same_file(call[i].file, q->file))
            return true;
    return false;
}

/* Bit 0: a breakpoint of the line is at pc, bit 1: what is there counts to the line. That of
 * optimised code may be the first instruction of another line. */
static unsigned stop_at(struct search *q, gaddr pc)
{
    for (size_t k = 0; k < q->breaks.count; k++)
        if (q->breaks.at[k].pc == pc)
            return q->line && q->breaks.at[k].line == q->line ? 1 : 3;
    return 0;
}

static const struct masks *masks_of(struct search *q, const struct code_block *b)
{
    struct masks *m = &q->mask[b->number];
    if (m->known)
        return m;
    m->known = true;
    for (uint32_t i = 0; i < b->insns; i++) {
        unsigned stop = stop_at(q, b->insn[i].in.pc);
        m->stop |= (uint64_t)(stop & 1) << i;
        if (stop & 2 || of_line(q, b->insn[i].in.pc))
            m->line |= 1ull << i;
    }
    return m;
}

static int add_insn(struct search *q, uint64_t insn, struct err *err)
{
    return array_push(&q->out->insn, &q->out->insns, &q->room, insn) ? err_set(err, "no memory")
                                                                     : 0;
}

static bool wanted_hit(const struct search *q, uint32_t thread)
{
    const struct place_options *o = q->options;
    if (o->thread && trace_thread(q->study->trace, thread) != o->thread)
        return false;
    return !o->instance || q->hits + 1 == o->instance;
}

/* The instance begins at instruction i of the step. */
static void begin(struct search *q, const struct pass_step *st, uint32_t i)
{
    q->found = true;
    q->over = false;
    q->serial = st->frame->serial;
    q->out->insns = 0;
    q->out->thread = st->step->thread;
    q->out->line_pc = st->block->insn[i].in.pc;
    q->out->first = position_of(q->study, st, q->out->line_pc);
    place_set_frame(q->out, st->frame);
}

/* Is pc in another function than the line, which a tail call has led to in the same frame? */
static bool is_elsewhere(struct search *q, gaddr pc)
{
    struct source_line here, line;
    source_line(q->study->source, pc, &here);
    source_line(q->study->source, q->out->line_pc, &line);
    return here.entry != line.entry;
}

/* Goes on with the instance, from instruction i of a step in its frame. */
static int follow(struct search *q, const struct pass_step *st, const struct masks *m, uint32_t i,
                  struct err *err)
{
    for (; i < st->step->insns; i++) {
        bool of = m->line >> i & 1;
        q->over = !of || (!q->line && !q->last); /* without a line: right there */
        if (!of && is_elsewhere(q, st->block->insn[i].in.pc))
            return 0; /* as at the frame's end */
        q->out->at = st->insn + i;
        q->out->position = position_of(q->study, st, st->block->insn[i].in.pc);
        if (of && add_insn(q, st->insn + i, err))
            return -1;
        if (q->over)
            return 0;
    }
    return 0;
}

static int look(struct search *q, const struct pass_step *st, struct err *err)
{
    const struct masks *m = masks_of(q, st->block);
    bool same = q->found && !q->over && st->step->thread == q->out->thread;
    uint32_t from = 0;
    uint64_t executed = st->step->insns >= 64 ? ~0ull : (1ull << st->step->insns) - 1;
    for (uint64_t stops = m->stop & executed; stops; stops &= stops - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(stops);
        bool mine = !q->options->thread ||
                    trace_thread(q->study->trace, st->step->thread) == q->options->thread;
        if (wanted_hit(q, st->step->thread)) {
            begin(q, st, i);
            from = i;
            same = true;
        }
        q->hits += mine;
    }
    if (!same)
        return 0;
    if (st->frame->serial == q->serial)
        return follow(q, st, m, from, err);
    if (st->frame->serial < q->serial)
        q->over = true; /* the frame's end: what was executed there last is where it ends */
    return 0;
}

const char *place_since(const struct study *s)
{
    return study_replaced(s) ? " since the program replaced itself (exec); what it did before is "
                               "not looked at"
                             : "";
}

static int nothing(struct search *q, const char *where, struct err *err)
{
    char thread[32] = "";
    const char *since = place_since(q->study);
    if (q->options->thread)
        snprintf(thread, sizeof thread, " by thread %u", q->options->thread);
    if (!q->hits)
        return err_set_code(err, PLACE_NEVER, "%s was never reached%s%s", where, thread, since);
    return err_set_code(err, PLACE_NEVER,
                        "%s was reached %llu time%s%s: there is no instance %llu%s", where,
                        (unsigned long long)q->hits, q->hits == 1 ? "" : "s", thread,
                        (unsigned long long)q->options->instance, since);
}

/* GDB takes what the compiler has put before a function, as unlikely to be executed, for its
 * prologue, and skips it with all the rest. Where that leaves no place of the line, it is where the
 * line is. */
static void undo_skips(struct search *q, unsigned long line)
{
    struct source_line l;
    gaddr row, pc, end;
    for (size_t i = 0; i < q->breaks.count; i++) {
        struct source_break *at = &q->breaks.at[i];
        if (!source_function(q->study->source, at->row, &row, &end) ||
            !source_function(q->study->source, at->pc, &pc, &end) || row == pc)
            continue;
        source_line(q->study->source, at->row, &l);
        *at = (struct source_break){at->row, at->row, l.file, l.function, (uint32_t)line};
    }
}

static bool has_line(const struct search *q, unsigned long line)
{
    for (size_t i = 0; i < q->breaks.count; i++)
        if (q->breaks.at[i].line == line)
            return true;
    return false;
}

/* What the line is. GDB stops at the next line with code; here that would answer another
 * question. */
static int set_line(struct search *q, const char *where, struct err *err)
{
    const char *colon = strrchr(where, ':');
    unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (where[0] == '*')
        return 0;
    if (line && !has_line(q, line))
        undo_skips(q, line);
    for (size_t i = 0; i < q->breaks.count; i++)
        if (!line || q->breaks.at[i].line == line) {
            q->file = q->breaks.at[i].file;
            q->line = q->breaks.at[i].line;
            return 0;
        }
    return err_set_code(err, SOURCE_NO_LINE, "%s has no code; the next line with code is %u", where,
                        q->breaks.at[0].line);
}

/* The pass goes on at the beginning of the last chunks, more of them each time; false: it has done
 * so with all of them. *from is at first the number of chunks. */
static bool further_back(struct study *s, struct pass *p, uint32_t *from, int *bad, struct err *err)
{
    uint32_t all = trace_chunks(s->trace), last = all - *from;
    if (!*from || *bad)
        return false;
    *from = all - (2 * last + 1 < all ? 2 * last + 1 : all);
    *bad = pass_seek(p, s->index, *from, err);
    return !*bad;
}

static int search_from_here(struct search *q, struct pass *pass, struct err *err)
{
    struct pass_step st;
    int more;
    while ((more = pass_next(pass, &st, err)) == 1)
        if (look(q, &st, err))
            return -1;
    return more;
}

static int search_line(struct search *q, struct err *err)
{
    struct pass pass;
    uint32_t from = trace_chunks(q->study->trace);
    int bad = 0;
    if (pass_init(&pass, q->study->trace, err))
        return -1;
    if (q->options->instance)
        bad = search_from_here(q, &pass, err);
    else
        while (!q->found && further_back(q->study, &pass, &from, &bad, err)) {
            q->hits = 0;
            bad = search_from_here(q, &pass, err);
        }
    pass_deinit(&pass);
    return bad;
}

int place_line(struct study *s, const char *where, const struct place_options *o, struct place *out,
               struct err *err)
{
    struct search q = {.study = s, .options = o, .out = out};
    int bad = -1;
    *out = (struct place){0};
    if (source_breaks_at(s->source, where, &q.breaks, err) || set_line(&q, where, err))
        goto done;
    if (where[0] == '*' && o->last) {
        q.start = q.breaks.at[0].pc;
        q.last = o->last;
    }
    if (!(q.mask = calloc(code_count(trace_code(s->trace)) + 1, sizeof *q.mask))) {
        err_set(err, "no memory");
        goto done;
    }
    if (search_line(&q, err))
        goto done;
    if (!q.found) {
        nothing(&q, where, err);
        goto done;
    }
    if (!q.over) /* it is not over at all: right behind what was executed there last */
        out->at++;
    out->pc = out->position.pc;
    out->scope = out->line_pc;
    out->inlined = q.line ? source_line_depth(s->source, out->scope, q.file, q.line) : 0;
    bad = 0;
done:
    source_breaks_deinit(&q.breaks);
    free(q.mask);
    if (bad)
        place_deinit(out);
    return bad;
}

/* ---- positions ---- */

/* The instruction at `pc` of a step, executed or cut off there; -1: none. */
static int index_of(const struct pass_step *st, gaddr pc)
{
    for (uint32_t i = 0; i <= st->step->insns && i < st->block->insns; i++)
        if (st->block->insn[i].in.pc == pc)
            return (int)i;
    return -1;
}

/* Right behind a step: where a signal is met, whose handler is executed next. */
static bool is_behind(const struct pass_step *st, gaddr pc)
{
    return st->step->insns == st->block->insns && st->block->end == pc;
}

static void set_position(struct place *out, const struct pass_step *st, uint32_t i)
{
    out->thread = st->step->thread;
    out->at = st->insn + i;
    place_set_frame(out, st->frame);
}

int place_position(struct study *s, const struct position *at, struct place *out, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    char token[POSITION_TEXT];
    uint32_t chunk;
    bool behind = false;
    int more, i = -1;
    *out = (struct place){.position = *at, .line_pc = at->pc, .pc = at->pc, .scope = at->pc};
    if (position_check(at, err) || number_chunk(s->trace, at, &chunk, err) ||
        pass_init(&pass, s->trace, err))
        return -1;
    if (chunk && pass_seek(&pass, s->index, chunk, err)) {
        pass_deinit(&pass);
        return -1;
    }
    while ((more = pass_next(&pass, &st, err)) == 1) {
        if (trace_thread(s->trace, st.step->thread) != at->thread || st.count < at->count)
            continue;
        if (st.count > at->count) {
            more = 0;
            break;
        }
        if ((i = index_of(&st, at->pc)) >= 0) {
            set_position(out, &st, (uint32_t)i);
            break;
        }
        if (is_behind(&st, at->pc)) {
            set_position(out, &st, st.step->insns);
            behind = true;
        }
    }
    pass_deinit(&pass);
    if (more || i >= 0 || behind)
        return more < 0 ? -1 : 0;
    position_format(at, token);
    return err_set_code(err, PLACE_NEVER, "%s is not in the trace%s", token, place_since(s));
}

/* ---- the end ---- */

/* The thread by its number, or the one of the last step. */
static int pick_thread(struct study *s, uint32_t number, const struct pass *p, uint32_t *out,
                       struct err *err)
{
    *out = number ? trace_thread_find(s->trace, number) : p->at.thread;
    if (number && trace_thread(s->trace, *out) != number)
        return err_set_code(err, PLACE_NEVER, "there is no thread %u in the trace%s", number,
                            place_since(s));
    return 0;
}

/* What is known of a thread when its last step is over. */
struct ending {
    const struct code_block *block;
    uint32_t insns;
    uint64_t first, count, executed; /* executed: plus one */
};

static struct ending *run_to_end(struct study *s, struct pass *pass, struct err *err)
{
    struct pass_step st;
    int more;
    struct ending *list = calloc(trace_threads(s->trace) + 1, sizeof *list);
    if (!list) {
        err_set(err, "no memory");
        return NULL;
    }
    while ((more = pass_next(pass, &st, err)) == 1) {
        struct ending *e = &list[st.step->thread];
        uint64_t executed = st.step->insns ? st.insn + st.step->insns : e->executed;
        *e = (struct ending){st.block, st.step->insns, st.insn, st.count, executed};
    }
    if (!more)
        return list;
    free(list);
    return NULL;
}

static int list_calls(struct place_end *out, const struct frame *top, struct err *err)
{
    size_t n = 0;
    for (const struct frame *f = top; f; f = f->parent)
        n++;
    out->call = malloc(sizeof *out->call * (n + 1));
    if (!out->call)
        return err_set(err, "no memory");
    for (const struct frame *f = top; f; f = f->parent)
        out->call[out->calls++] = (struct place_call){f->entry, f->maker};
    return 0;
}

static int describe_end(struct study *s, uint32_t thread, const struct ending *e,
                        const struct frame *top, struct place_end *out, struct err *err)
{
    if (!e->block || !top)
        return err_set_code(err, PLACE_NEVER, "thread %u did nothing in the trace",
                            trace_thread(s->trace, thread));
    uint32_t i = e->insns < e->block->insns ? e->insns : e->insns - 1;
    gaddr pc = e->block->insn[i].in.pc;
    out->block = e->block;
    out->insns = e->insns;
    out->first = e->first;
    out->executed = e->executed - 1;
    out->place = (struct place){
        .thread = thread, .at = trace_insns(s->trace), .line_pc = pc, .pc = pc, .scope = pc};
    out->place.position =
        (struct position){.thread = trace_thread(s->trace, thread), .count = e->count, .pc = pc};
    place_set_frame(&out->place, top);
    return list_calls(out, top, err);
}

/* The innermost call that the user's own code made. */
static int find_own(struct study *s, struct place_end *out, struct err *err)
{
    struct source_line l;
    struct study_insn in;
    for (out->own = 0; out->own < out->calls; out->own++) {
        if (out->call[out->own].maker == FRAME_NO_MAKER)
            continue;
        if (study_insn(s, out->call[out->own].maker, &in, err))
            return -1;
        gaddr pc = in.block->insn[in.index].in.pc;
        if (!study_own(s, pc, &l))
            continue;
        if (!study_own(s, out->place.line_pc, &l))
            out->place.line_pc = pc;
        return 0;
    }
    return 0;
}

int place_end(struct study *s, uint32_t thread, struct place_end *out, struct err *err)
{
    struct pass pass;
    struct ending *end = NULL;
    uint32_t t = 0, from = trace_chunks(s->trace);
    int bad = 0;
    *out = (struct place_end){0};
    if (pass_init(&pass, s->trace, err))
        return -1;
    while (!(end && end[t].executed) && further_back(s, &pass, &from, &bad, err)) {
        free(end);
        end = run_to_end(s, &pass, err);
        bad = !end || pick_thread(s, thread, &pass, &t, err);
    }
    static const struct ending nothing_at_all;
    bad =
        bad ||
        describe_end(s, t, end ? &end[t] : &nothing_at_all, pass.frames.thread[t].top, out, err) ||
        find_own(s, out, err);
    free(end);
    pass_deinit(&pass);
    bool again = !bad && out->own == out->calls && s->index->scan.first;
    if (bad || again)
        place_end_deinit(out);
    if (again) /* the user's calls are before what was looked at */
        return trace_index_reach(s->index, 0, err) ? -1 : place_end(s, thread, out, err);
    return bad ? -1 : 0;
}

void place_end_deinit(struct place_end *e)
{
    place_deinit(&e->place);
    free(e->call);
    *e = (struct place_end){0};
}

struct place_end *place_ends(struct study *s, size_t *count, struct err *err)
{
    struct pass pass;
    *count = 0;
    if (pass_init(&pass, s->trace, err))
        return NULL;
    struct place_end *list = calloc(trace_threads(s->trace) + 1, sizeof *list);
    struct ending *end = run_to_end(s, &pass, err);
    int bad = end && list ? 0 : -1;
    if (end && !list)
        err_set(err, "no memory");
    for (uint32_t t = 0; !bad && t < trace_threads(s->trace); t++)
        if (end[t].block && pass.frames.thread[t].top)
            bad = describe_end(s, t, &end[t], pass.frames.thread[t].top, &list[(*count)++], err);
    free(end);
    pass_deinit(&pass);
    for (size_t i = 0; !bad && i < *count; i++)
        bad = find_own(s, &list[i], err);
    if (!bad)
        return list;
    place_ends_free(list, *count);
    return NULL;
}

void place_ends_free(struct place_end *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++)
        place_end_deinit(&list[i]);
    free(list);
}
