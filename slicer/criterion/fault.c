/* fault.c - the criterion of a fault. SPDX-License-Identifier: MIT */
#include "slicer/criterion/fault.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/past.h"

int criterion_want_span(struct criterion *out, const struct place *p, unsigned first,
                        unsigned count, struct err *err)
{
    return criterion_want(out,
                          (struct slice_want){.kind = SLICE_REGISTER,
                                              .at = p->at,
                                              .thread = p->thread,
                                              .addr = first,
                                              .bytes = count},
                          err);
}

static void add_what(struct criterion *out, const char *text)
{
    size_t n = strlen(out->what);
    snprintf(out->what + n, sizeof out->what - n, "%s%s", n ? ", " : "", text);
}

static int want_address(struct study *s, const struct place_end *e, struct criterion *out,
                        struct err *err)
{
    uint64_t values[PLAN_SLOTS] = {0};
    const struct defuse *d =
        code_defuse(trace_code(s->trace), e->block, e->insns, DEFUSE_STACK_POINTER, values);
    for (unsigned i = 0; i < d->uses; i++) {
        char name[32] = "%";
        if (d->use[i].kind != DEFUSE_ADDRESS)
            continue;
        loc_name(d->use[i], name + 1, sizeof name - 1);
        add_what(out, name);
        if (criterion_want_span(out, &e->place, d->use[i].first, d->use[i].count, err))
            return -1;
    }
    return 0;
}

/* The value of a register at the fault. */
static uint64_t value_of(const struct program_registers *r, ZydisRegister reg)
{
    int n = insn_gpr_number(reg);
    return n < 0 ? 0 : r->gpr[n];
}

/* The address of a memory operand of the instruction. */
static int find_operand(struct study *s, const struct place_end *e, const ZydisDecodedOperand *op,
                        gaddr *addr, struct err *err)
{
    const struct insn *in = &e->block->insn[e->insns].in;
    *addr = in->target;
    if (in->rip_relative)
        return 0;
    struct program_registers *r = malloc(sizeof *r);
    int bad = r ? study_registers(s, &e->place.position, r, err) : err_set(err, "no memory");
    if (!bad)
        *addr = value_of(r, op->mem.base) + value_of(r, op->mem.index) * op->mem.scale +
                (uint64_t)op->mem.disp.value;
    free(r);
    return bad;
}

static int want_memory(struct study *s, const struct place_end *e, const char *what, gaddr addr,
                       unsigned bytes, struct criterion *out, struct err *err)
{
    char name[200];
    struct source_frame frame = {.cfa = e->place.cfa};
    if (!source_variable(s->source, e->block->insn[e->insns].in.pc, &frame, addr, bytes, name,
                         sizeof name))
        snprintf(name, sizeof name, "0x%llx %u", (unsigned long long)addr, bytes);
    snprintf(out->what, sizeof out->what, "%s%.200s", what, name);
    return criterion_want(out,
                          (struct slice_want){.kind = SLICE_MEMORY,
                                              .at = e->place.at,
                                              .thread = e->place.thread,
                                              .addr = addr,
                                              .bytes = bytes},
                          err);
}

static int want_divisor(struct study *s, const struct place_end *e, struct criterion *out,
                        struct err *err)
{
    struct insn_operands ops;
    insn_operands(&e->block->insn[e->insns].in, &ops);
    const ZydisDecodedOperand *op = &ops.op[0];
    unsigned bytes = op->size / 8u;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && insn_gpr_number(op->reg.value) >= 0) {
        unsigned first = loc_gpr((unsigned)insn_gpr_number(op->reg.value));
        snprintf(out->what, sizeof out->what, "divisor %%%s",
                 ZydisRegisterGetString(op->reg.value));
        return criterion_want_span(out, &e->place, first, bytes, err);
    }
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
        return want_address(s, e, out, err);
    gaddr addr;
    if (find_operand(s, e, op, &addr, err))
        return -1;
    return want_memory(s, e, "divisor ", addr, bytes, out, err);
}
/* No code can be there: a transfer to it is what faults. */
static bool is_canonical(uint64_t addr)
{
    return addr >> 47 == 0 || addr >> 47 == 0x1ffff;
}

/* A transfer that faulted since it would have led to an address that none can be: wants where that
 * was read. Nothing is wanted if this is not so. */
static int want_target(struct study *s, const struct place_end *e, struct criterion *out,
                       struct err *err)
{
    const struct insn *in = &e->block->insn[e->insns].in;
    struct program_registers r;
    struct insn_operands ops;
    uint64_t target;
    struct past *past = study_past(s, e->place.at, &e->place.position, err);
    insn_operands(in, &ops);
    const ZydisDecodedOperand *op = &ops.op[0];
    if (!past || past_registers(past, e->place.position.thread, &r, err)) {
        past_free(past);
        return -1;
    }
    bool ret = in->kind == INSN_RET;
    gaddr addr = ret ? r.gpr[RSP] : 0;
    int bad = 0;
    if (!ret && op->type == ZYDIS_OPERAND_TYPE_REGISTER && insn_gpr_number(op->reg.value) >= 0) {
        unsigned reg = (unsigned)insn_gpr_number(op->reg.value);
        if (!is_canonical(r.gpr[reg])) {
            snprintf(out->what, sizeof out->what, "where to go, %%%s",
                     ZydisRegisterGetString(op->reg.value));
            bad = criterion_want_span(out, &e->place, loc_gpr(reg), LOC_GPR_BYTES, err);
        }
    } else if (ret || op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        bad = ret ? 0 : find_operand(s, e, op, &addr, err);
        if (!bad && past_read(past, addr, &target, sizeof target) == sizeof target &&
            !is_canonical(target))
            bad = want_memory(s, e, ret ? "the return address, " : "where to go, ", addr,
                              sizeof target, out, err);
    }
    past_free(past);
    return bad;
}

bool fault_is(const struct place_end *e, int sig)
{
    if (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE && sig != SIGILL && sig != SIGTRAP)
        return false;
    const struct insn *last = &e->block->insn[e->block->insns - 1].in;
    return e->insns < e->block->insns ? e->block->insn[e->insns].in.kind != INSN_SYSCALL
                                      : last->kind != INSN_SYSCALL;
}

int criterion_want_uses(struct criterion *out, const struct place_end *e, uint64_t at,
                        struct err *err)
{
    return criterion_want(
        out, (struct slice_want){.kind = SLICE_USES, .at = at, .thread = e->place.thread}, err);
}

int fault_want(struct study *s, const struct place_end *e, int sig, struct criterion *out,
               struct err *err)
{
    if (e->insns == e->block->insns) { /* a transfer to where no code is */
        snprintf(out->what, sizeof out->what, "where it went");
        return criterion_want_uses(out, e, e->first + e->insns - 1, err);
    }
    uint8_t kind = e->block->insn[e->insns].in.kind;
    int bad = 0;
    if (sig == SIGFPE)
        bad = want_divisor(s, e, out, err);
    else if (kind == INSN_RET || kind == INSN_CALL_IND || kind == INSN_JMP_IND)
        bad = want_target(s, e, out, err);
    if (!bad && !out->wants)
        bad = want_address(s, e, out, err);
    if (bad || out->wants)
        return bad;
    /* No register has a say: why did it come here? */
    if (e->executed == UINT64_MAX)
        return err_set(err, "the trace begins at the fault: nothing is before it");
    snprintf(out->what, sizeof out->what, "what led here");
    return criterion_want_uses(out, e, e->executed, err);
}
