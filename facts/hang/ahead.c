/* ahead.c - what a thread would do next. SPDX-License-Identifier: MIT */
#include "facts/hang/ahead.h"

#include <string.h>

enum { WORD = 8 };

static uint64_t cut(uint64_t v, unsigned bytes)
{
    return bytes >= WORD ? v : v & ((1ull << bytes * 8) - 1);
}

static uint64_t widen(uint64_t v, unsigned bytes)
{
    unsigned shift = 64 - bytes * 8;
    return bytes >= WORD ? v : (uint64_t)((int64_t)(v << shift) >> shift);
}

void ahead_begin(struct ahead *a, struct study *s, const struct stack_memory *memory,
                 const struct stack_frame *frame, gaddr fs_base)
{
    static const uint8_t order[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP,
                                    R8,  R9,  R10, R11, R12, R13, R14, R15};
    *a = (struct ahead){.study = s, .memory = memory, .fs_base = fs_base};
    for (unsigned i = 0; i < STACK_PC; i++)
        a->reg[order[i]] =
            (struct ahead_value){.value = frame->reg[i], .known = frame->known >> i & 1};
    a->reg[RAX] = (struct ahead_value){.known = true}; /* the wait will have succeeded */
    a->pc = frame->reg[STACK_PC];
}

bool ahead_fetch(const struct ahead *a, gaddr pc, struct insn *in)
{
    uint8_t code[INSN_MAX_BYTES];
    size_t n = a->memory->read(a->memory->arg, pc, code, sizeof code);
    return n && insn_decode(in, pc, code, n) == 0;
}

/* ---- memory ---- */

static uint32_t place_bit(struct ahead *a, gaddr addr, unsigned bytes)
{
    for (unsigned i = 0; i < a->places; i++)
        if (a->place[i].addr == addr && a->place[i].bytes == bytes)
            return 1u << i;
    if (a->places == AHEAD_PLACES)
        return 0;
    a->place[a->places].addr = addr;
    a->place[a->places].bytes = bytes;
    return 1u << a->places++;
}

static bool load(struct ahead *a, gaddr addr, unsigned bytes, struct ahead_value *out)
{
    *out = (struct ahead_value){.known = true};
    for (unsigned i = a->writes; i-- > 0;) {
        if (a->write[i].addr == addr && a->write[i].bytes >= bytes) {
            *out = a->write[i].v;
            out->value = cut(out->value, bytes);
            return true;
        }
        if (a->write[i].addr < addr + bytes && addr < a->write[i].addr + a->write[i].bytes)
            return false;
    }
    if (bytes > WORD || a->memory->read(a->memory->arg, addr, &out->value, bytes) != bytes)
        return false;
    out->from = place_bit(a, addr, bytes);
    return true;
}

static bool store(struct ahead *a, gaddr addr, unsigned bytes, struct ahead_value v)
{
    if (a->writes == AHEAD_WRITES || bytes > WORD)
        return false;
    a->write[a->writes].addr = addr;
    a->write[a->writes].bytes = bytes;
    v.value = cut(v.value, bytes);
    a->write[a->writes++].v = v;
    return true;
}

/* ---- operands ---- */

static bool add_register(const struct ahead *a, ZydisRegister reg, uint64_t scale, uint64_t *sum)
{
    if (reg == ZYDIS_REGISTER_NONE)
        return true;
    int n = insn_gpr_number(reg);
    if (n < 0 || !a->reg[n].known)
        return false;
    *sum += a->reg[n].value * scale;
    return true;
}

static bool address_of(const struct ahead *a, const struct insn *in, const ZydisDecodedOperand *op,
                       gaddr *out)
{
    if (in->rip_relative) {
        *out = in->target;
        return true;
    }
    *out = (uint64_t)op->mem.disp.value;
    if (in->addr32 || op->mem.segment == ZYDIS_REGISTER_GS)
        return false;
    if (op->mem.segment == ZYDIS_REGISTER_FS)
        *out += a->fs_base;
    return add_register(a, op->mem.base, 1, out) &&
           add_register(a, op->mem.index, op->mem.scale, out);
}

/* The high bytes ah to dh are not known here. */
static int register_number(ZydisRegister reg)
{
    return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ? -1 : insn_gpr_number(reg);
}

static bool read_operand(struct ahead *a, const struct insn *in, const ZydisDecodedOperand *op,
                         struct ahead_value *out)
{
    unsigned bytes = op->size / 8u;
    gaddr addr;
    int n;
    switch (op->type) {
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        *out = (struct ahead_value){.value = op->imm.value.u, .known = true};
        return true;
    case ZYDIS_OPERAND_TYPE_REGISTER:
        n = register_number(op->reg.value);
        if (n < 0)
            return false;
        *out = a->reg[n];
        out->value = cut(out->value, bytes);
        return true;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return address_of(a, in, op, &addr) && load(a, addr, bytes, out);
    default:
        return false;
    }
}

static bool write_operand(struct ahead *a, const struct insn *in, const ZydisDecodedOperand *op,
                          struct ahead_value v)
{
    unsigned bytes = op->size / 8u;
    gaddr addr;
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return address_of(a, in, op, &addr) && store(a, addr, bytes, v);
    int n = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? register_number(op->reg.value) : -1;
    if (n < 0)
        return false;
    v.value = cut(v.value, bytes);
    if (bytes < 4) /* the rest stays, and hardly ever matters */
        v.value |= a->reg[n].value & ~cut(UINT64_MAX, bytes);
    a->reg[n] = v;
    return true;
}

/* ---- flags ---- */

static void set_flags(struct ahead *a, uint64_t result, unsigned bytes, const struct ahead_value *x,
                      const struct ahead_value *y)
{
    result = cut(result, bytes);
    a->zero = !result;
    a->sign = result >> (bytes * 8 - 1) & 1;
    a->carry = a->overflow = false;
    a->flags_known = x->known && y->known;
    a->flags_from = x->from | y->from;
}

int ahead_condition(const struct ahead *a, const struct insn *in)
{
    bool holds;
    if (!a->flags_known)
        return -1;
    switch (in->opcode >> 1 & 7) {
    case 0:
        holds = a->overflow;
        break;
    case 1:
        holds = a->carry;
        break;
    case 2:
        holds = a->zero;
        break;
    case 3:
        holds = a->carry || a->zero;
        break;
    case 4:
        holds = a->sign;
        break;
    case 5:
        return -1; /* parity */
    case 6:
        holds = a->sign != a->overflow;
        break;
    default:
        holds = a->zero || a->sign != a->overflow;
    }
    return holds != (in->opcode & 1);
}

/* ---- instructions ---- */

static bool calculate(struct ahead *a, const struct insn *in, const struct insn_operands *ops)
{
    const ZydisDecodedOperand *op = ops->op;
    const unsigned bytes = op[0].size / 8u;
    const unsigned top = bytes * 8 - 1;
    struct ahead_value x, y = {.value = 1, .known = true}, r;
    bool one = in->mnemonic == ZYDIS_MNEMONIC_INC || in->mnemonic == ZYDIS_MNEMONIC_DEC;
    bool keeps = in->mnemonic == ZYDIS_MNEMONIC_CMP || in->mnemonic == ZYDIS_MNEMONIC_TEST;
    bool carry = a->carry;
    if (!read_operand(a, in, &op[0], &x) || (!one && !read_operand(a, in, &op[1], &y)))
        return false;
    y.value = cut(y.value, bytes);
    r = (struct ahead_value){.known = x.known && y.known, .from = x.from | y.from};
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_INC:
        r.value = cut(x.value + y.value, bytes);
        set_flags(a, r.value, bytes, &x, &y);
        a->carry = r.value < x.value;
        a->overflow = (~(x.value ^ y.value) & (x.value ^ r.value)) >> top & 1;
        break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_DEC:
        r.value = cut(x.value - y.value, bytes);
        set_flags(a, r.value, bytes, &x, &y);
        a->carry = x.value < y.value;
        a->overflow = ((x.value ^ y.value) & (x.value ^ r.value)) >> top & 1;
        break;
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_TEST:
        r.value = x.value & y.value;
        set_flags(a, r.value, bytes, &x, &y);
        break;
    case ZYDIS_MNEMONIC_OR:
        r.value = x.value | y.value;
        set_flags(a, r.value, bytes, &x, &y);
        break;
    default: /* xor */
        r.value = x.value ^ y.value;
        if (op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].type == op[1].type &&
            op[0].reg.value == op[1].reg.value)
            x = y = r = (struct ahead_value){.known = true};
        set_flags(a, r.value, bytes, &x, &y);
    }
    if (one)
        a->carry = carry;
    return keeps || write_operand(a, in, &op[0], r);
}

static bool move(struct ahead *a, const struct insn *in, const struct insn_operands *ops)
{
    const ZydisDecodedOperand *op = ops->op;
    struct ahead_value v;
    if (!read_operand(a, in, &op[1], &v))
        return false;
    if (in->mnemonic == ZYDIS_MNEMONIC_MOVSX || in->mnemonic == ZYDIS_MNEMONIC_MOVSXD)
        v.value = widen(v.value, op[1].size / 8u);
    return write_operand(a, in, &op[0], v);
}

static bool push(struct ahead *a, struct ahead_value v)
{
    if (!a->reg[RSP].known)
        return false;
    a->reg[RSP].value -= WORD;
    return store(a, a->reg[RSP].value, WORD, v);
}

static bool pop(struct ahead *a, struct ahead_value *out)
{
    if (!a->reg[RSP].known || !load(a, a->reg[RSP].value, WORD, out))
        return false;
    a->reg[RSP].value += WORD;
    return true;
}

static bool leave(struct ahead *a)
{
    a->reg[RSP] = a->reg[RBP];
    return pop(a, &a->reg[RBP]);
}

/* setCC and cmovCC. */
static bool choose(struct ahead *a, const struct insn *in, const struct insn_operands *ops)
{
    const ZydisDecodedOperand *op = ops->op;
    struct ahead_value v = {.known = true};
    int holds = ahead_condition(a, in);
    bool sets = (in->opcode & 0xf0) == 0x90;
    if (holds < 0 || (!sets && !read_operand(a, in, &op[holds ? 1 : 0], &v)))
        return false;
    if (sets)
        v.value = (uint64_t)holds;
    v.from |= a->flags_from;
    return write_operand(a, in, &op[0], v);
}

static bool plain(struct ahead *a, const struct insn *in)
{
    struct insn_operands ops;
    struct ahead_value v;
    gaddr addr;
    insn_operands(in, &ops);
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        return move(a, in, &ops);
    case ZYDIS_MNEMONIC_LEA:
        return address_of(a, in, &ops.op[1], &addr) &&
               write_operand(a, in, &ops.op[0], (struct ahead_value){.value = addr, .known = true});
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return calculate(a, in, &ops);
    case ZYDIS_MNEMONIC_PUSH:
        return read_operand(a, in, &ops.op[0], &v) && push(a, v);
    case ZYDIS_MNEMONIC_POP:
        return pop(a, &v) && write_operand(a, in, &ops.op[0], v);
    case ZYDIS_MNEMONIC_LEAVE:
        return leave(a);
    case ZYDIS_MNEMONIC_CDQE:
        a->reg[RAX].value = widen(a->reg[RAX].value, 4);
        return true;
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_ENDBR64:
        return true;
    default:
        return strncmp(ZydisMnemonicGetString((ZydisMnemonic)in->mnemonic), "set", 3) == 0 ||
                       strncmp(ZydisMnemonicGetString((ZydisMnemonic)in->mnemonic), "cmov", 4) == 0
                   ? choose(a, in, &ops)
                   : false;
    }
}

bool ahead_step(struct ahead *a, const struct insn *in)
{
    struct ahead_value v = {.value = in->pc + in->len, .known = true};
    int holds;
    switch (in->kind) {
    case INSN_PLAIN:
        a->pc = in->pc + in->len;
        return plain(a, in);
    case INSN_JMP:
        a->pc = in->target;
        return true;
    case INSN_JCC:
        holds = ahead_condition(a, in);
        a->pc = holds ? in->target : in->pc + in->len;
        return holds >= 0;
    case INSN_CALL:
        a->pc = in->target;
        return push(a, v);
    case INSN_RET:
        if (!pop(a, &v) || !v.known || in->imm16)
            return false;
        a->pc = v.value;
        return true;
    default:
        return false;
    }
}
