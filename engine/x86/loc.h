/* loc.h - numbers for the places in a thread that hold values: register bytes and flag bits.
 *
 * SPDX-License-Identifier: MIT
 *
 * Def/use sets name places by these numbers. A register is a run of bytes, the lowest first, so
 * that al, ah and eax are parts of rax, and xmm3 is the low quarter of zmm3. x87 registers are the
 * eight physical ones, not counted from TOP; MMX registers are their low 8 bytes. The instruction
 * pointer is no location.
 */
#ifndef ENGINE_X86_LOC_H
#define ENGINE_X86_LOC_H

#include "engine/rt/types.h"

enum {
    LOC_GPR_BYTES = 8,
    LOC_VEC_BYTES = 64,
    LOC_VECS = 32,
    LOC_MASK_BYTES = 8,
    LOC_X87_BYTES = 10,
};

/* Bases; one number for each byte (or bit, or field) behind them. */
enum loc {
    LOC_GPR = 0,                                   /* rax, rcx, ... in the order of enum gpr */
    LOC_VEC = LOC_GPR + GPR_COUNT * LOC_GPR_BYTES, /* zmm0 to zmm31 */
    LOC_MASK = LOC_VEC + LOC_VECS * LOC_VEC_BYTES, /* k0 to k7 */
    LOC_X87 = LOC_MASK + 8 * LOC_MASK_BYTES,       /* physical, 10 bytes each */
    LOC_X87_TAG = LOC_X87 + 8 * LOC_X87_BYTES,     /* empty or not, one for each of them */
    LOC_CF = LOC_X87_TAG + 8,
    LOC_PF,
    LOC_AF,
    LOC_ZF,
    LOC_SF,
    LOC_OF,
    LOC_DF,
    LOC_FLAGS_REST, /* TF, IF, IOPL, NT, AC, ID, ... */
    LOC_C0,         /* condition codes of the x87 status word */
    LOC_C1,
    LOC_C2,
    LOC_C3,
    LOC_X87_TOP,
    LOC_X87_CONTROL,
    LOC_X87_STATUS, /* exceptions of the status word; arithmetic is not said to set them */
    LOC_MXCSR_CONTROL,
    LOC_MXCSR_STATUS, /* its exception flags; arithmetic is not said to set them */
    LOC_FS_BASE,
    LOC_GS_BASE,
    LOC_COUNT
};
_Static_assert(LOC_COUNT < 4096, "numbers have 12 bits (struct loc_span)");

/* Neighbouring locations. */
struct loc_span {
    uint32_t first : 12;
    uint32_t count : 12;
    uint32_t kind : 8; /* enum defuse_kind; 0 for definitions */
};

static inline unsigned loc_gpr(unsigned reg)
{
    return LOC_GPR + reg * LOC_GPR_BYTES;
}

static inline unsigned loc_vec(unsigned reg)
{
    return LOC_VEC + reg * LOC_VEC_BYTES;
}

static inline unsigned loc_mask(unsigned reg)
{
    return LOC_MASK + reg * LOC_MASK_BYTES;
}

/* Physical. */
static inline unsigned loc_x87(unsigned reg)
{
    return LOC_X87 + reg * LOC_X87_BYTES;
}

/* A set of locations. */
struct loc_set {
    uint64_t bits[(LOC_COUNT + 63) / 64];
};
void loc_set_add_many(struct loc_set *set, unsigned first, unsigned count);
void loc_set_remove_many(struct loc_set *set, unsigned first, unsigned count);

/* Nearly all runs are of one word. */
static inline void loc_set_add(struct loc_set *set, unsigned first, unsigned count)
{
    if (first % 64 + count <= 64 && count)
        set->bits[first / 64] |= ~0ull >> (64 - count) << first % 64;
    else
        loc_set_add_many(set, first, count);
}

static inline void loc_set_remove(struct loc_set *set, unsigned first, unsigned count)
{
    if (first % 64 + count <= 64 && count)
        set->bits[first / 64] &= ~(~0ull >> (64 - count) << first % 64);
    else
        loc_set_remove_many(set, first, count);
}

static inline bool loc_set_has(const struct loc_set *set, unsigned loc)
{
    return set->bits[loc / 64] >> loc % 64 & 1;
}

/* The first run at or behind `from`; count 0: none. */
struct loc_span loc_set_next(const struct loc_set *set, unsigned from);

/* The first part of a span that is in one register, for people: "eax", "ah", "r8", "ymm3[16..31]",
 * "CF". Returns how many locations of the span it names; *out is cut at `size`. */
unsigned loc_name(struct loc_span span, char *out, size_t size);

#endif
