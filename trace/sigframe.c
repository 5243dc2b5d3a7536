/* sigframe.c - where vector and mask registers are in a signal's frame. SPDX-License-Identifier:
 * MIT
 */
#include "trace/sigframe.h"

#include "base/xsave.h"
#include "engine/x86/loc.h"

/* `count` registers, each with `bytes` bytes from the locations `loc`, `loc` + `stride`, ... */
static void add(struct sigframe *f, gaddr at, unsigned loc, unsigned stride, unsigned bytes,
                unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        f->place[f->places++] = (struct sigframe_place){
            at + (uint64_t)bytes * i, (uint16_t)(loc + stride * i), (uint16_t)bytes};
}

void sigframe_init(struct sigframe *f, gaddr fpstate, gaddr end)
{
    static struct {
        unsigned part, loc, stride, bytes, count;
        uint32_t at; /* cpuid is slow in virtual machines: asked once */
        bool known;
    } parts[] = {
        {XSAVE_AVX, LOC_VEC + 16, LOC_VEC_BYTES, 16, 16, 0, false},
        {XSAVE_ZMM_HIGH, LOC_VEC + 32, LOC_VEC_BYTES, 32, 16, 0, false},
        {XSAVE_HIGH16, LOC_VEC + 16 * LOC_VEC_BYTES, LOC_VEC_BYTES, 64, 16, 0, false},
        {XSAVE_OPMASK, LOC_MASK, LOC_MASK_BYTES, 8, 8, 0, false},
    };
    f->places = 0;
    if (!fpstate || end <= fpstate)
        return;
    add(f, fpstate + XSAVE_XMM_AT, LOC_VEC, LOC_VEC_BYTES, 16, 16);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t bytes = (size_t)parts[i].bytes * parts[i].count;
        if (!parts[i].known)
            parts[i].at = xsave_offset(parts[i].part, SIZE_MAX, bytes);
        parts[i].known = true;
        if (parts[i].at && parts[i].at + bytes <= end - fpstate)
            add(f, fpstate + parts[i].at, parts[i].loc, parts[i].stride, parts[i].bytes,
                parts[i].count);
    }
}
