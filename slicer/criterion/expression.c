/* expression.c - criteria that are C expressions: wants of what the expression reads.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name's place mostly follows from the frame alone. What needs values (pointers, indices, places
 * in registers) is read a second time, with registers and memory of a replay that has come there;
 * and what needs values that arguments had, a third time. Registers of a frame that is not the
 * innermost are those of the moment in which it was left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/criterion/criterion.h"
#include "source/expression.h"
#include "study/past.h"
#include "trace/forward.h"
#include "trace/pass.h"

enum { DWARF_REGISTERS = 17 };

static size_t read_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    return past_read(arg, addr, out, bytes);
}

/* A replay that has come to the place, and registers there. */
struct visit {
    struct past *past;
    struct program_registers registers;
    uint64_t reg[DWARF_REGISTERS], entry[DWARF_REGISTERS];
    bool entered; /* `entry` is known */
};

static void number_registers(const struct program_registers *r, uint64_t *out)
{
    for (unsigned i = 0, first, most; i < 16 && registers_dwarf(i, &first, &most); i++)
        registers_value(r, first, LOC_GPR_BYTES, &out[i]);
}

/* The position of an instruction. 1: it is none of the trace. */
static int position_of(struct study *s, uint64_t insn, struct position *out, struct err *err)
{
    struct pass pass;
    struct pass_step st;
    int more = 1;
    if (insn == UINT64_MAX)
        return 1;
    if (pass_init(&pass, s->trace, err))
        return -1;
    if (pass_skip(&pass, s->index, insn, err))
        more = -1;
    while (more == 1 && (more = pass_next(&pass, &st, err)) == 1)
        if (st.insn <= insn && insn - st.insn < st.step->insns) {
            *out = (struct position){.thread = trace_thread(s->trace, st.step->thread),
                                     .count = st.count,
                                     .pc = st.block->insn[insn - st.insn].in.pc};
            more = 2;
        }
    pass_deinit(&pass);
    return more < 0 ? -1 : more != 2;
}

/* Goes on to an instruction. */
static int go_to(struct study *s, struct visit *v, uint64_t insn, const struct position *at,
                 struct err *err)
{
    if (v->past)
        return past_go(v->past, insn, at, err);
    v->past = study_past(s, insn, at, err);
    return v->past ? 0 : -1;
}

/* Stops at an instruction on the way, for the registers there. 1: it is none of the trace. */
static int stop_at(struct study *s, struct visit *v, uint64_t insn, struct err *err)
{
    struct position at;
    int none = position_of(s, insn, &at, err);
    if (none)
        return none;
    return go_to(s, v, insn, &at, err) || past_registers(v->past, at.thread, &v->registers, err)
               ? -1
               : 0;
}

/* The general registers that a signal's frame has. */
static int take_context(struct visit *v, gaddr context, struct err *err)
{
    uint64_t saved[sizeof forward_context + 1]; /* the last is rsp */
    if (past_read(v->past, context, saved, sizeof saved) != sizeof saved)
        return err_set(err, "the signal's frame is gone");
    for (size_t i = 0; i < sizeof forward_context; i++)
        v->registers.gpr[forward_context[i]] = saved[i];
    v->registers.gpr[RSP] = saved[sizeof forward_context];
    return 0;
}

/* With `entry`, stops where the frame begins on the way; and where it was left. */
static int go(struct study *s, const struct place *p, struct visit *v, bool entry, struct err *err)
{
    uint64_t came = UINT64_MAX;
    int none = entry ? stop_at(s, v, p->entry, err) : 1;
    if (none < 0)
        return -1;
    if (!none) {
        number_registers(&v->registers, v->entry);
        v->entered = true;
        came = p->entry;
    }
    if (p->call != UINT64_MAX && p->call != came) {
        if (stop_at(s, v, p->call, err))
            return -1;
        came = p->call;
    }
    if (p->at != came && go_to(s, v, p->at, &p->position, err))
        return -1;
    if (p->call == UINT64_MAX &&
        past_registers(v->past, trace_thread(s->trace, p->thread), &v->registers, err))
        return -1;
    if (p->context && take_context(v, p->context, err))
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
                                         .pc = p->pc,
                                         .frame = {.cfa = p->cfa,
                                                   .scope = p->scope,
                                                   .inlined = p->inlined,
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

int criterion_reads(struct study *s, const struct place *p, const char *text,
                    struct expression *out, struct err *err)
{
    struct expression_scene scene = {
        .source = s->source,
        .pc = p->pc,
        .frame = {.cfa = p->cfa, .scope = p->scope, .inlined = p->inlined}};
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

/* Registers that a signal has saved are wanted where they are saved. */
static int want_saved(struct criterion *out, const struct place *p, struct slice_want want,
                      struct err *err)
{
    const uint64_t reg = (want.addr - LOC_GPR) / LOC_GPR_BYTES;
    const uint64_t part = (want.addr - LOC_GPR) % LOC_GPR_BYTES;
    size_t i = 0;
    while (i < sizeof forward_context && forward_context[i] != reg)
        i++;
    if (want.addr >= LOC_VEC || (i == sizeof forward_context && reg != RSP))
        return err_set_code(err, SOURCE_UNKNOWN_PLACE,
                            "it is in a register that is not known of a frame which a signal has "
                            "interrupted; go there first");
    want.kind = SLICE_MEMORY;
    want.addr = p->context + 8 * i + part;
    return criterion_want(out, want, err);
}

int criterion_register(struct criterion *out, const struct place *p, uint64_t first, uint64_t count,
                       struct err *err)
{
    struct slice_want want = {.kind = SLICE_REGISTER,
                              .at = p->call != UINT64_MAX ? p->call : p->at,
                              .thread = p->thread,
                              .addr = first,
                              .bytes = count};
    return p->context ? want_saved(out, p, want, err) : criterion_want(out, want, err);
}

/* What only says where the value is does not count if values are wanted, and if there is more. */
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
        if (!r->memory && !r->at_entry) {
            if (criterion_register(out, p, r->addr, r->bytes, err))
                return -1;
            continue;
        }
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
    bool thin = o->values || (o->slice.edges && !(o->slice.edges & SLICE_ADDRESS));
    struct expression *e = malloc(sizeof *e);
    struct place begin = *p;
    struct err before;
    if (!e)
        return err_set(err, "no memory");
    int bad = criterion_reads(s, p, text, e, err);
    if (!bad) {
        bad = add_wants(out, p, e, thin, err);
    } else if (p->insns && (err->code == SOURCE_OPTIMIZED || err->code == SOURCE_NO_VARIABLE)) {
        begin.at = p->insn[0];
        begin.position = p->first;
        begin.pc = p->first.pc;
        bad = criterion_reads(s, &begin, text, e, &before) ||
              add_wants(out, &begin, e, thin, &before);
        if (!bad) {
            out->position = begin.position;
            snprintf(out->note, sizeof out->note, "before the line: it has no place behind it");
        }
    }
    free(e);
    return bad ? -1 : 0;
}
