/* node.c - what instructions do that def/use sets do not tell. SPDX-License-Identifier: MIT */
#include "slicer/slice_private.h"

gaddr slicer_extent(const struct code_block *b, const struct plan_access *a, const uint64_t *values,
                    uint64_t *bytes)
{
    gaddr addr = code_address(a, values);
    *bytes = a->mem.bytes;
    if (!code_is_repeated(a))
        return addr;
    int64_t n = code_repeats(b, a, values);
    *bytes = (uint64_t)(n < 0 ? -n : n) * a->mem.bytes;
    return n < 0 ? addr + a->mem.bytes - *bytes : addr;
}

bool slicer_is_odd(const struct plan_access *a)
{
    return a->mem.shape == ACCESS_VECTOR ||
           (a->slot == PLAN_NONE && a->count == PLAN_NONE && a->add == 0);
}

bool slicer_is_copy(const struct code_block *b, unsigned i)
{
    const struct code_insn *ci = &b->insn[i];
    switch (ci->in.mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
        return ci->accesses == 2 && code_is_repeated(&b->access[ci->access_at]);
    default:
        return false;
    }
}

bool slicer_returns(const struct frame *frame, const struct code_block *b, unsigned i,
                    const uint64_t *values)
{
    const struct code_insn *ci = &b->insn[i];
    for (unsigned k = 0; k < ci->accesses; k++) {
        const struct plan_access *a = &b->access[ci->access_at + k];
        if (!a->mem.read)
            continue;
        gaddr addr = code_address(a, values);
        for (; frame; frame = frame->parent)
            if (frame->kind == FRAME_CALL && frame->slot == addr)
                return true;
        return false;
    }
    return false;
}
