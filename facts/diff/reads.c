/* reads.c - instructions of own code that read memory. SPDX-License-Identifier: MIT */
#include "facts/diff/reads.h"

#include "base/array.h"
#include "base/search.h"

enum { CANARY_AT = 0x28 }; /* from fs: where gcc and clang have it */

static bool is_wide(ZydisRegister reg)
{
    return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64;
}

/* An address that bytecode can compute before the instruction. */
static bool is_plain(const struct insn *in, const ZydisDecodedOperandMem *m)
{
    return (in->rip_relative || m->base == ZYDIS_REGISTER_NONE || is_wide(m->base)) &&
           (m->index == ZYDIS_REGISTER_NONE || is_wide(m->index)) &&
           m->segment != ZYDIS_REGISTER_GS && !in->addr32;
}

int reads_add(struct reads *r, const struct code_block *b, gaddr by)
{
    struct insn_operands ops;
    for (unsigned k = 0; k < b->accesses; k++) {
        const struct plan_access *a = &b->access[k];
        const struct code_insn *i = &b->insn[a->insn];
        if (!a->mem.read || a->mem.shape != ACCESS_PLAIN || a->mem.repeats || a->mem.moved ||
            !a->mem.bytes || a->mem.bytes > 8 || i->in.kind != INSN_PLAIN ||
            i->in.mnemonic == ZYDIS_MNEMONIC_POP || i->in.mnemonic == ZYDIS_MNEMONIC_LEAVE)
            continue;
        insn_operands(&i->in, &ops);
        const ZydisDecodedOperandMem *m = &ops.op[a->mem.op].mem;
        if (ops.op[a->mem.op].type != ZYDIS_OPERAND_TYPE_MEMORY || !is_plain(&i->in, m))
            continue;
        struct read one = {.pc = i->in.pc + by,
                           .insn = i,
                           .op = a->mem.op,
                           .bytes = (uint8_t)a->mem.bytes,
                           .canary = m->segment == ZYDIS_REGISTER_FS &&
                                     m->base == ZYDIS_REGISTER_NONE && m->disp.value == CANARY_AT};
        if (array_push(&r->read, &r->count, &r->room, one))
            return -1;
    }
    return 0;
}

static int by_pc(const void *a, const void *b)
{
    const struct read *x = a, *y = b;
    return x->pc != y->pc ? (x->pc < y->pc ? -1 : 1) : x->op - y->op;
}

void reads_sort(struct reads *r)
{
    size_t kept = 0;
    if (r->count)
        qsort(r->read, r->count, sizeof *r->read, by_pc);
    for (size_t i = 0; i < r->count; i++)
        if (!kept || r->read[kept - 1].pc != r->read[i].pc)
            r->read[kept++] = r->read[i];
    r->count = kept;
}

void reads_deinit(struct reads *r)
{
    free(r->read);
    *r = (struct reads){0};
}

/* The first one at pc or behind it. */
static size_t find(const struct reads *r, gaddr pc)
{
    return search_below(r->read, r->count, pc, pc);
}

size_t reads_between(const struct reads *r, gaddr start, gaddr last, size_t *first)
{
    *first = find(r, start);
    return last < start ? 0 : find(r, last + 1) - *first;
}

static void write_register(struct bytecode *out, ZydisRegister reg)
{
    static const uint8_t number[] = {AGENT_RAX, AGENT_RCX, AGENT_RDX, AGENT_RBX,
                                     AGENT_RSP, AGENT_RBP, AGENT_RSI, AGENT_RDI};
    unsigned n = (unsigned)ZydisRegisterGetId(reg);
    bytecode_reg(out, n < 8 ? number[n] : AGENT_R8 + n - 8);
}

void reads_write(const struct read *r, struct bytecode *out)
{
    struct insn_operands ops;
    insn_operands(&r->insn->in, &ops);
    const ZydisDecodedOperandMem *m = &ops.op[r->op].mem;
    *out = (struct bytecode){.bytes = 0};
    if (r->insn->in.rip_relative) {
        bytecode_const(out, r->insn->in.target);
    } else {
        bytecode_const(out, (uint64_t)m->disp.value);
        if (m->base != ZYDIS_REGISTER_NONE) {
            write_register(out, m->base);
            bytecode_op(out, OP_ADD);
        }
    }
    if (m->index != ZYDIS_REGISTER_NONE) {
        write_register(out, m->index);
        bytecode_const(out, m->scale);
        bytecode_op(out, OP_MUL);
        bytecode_op(out, OP_ADD);
    }
    if (m->segment == ZYDIS_REGISTER_FS) {
        bytecode_reg(out, AGENT_FS_BASE);
        bytecode_op(out, OP_ADD);
    }
    bytecode_take(out, r->bytes);
    bytecode_end(out);
}
