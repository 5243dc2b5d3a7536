/* ops_vectors.c - what becomes of vector registers. SPDX-License-Identifier: MIT */
#include "facts/heap/ops_int.h"

/* Instructions with an EVEX prefix always have a mask for an operand; k0: none. */
static bool has_no_mask(const struct compiler *c)
{
    return c->ops.z.operand_count_visible == 3 &&
           ops_operand(c, 1)->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ops_operand(c, 1)->reg.value == ZYDIS_REGISTER_K0;
}

/* All of the register, or its low part with zeros above. */
bool rule_moves_vector(struct compiler *c)
{
    unsigned second = has_no_mask(c) ? 2 : 1;
    int dst = ops_vec(c, 0), src = ops_vec(c, second);
    if (c->ops.z.operand_count_visible != second + 1)
        return false;
    if (dst >= 0 && ops_is_mem(c, second)) {
        if (ops_access(c, second) == PLAN_NONE)
            return false;
        ops_memory(c, OPS_VLOAD, second, (unsigned)dst);
        return true;
    }
    if (src >= 0 && ops_is_mem(c, 0)) {
        if (ops_access(c, 0) == PLAN_NONE)
            return false;
        ops_memory(c, OPS_VSTORE, 0, (unsigned)src);
        return true;
    }
    if (dst >= 0 && src >= 0) {
        uint16_t m = c->in->mnemonic;
        bool scalar = m == ZYDIS_MNEMONIC_MOVSD || m == ZYDIS_MNEMONIC_MOVSS;
        bool low = m == ZYDIS_MNEMONIC_MOVQ || m == ZYDIS_MNEMONIC_VMOVQ;
        unsigned bytes = m == ZYDIS_MNEMONIC_MOVSS ? 4 : low || scalar ? 8 : ops_width(c, 0);
        ops_unary(c, scalar ? OPS_VMERGE : OPS_VMOVE, dst, src, bytes);
        return true;
    }
    int to = ops_gpr(c, 0), from = ops_gpr(c, second);
    if (dst >= 0 && from >= 0)
        ops_unary(c, OPS_VFROM, dst, from, ops_width(c, second));
    else if (to >= 0 && src >= 0)
        ops_unary(c, OPS_VTO, to, src, ops_width(c, 0));
    else
        return false;
    return true;
}

bool rule_joins(struct compiler *c)
{
    int dst = ops_vec(c, 0), src = ops_vec(c, 1);
    if (dst < 0 || src < 0 || c->ops.z.operand_count_visible != 2)
        return false;
    ops_unary(c, OPS_VJOIN, dst, src, 8);
    return true;
}

/* The vector register that has an operand; memory is read into one of the machine's own. -1: none.
 */
static int vector_value(struct compiler *c, unsigned k)
{
    if (!ops_is_mem(c, k))
        return ops_vec(c, k);
    if (ops_access(c, k) == PLAN_NONE)
        return -1;
    ops_memory(c, OPS_VLOAD, k, OPS_VT);
    return OPS_VT;
}

/* Two operands, or three: the third one is then the second source. */
bool rule_mixes(struct compiler *c)
{
    unsigned n = c->ops.z.operand_count_visible, last = n - 1;
    int dst = ops_vec(c, 0), src = vector_value(c, last);
    unsigned bytes = ops_operand(c, last)->element_size / 8;
    if (n < 2 || n > 3 || dst < 0 || src < 0 || !bytes || bytes > 8)
        return false;
    if (n == 3 && ops_vec(c, 1) != dst)
        ops_unary(c, OPS_VMOVE, dst, ops_vec(c, 1), 16);
    ops_unary(c, OPS_VMIX, dst, src, bytes);
    return true;
}

/* Sums and differences of integers, element by element; as above. */
bool rule_adds_vectors(struct compiler *c)
{
    unsigned n = c->ops.z.operand_count_visible, last = n - 1;
    unsigned each = ops_operand(c, 0)->element_size / 8;
    if (n < 2 || n > 3 || !each || each > 8)
        return false;
    int dst = ops_vec(c, 0), first = ops_vec(c, last - 1), src = vector_value(c, last);
    if (dst < 0 || src < 0 || first < 0 || first == src) /* a register less itself is 0 */
        return false;
    if (src == dst)
        src = first;
    else if (first != dst)
        ops_unary(c, OPS_VMOVE, dst, first, ops_width(c, 0));
    ops_unary(c, OPS_VADD, dst, src, ops_width(c, 0))->more = (uint8_t)each;
    return true;
}

bool rule_slides(struct compiler *c)
{
    int dst = ops_vec(c, 0);
    if (c->ops.z.operand_count_visible != 2 || dst < 0 || !ops_is_imm(c, 1))
        return false;
    ops_unary(c, OPS_VSLIDE, dst, c->in->mnemonic == ZYDIS_MNEMONIC_PSLLDQ, 16)->imm =
        ops_operand(c, 1)->imm.value.u;
    return true;
}

bool rule_compares_vector(struct compiler *c)
{
    int a = ops_vec(c, 0), b = vector_value(c, 1);
    unsigned bytes = ops_operand(c, 0)->element_size / 8;
    if (a < 0 || b < 0 || !bytes || bytes > 8)
        return false;
    ops_unary(c, OPS_VCMP, a, b, bytes);
    return true;
}

bool rule_converts(struct compiler *c)
{
    int dst = ops_gpr(c, 0), src = vector_value(c, 1);
    unsigned bytes = ops_operand(c, 1)->element_size / 8;
    if (dst < 0 || src < 0 || !bytes || bytes > 8)
        return false;
    ops_unary(c, OPS_VCONVERT, dst, src, ops_width(c, 0))->more = (uint8_t)bytes;
    return true;
}
