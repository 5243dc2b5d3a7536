/* copy.c - instructions of the target in the code cache, with a changed operand where needed.
 *
 * SPDX-License-Identifier: MIT
 *
 * Most instructions are copied byte for byte. rip-relative operands: the displacement is patched;
 * out of reach, an absolute 32-bit address or a scratch register stands in. gs-relative operands
 * use the target's own gs base through a scratch register.
 */
#include "engine/core/job.h"
#include "engine/core/layout.h"
#include "engine/rt/rt.h"

static int pick_scratch(uint32_t used)
{
    static const uint8_t order[] = {RAX, RCX, RDX, RBX, RSI, RDI};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (!(used >> order[i] & 1))
            return order[i];
    rt_die("translator: no scratch register");
}

/* The copied instruction's base becomes `reg` (one of the low eight, not rsp or rbp), without index
 * or displacement. Writes to out, returns the length. */
static size_t with_base(const struct insn *in, int reg, size_t tail_at, uint8_t *out)
{
    size_t n = in->modrm_at;
    memcpy(out, in->bytes, n);
    if (in->prefix_at != 0xff) {
        uint8_t *p = out + in->prefix_at;
        switch (in->encoding) {
        case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
        case ZYDIS_INSTRUCTION_ENCODING_3DNOW:
            *p &= (uint8_t)~0x03; /* REX.X, REX.B */
            break;
        case ZYDIS_INSTRUCTION_ENCODING_VEX:
            if (*p == 0xc4)
                p[1] |= 0x60; /* inverted X, B */
            break;
        default:
            p[1] |= 0x60; /* EVEX, XOP */
            break;
        }
    }
    out[n++] = (uint8_t)((in->bytes[in->modrm_at] & 0x38) | reg);
    memcpy(out + n, in->bytes + tail_at, in->len - tail_at);
    return n + in->len - tail_at;
}

/* Offset of what follows ModRM, SIB and displacement: the immediate, or the end. */
static size_t operand_end(const struct insn_operands *ops)
{
    const ZydisDecodedInstruction *z = &ops->z;
    size_t end = z->raw.modrm.offset + 1u;
    if (z->attributes & ZYDIS_ATTRIB_HAS_SIB)
        end = z->raw.sib.offset + 1u;
    if (z->raw.disp.size)
        end = z->raw.disp.offset + z->raw.disp.size / 8u;
    return end;
}

/* Bytes before REX, VEX or the opcode: legacy prefixes, and REX prefixes that count for nothing
 * because others follow them. */
static size_t prefix_bytes(const struct insn *in)
{
    static const uint8_t prefix[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e,
                                     0x36, 0x3e, 0x26, 0x64, 0x65};
    for (size_t i = 0; i < in->len; i++) {
        bool is_prefix = i != in->prefix_at && (in->bytes[i] & 0xf0) == 0x40;
        for (size_t k = 0; k < ARRAY_LEN(prefix); k++)
            is_prefix |= prefix[k] == in->bytes[i];
        if (!is_prefix)
            return i;
    }
    return in->len;
}

static void emit_with_scratch(struct job *j, const struct insn *in, const struct insn_operands *ops,
                              int reg, uint16_t spill)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = with_base(in, reg, operand_end(ops), bytes);
    /* An address-size override no longer fits a 64-bit base. With gs, the base already holds the
     * segment's. */
    for (size_t i = 0; i < prefix_bytes(in); i++)
        if (bytes[i] == 0x67 || (in->gs_relative && (bytes[i] == 0x64 || bytes[i] == 0x65)))
            bytes[i] = 0x3e; /* a ds override means nothing in 64-bit mode */
    exits_point(j, in, spill);
    emit_bytes(&j->e, bytes, n);
    emit_gs_load(&j->e, reg, T_SPILL_S0);
}

static void emit_far_rip_relative(struct job *j, const struct insn *in, uint16_t spill)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    int reg = pick_scratch(insn_gprs(&ops) | (spill & SPILL_RCX ? 1 << RCX : 0));
    emit_gs_store(&j->e, reg, T_SPILL_S0);
    emit_mov_imm64(&j->e, reg, in->target);
    emit_with_scratch(j, in, &ops, reg, (uint16_t)(spill | SPILL_S0 | reg << 8));
}

/* Always with SIB and disp32: a compressed displacement is spelled out that way. */
void copy_lea(struct emit *e, int reg, const ZydisDecodedOperandMem *mem, bool addr32)
{
    int base = insn_gpr_number(mem->base), index = insn_gpr_number(mem->index);
    uint8_t scale = mem->scale == 8 ? 3 : mem->scale == 4 ? 2 : mem->scale == 2 ? 1 : 0;
    if (addr32)
        emit8(e, 0x67);
    emit8(e, (uint8_t)(0x48 | (index > 7) << 1 | (base > 7)));
    emit8(e, 0x8d);
    emit8(e, (uint8_t)((base < 0 ? 0x04 : 0x84) | reg << 3));
    emit8(e, (uint8_t)(scale << 6 | (index < 0 ? 4 : index & 7) << 3 | (base < 0 ? 5 : base & 7)));
    emit32(e, (uint32_t)mem->disp.value);
}

/* gs:[operand]: scratch = address of the operand without segment + the target's gs base. */
static void emit_gs_relative(struct job *j, const struct insn *in, uint16_t spill)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    uint32_t used = insn_gprs(&ops) | (spill & SPILL_RCX ? 1u << RCX : 0);
    int reg = pick_scratch(used), second = pick_scratch(used | 1u << reg);
    const ZydisDecodedOperand *mem = NULL;
    for (int i = 0; i < ops.z.operand_count; i++)
        if (ops.op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
            mem = &ops.op[i];
    rt_check(mem);
    emit_gs_store(&j->e, reg, T_SPILL_S0);
    emit_gs_store(&j->e, second, T_SPILL_S1);
    if (in->rip_relative) {
        emit_mov_imm64(&j->e, reg, in->target);
    } else {
        copy_lea(&j->e, reg, &mem->mem, in->addr32);
    }
    emit_gs_load(&j->e, second, T_GS_BASE);
    emit_bytes(
        &j->e, /* lea reg, [reg + second] */
        (const uint8_t[]){0x48, 0x8d, (uint8_t)(0x04 | reg << 3), (uint8_t)(second << 3 | reg)}, 4);
    emit_gs_load(&j->e, second, T_SPILL_S1);
    emit_with_scratch(j, in, &ops, reg, (uint16_t)(spill | SPILL_S0 | reg << 8));
}

/* rip-relative, target in the low 2 GB: [disp32] through a SIB byte. */
static bool emit_absolute(struct job *j, const struct insn *in, uint16_t spill)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = in->modrm_at;
    if (in->target >= (in->addr32 ? 1ull << 32 : 1ull << 31) || in->len == INSN_MAX_BYTES)
        return false;
    memcpy(bytes, in->bytes, n);
    if (in->prefix_at != 0xff) { /* X must name no index */
        uint8_t *p = bytes + in->prefix_at;
        if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
            in->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW)
            *p &= (uint8_t)~0x02;
        else if (!(in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && *p == 0xc5))
            p[1] |= 0x40;
    }
    bytes[n++] = (uint8_t)((in->bytes[in->modrm_at] & 0x38) | 4);
    bytes[n++] = 0x25;
    memcpy(bytes + n, &(uint32_t){(uint32_t)in->target}, 4);
    n += 4;
    size_t tail = in->modrm_at + 5u;
    memcpy(bytes + n, in->bytes + tail, in->len - tail);
    exits_point(j, in, spill);
    emit_bytes(&j->e, bytes, n + in->len - tail);
    return true;
}

void copy_insn(struct job *j, const struct insn *in, uint16_t spill)
{
    if (in->gs_relative && in->modrm_at) {
        emit_gs_relative(j, in, spill);
        return;
    }
    if (!in->rip_relative) {
        exits_point(j, in, spill);
        emit_bytes(&j->e, in->bytes, in->len);
        return;
    }
    int64_t disp = (int64_t)(in->target - (gaddr)(j->e.p + in->len));
    if (disp == (int32_t)disp && !in->addr32) {
        exits_point(j, in, spill);
        emit_bytes(&j->e, in->bytes, in->len);
        memcpy(j->e.p - in->len + in->modrm_at + 1, &(int32_t){(int32_t)disp}, 4);
        return;
    }
    if (!emit_absolute(j, in, spill))
        emit_far_rip_relative(j, in, spill);
}

void copy_load_target(struct job *j, const struct insn *in)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = 0;
    uint8_t rex = in->prefix_at != 0xff ? in->bytes[in->prefix_at] & 0x03 : 0;
    uint8_t segment = 0; /* of several the last one counts */
    for (size_t i = 0; i < prefix_bytes(in); i++)
        if (in->bytes[i] == 0x64 || in->bytes[i] == 0x65)
            segment = in->bytes[i];
    if (segment)
        bytes[n++] = segment;
    if (in->addr32)
        bytes[n++] = 0x67;
    bytes[n++] = 0x48 | rex;
    bytes[n++] = 0x8b;
    bytes[n++] = (uint8_t)((in->bytes[in->modrm_at] & ~0x38) | RCX << 3);
    size_t tail = in->modrm_at + 1u;
    memcpy(bytes + n, in->bytes + tail, in->len - tail);
    n += in->len - tail;
    struct insn load;
    rt_check(insn_decode(&load, in->pc, bytes, n) == 0 && load.kind == INSN_PLAIN);
    load.target = in->target;
    copy_insn(j, &load, SPILL_RCX);
}
