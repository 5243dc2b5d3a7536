/* criterion_expression.c - criteria that are C expressions: wants of what the expression reads.
 *
 * SPDX-License-Identifier: MIT
 *
 * A name's place mostly follows from the frame alone. What needs values (pointers, indices, places
 * in registers) is read a second time, with registers and memory of a replay that has come there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slicer/criterion.h"
#include "slicer/expression.h"

enum { DWARF_REGISTERS = 17 };

static size_t read_memory(void *arg, gaddr addr, void *out, size_t bytes)
{
    return replay_read(arg, addr, out, bytes);
}

/* A replay that has come to the place. At the end of the trace that is where the thread that ran
 * last is: memory is then as everybody left it. */
static struct replay *go_there(struct study *s, const struct place *p, struct err *err)
{
    struct replay_options o = {.verify = false};
    struct position goal = p->position;
    struct replay_stop stop;
    struct place_end end;
    if (p->at == trace_insns(s->trace)) {
        if (place_end(s, 0, &end, err))
            return NULL;
        goal = end.place.position;
        place_end_deinit(&end);
    }
    struct replay *r = replay_new(s->pinball, &o, err);
    if (r && !replay_run(r, &goal, &stop, err))
        return r;
    replay_free(r);
    return NULL;
}

/* Reads it with all that is known there. */
static int read_there(struct study *s, const struct place *p, const char *text,
                      struct expression *out, struct err *err)
{
    uint64_t reg[DWARF_REGISTERS] = {0};
    struct replay_registers *regs = malloc(sizeof *regs);
    struct replay *r = regs ? go_there(s, p, err) : NULL;
    int bad = -1;
    if (!regs)
        err_set(err, "no memory");
    if (r && !replay_registers(r, p->position.thread, regs, err)) {
        for (unsigned i = 0, first, most; i < 16 && registers_dwarf(i, &first, &most); i++)
            registers_value(regs, first, LOC_GPR_BYTES, &reg[i]);
        struct expression_scene scene = {.source = s->source,
                                         .pc = p->position.pc,
                                         .frame = {.cfa = p->cfa,
                                                   .fs_base = regs->fs_base,
                                                   .reg = reg,
                                                   .memory = read_memory,
                                                   .arg = r},
                                         .registers = regs};
        bad = expression_read(&scene, text, out, err);
    }
    replay_free(r);
    free(regs);
    return bad;
}

static int read_at(struct study *s, const struct place *p, const char *text,
                   struct expression *out, struct err *err)
{
    struct expression_scene scene = {
        .source = s->source, .pc = p->position.pc, .frame = {.cfa = p->cfa}};
    int bad = expression_read(&scene, text, out, err);
    if (bad && err->code == SOURCE_UNKNOWN_PLACE)
        bad = read_there(s, p, text, out, err);
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
int criterion_expression(struct study *s, const struct criterion_options *o,
                         struct criterion *out, const struct place *p, const char *text,
                         struct err *err)
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
