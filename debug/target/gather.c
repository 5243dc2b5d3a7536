/* gather.c - the elements that a gather or scatter touches. SPDX-License-Identifier: MIT
 *
 * Their addresses are in a vector register, and a mask says which of them count: the sign bits of
 * another vector register, or a mask register with EVEX. The registers are read from their saved
 * form.
 */
#include "debug/target/gather.h"

#include "engine/core/engine.h"
#include "engine/os/fpstate.h"
#include "engine/rt/rt.h"
#include "engine/x86/operand.h"

enum { MASKS = 5, ZMM_HIGH = 6, ZMM_MORE = 7, AVX = 2, XMM_AT = 160 };

/* Where a component begins in the standard format. */
static uint32_t component(uint32_t n)
{
    uint32_t a = 0xd, b, c = n, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return b;
}

/* `bytes` bytes of vector register `reg`, from byte `at` on; they are in one component. */
static uint64_t part(const struct thread *t, unsigned reg, unsigned at, unsigned bytes)
{
    uint64_t v = 0;
    uint32_t from = reg >= 16  ? component(ZMM_MORE) + 64 * (reg - 16) + at
                    : at >= 32 ? component(ZMM_HIGH) + 32 * reg + at - 32
                    : at >= 16 ? component(AVX) + 16 * reg + at - 16
                               : XMM_AT + 16 * reg + at;
    rt_check(from + bytes <= sizeof t->xsave);
    memcpy(&v, t->xsave + from, bytes);
    return v;
}

static unsigned vector_number(ZydisRegister r)
{
    if (r >= ZYDIS_REGISTER_ZMM0 && r <= ZYDIS_REGISTER_ZMM31)
        return (unsigned)(r - ZYDIS_REGISTER_ZMM0);
    if (r >= ZYDIS_REGISTER_YMM0 && r <= ZYDIS_REGISTER_YMM31)
        return (unsigned)(r - ZYDIS_REGISTER_YMM0);
    return (unsigned)(r - ZYDIS_REGISTER_XMM0) % 32;
}

static bool counts(const struct thread *t, const struct insn_operands *ops, unsigned i,
                   unsigned data)
{
    if (ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        uint64_t k;
        memcpy(&k, t->xsave + component(MASKS) + 8 * (ops->z.avx.mask.reg - ZYDIS_REGISTER_K0), 8);
        return k >> i & 1;
    }
    return part(t, vector_number(ops->op[2].reg.value), i * data, data) >> (8 * data - 1) & 1;
}

int gather_elements(struct thread *t, const struct insn *in, const struct insn_operands *ops,
                    const ZydisDecodedOperand *op, struct flow_range *out, bool write)
{
    bool wide_data, wide_index;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_VGATHERDPS:
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VSCATTERDPS:
    case ZYDIS_MNEMONIC_VPSCATTERDD:
        wide_data = wide_index = false;
        break;
    case ZYDIS_MNEMONIC_VGATHERDPD:
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VSCATTERDPD:
    case ZYDIS_MNEMONIC_VPSCATTERDQ:
        wide_data = true;
        wide_index = false;
        break;
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
        wide_data = false;
        wide_index = true;
        break;
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
        wide_data = wide_index = true;
        break;
    default:
        return -1;
    }
    unsigned data = wide_data ? 8 : 4, index = wide_index ? 8 : 4;
    unsigned count = ops->z.avx.vector_length / 8 / (wide_data || wide_index ? 8 : 4);
    fpstate_save(t, fpstate_features());
    gaddr base = operand_address(in, op, &t->cpu, engine_segments(t));
    int n = 0;
    for (unsigned i = 0; i < count && i < GATHER_MOST; i++) {
        if (!counts(t, ops, i, data))
            continue;
        uint64_t v = part(t, vector_number(op->mem.index), i * index, index);
        int64_t at = wide_index ? (int64_t)v : (int32_t)v;
        out[n++] = (struct flow_range){base + (uint64_t)at * op->mem.scale, data,
                                       write ? FLOW_WRITE : FLOW_READ};
    }
    return n;
}
