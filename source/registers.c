/* registers.c - registers by name, by DWARF's number, and their values in a replay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source/registers.h"

#include <string.h>
#include <strings.h>

#include "base/xsave.h"

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
    *first = LOC_CF;
    *count = LOC_DF - LOC_CF;
    return strcasecmp(name, "flags") == 0 || strcasecmp(name, "eflags") == 0;
}

/* ---- DWARF's numbers: general registers in an order of their own, then the others ---- */

enum { VECTOR_0 = 17, VECTOR_16 = 67, MASK_0 = 118, MASKS = 8, LOW_VECTORS = 16 };

bool registers_dwarf(unsigned number, unsigned *first, unsigned *most)
{
    static const uint8_t gpr[] = {RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP};
    *most = LOC_VEC_BYTES;
    if (number < 16) {
        *first = loc_gpr(number < 8 ? gpr[number] : number);
        *most = LOC_GPR_BYTES;
    } else if (number >= VECTOR_0 && number < VECTOR_0 + LOW_VECTORS) {
        *first = loc_vec(number - VECTOR_0);
    } else if (number >= VECTOR_16 && number < VECTOR_16 + LOC_VECS - LOW_VECTORS) {
        *first = loc_vec(number - VECTOR_16 + LOW_VECTORS);
    } else if (number >= MASK_0 && number < MASK_0 + MASKS) {
        *first = loc_mask(number - MASK_0);
        *most = LOC_MASK_BYTES;
    } else {
        return false;
    }
    return true;
}

int registers_number(uint64_t loc)
{
    static const uint8_t number[] = {0, 2, 1, 3, 7, 6, 4, 5};
    if (loc < LOC_VEC) {
        unsigned r = (unsigned)(loc - LOC_GPR) / LOC_GPR_BYTES;
        return r < 8 ? number[r] : (int)r;
    }
    if (loc < LOC_MASK) {
        unsigned r = (unsigned)(loc - LOC_VEC) / LOC_VEC_BYTES;
        return (int)(r < LOW_VECTORS ? VECTOR_0 + r : VECTOR_16 + r - LOW_VECTORS);
    }
    if (loc < LOC_X87)
        return MASK_0 + (int)(loc - LOC_MASK) / LOC_MASK_BYTES;
    return -1;
}

/* ---- values ---- */

/* Vector and mask registers have their bytes in several parts of the area. */
static const struct part {
    unsigned part, bytes; /* of all of it */
    unsigned at;          /* 0: for the CPU to say */
    unsigned first, end;  /* the registers' locations */
    unsigned step;        /* from register to register */
    unsigned from, to;    /* its bytes of each */
} parts[] = {
    {XSAVE_SSE, 256, XSAVE_XMM_AT, LOC_VEC, LOC_VEC + 16 * LOC_VEC_BYTES, LOC_VEC_BYTES, 0, 16},
    {XSAVE_AVX, 256, 0, LOC_VEC, LOC_VEC + 16 * LOC_VEC_BYTES, LOC_VEC_BYTES, 16, 32},
    {XSAVE_ZMM_HIGH, 512, 0, LOC_VEC, LOC_VEC + 16 * LOC_VEC_BYTES, LOC_VEC_BYTES, 32, 64},
    {XSAVE_HIGH16, 1024, 0, LOC_VEC + 16 * LOC_VEC_BYTES, LOC_MASK, LOC_VEC_BYTES, 0, 64},
    {XSAVE_OPMASK, 64, 0, LOC_MASK, LOC_X87, LOC_MASK_BYTES, 0, LOC_MASK_BYTES},
};

/* Copies what one part has of the locations, and returns how many bytes that is. */
static uint64_t take_part(const struct program_registers *r, const struct part *p, uint64_t first,
                          uint64_t count, uint8_t *out)
{
    if (first < p->first || first >= p->end)
        return 0;
    uint64_t reg = (first - p->first) / p->step, begin = (first - p->first) % p->step;
    uint64_t from = begin > p->from ? begin : p->from;
    uint64_t to = begin + count < p->to ? begin + count : p->to;
    uint32_t at = p->at ? p->at : xsave_offset(p->part, r->xsave_bytes, p->bytes);
    if (from >= to || !at || at + p->bytes > r->xsave_bytes)
        return 0;
    uint64_t there = ~0ull;
    if (r->xsave_bytes >= XSAVE_HEADER_END)
        memcpy(&there, r->xsave + XSAVE_PARTS_AT, sizeof there);
    if (there >> p->part & 1)
        memcpy(out + (from - begin), r->xsave + at + reg * (p->to - p->from) + (from - p->from),
               to - from);
    else
        memset(out + (from - begin), 0, to - from);
    return to - from;
}

bool registers_value(const struct program_registers *r, uint64_t first, uint64_t count, void *out)
{
    uint64_t taken = 0;
    if (first + count <= LOC_VEC) {
        memcpy(out, (const uint8_t *)r->gpr + (first - LOC_GPR), count);
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        taken += take_part(r, &parts[i], first, count, out);
    return count && taken == count;
}
