/* expression.c - criteria that are C expressions: wants of what the expression reads.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name's place mostly follows from the frame alone. What needs values (pointers, indices, places
 * in registers) is read a second time, with registers and memory of a replay that has come there;
 * and what needs values that arguments had, a third time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/criterion/criterion.h"
#include "source/expression.h"
#include "study/past.h"
#include "trace/pass.h"

enum { DWARF_REGISTERS = 17 };

static size_t read_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

/* A replay that has come to the place, and registers there. */
struct visit {
    struct past *past;
    struct replay_registers registers;
    uint64_t reg[DWARF_REGISTERS], entry[DWARF_REGISTERS];
    bool entered; /* `entry` is known */
};

static void number_registers(const struct replay_registers *r, uint64_t *out)
{
    for (unsigned i = 0, first, most; i < 16 && registers_dwarf(i, &first, &most); i++)
        registers_value(r, first, LOC_GPR_BYTES, &out[i]);
}

/* Where the frame begins, as a position. 1: it does not. */
static int position_of_entry(struct study *s, const struct place *p, struct position *out,
                             struct err *err)
{
    struct pass pass;
    struct pass_step st;
    int more = 1;
    if (p->entry == UINT64_MAX)
        return 1;
    if (pass_init(&pass, s->trace, err))
        return -1;
    if (pass_skip(&pass, s->index, p->entry, err))
        more = -1;
    while (more == 1 && (more = pass_next(&pass, &st, err)) == 1)
        if (st.insn <= p->entry && p->entry - st.insn < st.step->insns) {
            *out = (struct position){.thread = p->position.thread,
                                     .count = st.count,
                                     .pc = st.block->insn[p->entry - st.insn].in.pc};
            more = 2;
        }
    pass_deinit(&pass);
    return more < 0 ? -1 : more != 2;
}

/* With `entry`, stops where the frame begins on the way. */
static int go(struct study *s, const struct place *p, struct visit *v, bool entry, struct err *err)
{
    struct position at;
    int none = entry ? position_of_entry(s, p, &at, err) : 1;
    if (none < 0)
        return -1;
    v->past = none ? study_past(s, p->at, &p->position, err) : study_past(s, p->entry, &at, err);
    if (!v->past)
        return -1;
    if (!none) {
        if (past_registers(v->past, at.thread, &v->registers, err))
            return -1;
        number_registers(&v->registers, v->entry);
        v->entered = true;
        if (p->at != p->entry && past_go(v->past, p->at, &p->position, err))
            return -1;
    }
    if (past_registers(v->past, p->position.thread, &v->registers, err))
        return -1;
    number_registers(&v->registers, v->reg);
    return 0;
}

/* Reads it with all that is known there; with `entry`, also when the function was entered. */
static int read_there(struct study *s, const struct place *p, const char *text, bool entry,
                      struct expression *out, struct err *err)
{
    struct visit *v = calloc(1, sizeof *v);
    if (!v)
        return err_set(err, "no memory");
    int bad = go(s, p, v, entry, err);
    if (!bad) {
        struct expression_scene scene = {.source = s->source,
                                         .pc = p->position.pc,
                                         .frame = {.cfa = p->cfa,
                                                   .fs_base = v->registers.fs_base,
                                                   .reg = v->reg,
                                                   .entry = v->entered ? v->entry : NULL,
                                                   .memory = read_memory,
                                                   .arg = v->past},
                                         .registers = &v->registers};
        bad = expression_read(&scene, text, out, err);
    }
    past_free(v->past);
    free(v);
    return bad ? -1 : 0;
}

static int read_at(struct study *s, const struct place *p, const char *text, struct expression *out,
                   struct err *err)
{
    struct expression_scene scene = {
        .source = s->source, .pc = p->position.pc, .frame = {.cfa = p->cfa}};
    int bad = expression_read(&scene, text, out, err);
    if (!bad || err->code != SOURCE_UNKNOWN_PLACE)
        return bad;
    bad = read_there(s, p, text, false, out, err);
    if (bad && (err->code == SOURCE_OPTIMIZED || err->code == SOURCE_UNKNOWN_PLACE))
        bad = read_there(s, p, text, true, out, err);
    if (bad && err->code == SOURCE_UNKNOWN_PLACE)
        err_set_code(err, err->code, "%s; where it is, `0xADDRESS BYTES` is its memory", err->msg);
    return bad;
}

/* In a thin slice, what only says where the value is does not count, if there is more. */
static int add_wants(struct criterion *out, const struct place *p, const struct expression *e,
                     bool thin, struct err *err)
{
    bool values = false;
    for (size_t i = 0; i < e->reads; i++)
        values = values || !e->read[i].address;
    for (size_t i = 0; i < e->reads; i++) {
        const struct expression_read *r = &e->read[i];
        if ((thin && values && r->address) || (r->at_entry && p->entry == UINT64_MAX))
            continue;
        struct slice_want want = {.kind = r->memory ? SLICE_MEMORY : SLICE_REGISTER,
                                  .at = r->at_entry ? p->entry : p->at,
                                  .thread = p->thread,
                                  .addr = r->addr,
                                  .bytes = r->bytes};
        if (criterion_want(out, want, err))
            return -1;
    }
    return 0;
}

/* A variable that is gone when the line is done may have a place where the line begins. */
int criterion_expression(struct study *s, const struct criterion_options *o, struct criterion *out,
                         const struct place *p, const char *text, struct err *err)
{
    bool thin = o->slice.edges && !(o->slice.edges & SLICE_ADDRESS);
    struct expression *e = malloc(sizeof *e);
    struct place begin = *p;
    struct err before;
    if (!e)
        return err_set(err, "no memory");
    int bad = read_at(s, p, text, e, err);
    if (!bad) {
        bad = add_wants(out, p, e, thin, err);
    } else if (p->insns && (err->code == SOURCE_OPTIMIZED || err->code == SOURCE_NO_VARIABLE)) {
        begin.at = p->insn[0];
        begin.position = p->first;
        bad = read_at(s, &begin, text, e, &before) || add_wants(out, &begin, e, thin, &before);
        if (!bad) {
            out->position = begin.position;
            snprintf(out->note, sizeof out->note, "before the line: it has no place behind it");
        }
    }
    free(e);
    return bad ? -1 : 0;
}
