/* registers.c - registers by name, by DWARF's number, and their values in a replay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "slicer/registers.h"

#include <string.h>
#include <strings.h>

/* In the standard format of xsave: xmm, and what ymm has above it. */
enum { XMM_AT = 160, YMM_AT = 576, HALF = 16, VECTORS = 16, VECTOR_KNOWN = 2 * HALF };

/* ---- names ---- */

static bool is_named(unsigned first, unsigned count, const char *name)
{
    char text[32];
    loc_name((struct loc_span){.first = first & 0xfff, .count = count & 0xfff}, text, sizeof text);
    return strcasecmp(text, name) == 0;
}

bool registers_find(const char *name, unsigned *first, unsigned *count)
{
    static const uint8_t part[][2] = {{0, 8}, {0, 4}, {0, 2}, {0, 1}, {1, 1}};
    for (unsigned r = 0; r < GPR_COUNT; r++)
        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            if (is_named(loc_gpr(r) + part[i][0], part[i][1], name)) {
                *first = loc_gpr(r) + part[i][0];
                *count = part[i][1];
                return true;
            }
    for (unsigned r = 0; r < LOC_VECS; r++)
        for (*count = 16; *count <= LOC_VEC_BYTES; *count *= 2)
            if (is_named(*first = loc_vec(r), *count, name))
                return true;
    for (unsigned r = 0; r < 8; r++)
        if (is_named(*first = loc_mask(r), *count = LOC_MASK_BYTES, name))
            return true;
    for (*first = LOC_CF, *count = 1; *first <= LOC_DF; ++*first)
        if (is_named(*first, 1, name))
            return true;
    return false;
}

/* ---- DWARF's numbers: general registers in an order of their own, then vector registers ---- */

bool registers_dwarf(unsigned number, unsigned *first, unsigned *most)
{
    static const uint8_t gpr[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP};
    if (number < 16) {
        *first = loc_gpr(number < 8 ? gpr[number] : number);
        *most = LOC_GPR_BYTES;
        return true;
    }
    if (number < 17 || number > 32)
        return false;
    *first = loc_vec(number - 17);
    *most = 16;
    return true;
}

int registers_number(uint64_t loc)
{
    static const uint8_t number[] = {0, 2, 1, 3, 7, 6, 4, 5};
    if (loc < LOC_VEC) {
        unsigned r = (unsigned)(loc - LOC_GPR) / LOC_GPR_BYTES;
        return r < 8 ? number[r] : (int)r;
    }
    if (loc < LOC_VEC + VECTORS * LOC_VEC_BYTES)
        return 17 + (int)(loc - LOC_VEC) / LOC_VEC_BYTES;
    return -1;
}

/* ---- values ---- */

bool registers_value(const struct replay_registers *r, uint64_t first, uint64_t count, void *out)
{
    uint8_t vector[VECTOR_KNOWN] = {0};
    if (first + count <= LOC_VEC) {
        memcpy(out, (const uint8_t *)r->gpr + (first - LOC_GPR), count);
        return true;
    }
    if (first < LOC_VEC || first >= LOC_VEC + VECTORS * LOC_VEC_BYTES)
        return false;
    size_t reg = (size_t)(first - LOC_VEC) / LOC_VEC_BYTES;
    size_t from = (size_t)(first - LOC_VEC) % LOC_VEC_BYTES;
    if (from + count > VECTOR_KNOWN || r->xsave_bytes < XMM_AT + VECTORS * HALF ||
        (from + count > HALF && r->xsave_bytes < YMM_AT + VECTORS * HALF))
        return false;
    memcpy(vector, r->xsave + XMM_AT + HALF * reg, HALF);
    if (from + count > HALF)
        memcpy(vector + HALF, r->xsave + YMM_AT + HALF * reg, HALF);
    memcpy(out, vector + from, count);
    return true;
}
