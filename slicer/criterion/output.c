/* output.c - the criterion of what the program wrote: the bytes of a line.
 *
 * SPDX-License-Identifier: MIT
 *
 * A replay has found the calls that wrote them (study/output.h). The trace says which memory each
 * of these calls read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/criterion/criterion.h"
#include "slicer/criterion/written.h"
#include "trace/number.h"
#include "trace/pass.h"

struct finder {
    struct study *study;
    const struct position *at;
    struct written *out;
    bool met;  /* the step that ends with the call */
    bool over; /* and its note */
    int (*range)(void *arg, const struct flow_range *r, struct err *err);
    void *arg;
};

/* The vector of a call that gathers is read by it, but was not written by the program's words. */
static bool is_vector(const struct flow_call *c, const struct flow_range *r, size_t ranges)
{
    return ranges > 1 && r->addr == c->arg[1] && r->bytes == c->arg[2] * 16;
}

static int take_call(struct finder *f, const struct flow_call *c, struct err *err)
{
    size_t ranges;
    const struct flow_range *r = trace_ranges(&c->note, &ranges), *first = r;
    f->over = true;
    for (; ranges && f->range; ranges--, r++)
        if (r->how == FLOW_READ && !(r == first && is_vector(c, r, ranges)) &&
            f->range(f->arg, r, err))
            return -1;
    return 0;
}

static int take_note(void *arg, const struct pass *p, struct err *err)
{
    struct finder *f = arg;
    if (!f->met || f->over || p->at.note->kind != FLOW_CALL || p->at.thread != f->out->thread)
        return 0;
    return take_call(f, (const struct flow_call *)p->at.note, err);
}

/* The innermost call that the user's own code made. */
static void find_own(struct study *s, const struct frame *f, struct written *out)
{
    struct source_line l;
    out->maker = FRAME_NO_MAKER;
    for (; f && out->maker == FRAME_NO_MAKER; f = f->parent)
        if (f->maker != FRAME_NO_MAKER && f->maker_pc && study_own(s, f->maker_pc, &l)) {
            out->maker = f->maker;
            out->line_pc = f->maker_pc;
        }
}

/* Is it the step that ends with the call? The position may be right behind the instruction. */
static bool is_it(const struct finder *f, const struct pass_step *st)
{
    const struct insn *last = code_last(st->block);
    return trace_thread(f->study->trace, st->step->thread) == f->at->thread &&
           st->count == f->at->count && last->kind == INSN_SYSCALL &&
           st->step->insns == st->block->insns &&
           (last->pc == f->at->pc || st->block->end == f->at->pc);
}

static int run(struct finder *f, struct pass *pass, struct err *err)
{
    struct pass_step st;
    int more;
    uint32_t thread = trace_thread_find(f->study->trace, f->at->thread);
    pass->note = take_note;
    pass->arg = f;
    while (!f->over && (more = pass_next(pass, &st, err)) == 1) {
        if (f->met || !is_it(f, &st)) {
            if (!f->met && st.step->thread == thread && st.count > f->at->count)
                break; /* it is not here */
            continue;
        }
        f->met = true;
        *f->out = (struct written){
            .insn = st.insn + st.step->insns - 1, .thread = st.step->thread, .line_pc = f->at->pc};
        find_own(f->study, st.frame, f->out);
    }
    return f->over || more >= 0 ? 0 : -1;
}

int written_find(struct study *s, const struct position *at,
                 int (*range)(void *arg, const struct flow_range *r, struct err *err), void *arg,
                 struct written *out, struct err *err)
{
    struct finder f = {.study = s, .at = at, .out = out, .range = range, .arg = arg};
    struct pass pass;
    char token[POSITION_TEXT];
    uint32_t chunk;
    if (position_check(at, err) || number_chunk(s->trace, at, &chunk, err) ||
        pass_init(&pass, s->trace, err))
        return -1;
    int bad = chunk ? pass_seek(&pass, s->index, chunk, err) : 0;
    bad = bad || run(&f, &pass, err);
    pass_deinit(&pass);
    if (bad || f.met)
        return bad ? -1 : 0;
    position_format(at, token);
    return err_set_code(err, PLACE_NEVER, "the call that wrote it, at %s, is not in the trace%s",
                        token, place_since(s));
}

/* ---- a line ---- */

struct bytes {
    struct criterion *out;
    const struct written *by;
    uint64_t skip, left;
};

/* Wants what is left of the piece in this range. */
static int want_range(void *arg, const struct flow_range *r, struct err *err)
{
    struct bytes *b = arg;
    uint64_t skip = b->skip < r->bytes ? b->skip : r->bytes;
    uint64_t n = r->bytes - skip < b->left ? r->bytes - skip : b->left;
    b->skip -= skip;
    b->left -= n;
    return n ? criterion_want(b->out,
                              (struct slice_want){.kind = SLICE_MEMORY,
                                                  .at = b->by->insn,
                                                  .thread = b->by->thread,
                                                  .addr = r->addr + skip,
                                                  .bytes = n},
                              err)
             : 0;
}

int criterion_output(struct study *s, const struct output_line *line, struct criterion *out,
                     struct err *err)
{
    for (size_t i = 0; i < line->pieces; i++) {
        struct written by;
        struct bytes b = {out, &by, line->piece[i].from, line->piece[i].bytes};
        if (written_find(s, &line->piece[i].at, want_range, &b, &by, err))
            return -1;
        out->thread = by.thread;
        out->position = line->piece[i].at;
        out->pc = by.line_pc;
    }
    if (!out->wants)
        return err_set(err, "the trace does not say where what was written came from");
    snprintf(out->what, sizeof out->what, "output `%s`", line->text);
    return 0;
}
