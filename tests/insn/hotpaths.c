/* hotpaths.c - constructs that are hard on superblocks.
 *
 * A superblock compares the target of a return or an indirect jump in rcx and leaves rcx in memory
 * until somebody wants it; its ticks are counted late; what was predicted may be wrong. So:
 * transfers with several targets, uses of rcx of every kind right behind them, and faults that come
 * on some turns only. Which target or pointer a turn gets is read from the slot's table, without
 * flags.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "gen_int.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

static bool is_free(const struct gen *g, unsigned reg)
{
    return !(g->reserved >> reg & 1);
}

static unsigned free_except(struct gen *g, unsigned other)
{
    for (int i = 0; i < 8; i++) {
        unsigned reg = generic_free_reg(g);
        if (reg != other)
            return reg;
    }
    return NO_REG;
}

/* ---- what differs from turn to turn ---- */

/* op reg, [base + index * (1 << scale) + disp]; without index for NO_REG */
static void emit_access(struct gen *g, const uint8_t *op, size_t n, unsigned reg, unsigned base,
                        unsigned index, unsigned scale, uint32_t disp)
{
    uint8_t b[15];
    bool wide = n == 1 && op[0] == 0x8b;
    unsigned x = index == NO_REG ? 4 : index;
    size_t k = 0;
    b[k++] =
        (uint8_t)(0x40 | wide << 3 | reg >> 3 << 2 | (x >> 3 & (index != NO_REG)) << 1 | base >> 3);
    memcpy(b + k, op, n);
    k += n;
    b[k++] = (uint8_t)(0x84 | (reg & 7) << 3);
    b[k++] = (uint8_t)(scale << 6 | (x & 7) << 3 | (base & 7));
    memcpy(b + k, &disp, 4);
    emit(g, b, k + 4, false);
}

#define ACCESS(g, reg, base, index, scale, disp, ...)                                              \
    emit_access(g, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), reg,    \
                base, index, scale, disp)

/* The table goes to `base`, the turn's number to `reg`; no flag changes. */
static void next_step(struct gen *g, unsigned base, unsigned reg)
{
    EMIT_RIP(g, g->seq->slot + TABLE_OFF, NULL, 0, (uint8_t)(0x48 | base >> 3 << 2), 0x8d,
             (uint8_t)((base & 7) << 3 | 5));
    ACCESS(g, reg, base, NO_REG, 0, TABLE_STEP, 0x0f, 0xb6);
    ACCESS(g, reg, base, reg, 0, TABLE_NEXT, 0x0f, 0xb6);
    ACCESS(g, reg, base, NO_REG, 0, TABLE_STEP, 0x88);
}

/* The table holds an address of this program: no other instruction shall find it. */
static void forget_table(struct gen *g, unsigned base)
{
    emit_mov_imm(g, base, rng_below(g->r, 1000), false);
}

/* A pointer that is good on most turns. */
static unsigned load_pointer(struct gen *g)
{
    unsigned base = generic_free_reg(g), reg = free_except(g, base);
    if (base == NO_REG || reg == NO_REG)
        return NO_REG;
    next_step(g, base, reg);
    ACCESS(g, reg, base, reg, 3, TABLE_POINTERS, 0x8b);
    forget_table(g, base);
    return reg;
}

void hotpaths_fill_table(struct gen *g)
{
    uint8_t *table = g->seq->table;
    for (int i = 0; i < 16; i++) {
        unsigned fate = rng_below(g->r, g->faults ? 10 : 7);
        uint64_t base = rng_percent(g->r, 50) ? A_BASE : B_BASE;
        uint64_t at = base + DATA_RW + 0x400 + 64 * rng_below(g->r, 64) +
                      (rng_percent(g->r, 20) ? rng_below(g->r, 8) : 0);
        if (fate == 7)
            at = base + rng_below(g->r, PAGE - 128) + 64;
        else if (fate == 8)
            at = base + DATA_RO + 64 + rng_below(g->r, PAGE - 128);
        else if (fate == 9)
            at = rng_percent(g->r, 50) ? base + 0x100000 : rng_u64(g->r) | 0x8000000000000000u;
        memcpy(table + TABLE_POINTERS + 8 * i, &at, 8);
        table[TABLE_NEXT + i] =
            (uint8_t)(rng_percent(g->r, 70) ? (i + 1) & 15 : rng_below(g->r, 16));
        table[TABLE_PICK + i] = (uint8_t)(rng_percent(g->r, 60) ? 0 : rng_below(g->r, 4));
    }
}

/* ---- uses of rcx ---- */

/* op reg, rm with registers; `wide` sets REX.W */
static void emit_pair(struct gen *g, uint8_t prefix, bool wide, const uint8_t *op, size_t n,
                      unsigned reg, unsigned rm)
{
    uint8_t b[15];
    size_t k = 0;
    if (prefix)
        b[k++] = prefix;
    b[k++] = (uint8_t)(0x40 | wide << 3 | reg >> 3 << 2 | rm >> 3);
    memcpy(b + k, op, n);
    k += n;
    b[k++] = (uint8_t)(0xc0 | (reg & 7) << 3 | (rm & 7));
    emit(g, b, k, false);
}

/* VEX.LZ map 2 or 3: op reg, rm, vvvv in the encoding's order; all below 8 or not */
static void emit_vex(struct gen *g, unsigned map, unsigned pp, uint8_t op, unsigned reg,
                     unsigned vvvv, unsigned rm)
{
    EMIT(g, 0xc4, (uint8_t)((reg < 8) << 7 | 0x40 | (rm < 8) << 5 | map),
         (uint8_t)(0x80 | (~vvvv & 15) << 3 | pp), op, (uint8_t)(0xc0 | (reg & 7) << 3 | (rm & 7)));
}

#define PAIR(g, prefix, wide, reg, rm, ...)                                                        \
    emit_pair(g, prefix, wide, (const uint8_t[]){__VA_ARGS__},                                     \
              sizeof((const uint8_t[]){__VA_ARGS__}), reg, rm)

static void read_rcx(struct gen *g)
{
    unsigned a = free_except(g, RCX), b = rng_below(g->r, 16);
    bool wide = rng_percent(g->r, 60);
    if (a == NO_REG)
        return;
    switch (rng_below(g->r, g->keep_flags ? 8 : 17)) {
    case 0: /* lea a, [rcx + disp8] */
        EMIT(g, (uint8_t)(0x48 | a >> 3 << 2), 0x8d, (uint8_t)(0x41 | (a & 7) << 3), 0x7f);
        break;
    case 1:
        PAIR(g, 0, wide, a, RCX, 0x8b);
        break;
    case 2: /* movzx a, ch */
        if (a < 8)
            EMIT(g, 0x0f, 0xb6, (uint8_t)(0xc5 | a << 3));
        break;
    case 3: /* push rcx; pop a */
        EMIT(g, 0x51);
        EMIT(g, (uint8_t)(0x40 | a >> 3), (uint8_t)(0x58 | (a & 7)));
        break;
    case 4: /* shlx, sarx, shrx a, b, rcx */
        emit_vex(g, 2, 1 + rng_below(g->r, 3), 0xf7, a, RCX, b);
        break;
    case 5: /* movq xmm3, rcx */
        EMIT(g, 0x66, 0x48, 0x0f, 0x6e, 0xd9);
        break;
    case 6: /* crc32 */
        PAIR(g, 0xf2, wide, a, RCX, 0x0f, 0x38, 0xf1);
        break;
    case 7: /* cmov a, rcx */
        PAIR(g, 0, wide, a, RCX, 0x0f, (uint8_t)(0x40 | rng_below(g->r, 16)));
        break;
    case 8:
    case 9:
    case 10: /* rotate or shift by cl */
        PAIR(g, 0, wide, rng_below(g->r, 8), a, 0xd3);
        break;
    case 11: /* shld, shrd by cl */
        PAIR(g, 0, wide, b, a, 0x0f, rng_percent(g->r, 50) ? 0xa5 : 0xad);
        break;
    case 12: /* add or adc sbb and sub xor cmp */
        PAIR(g, 0, wide, a, RCX, (uint8_t)(rng_below(g->r, 8) << 3 | 3));
        break;
    case 13: /* bt, bts, btr, btc */
        PAIR(g, 0, wide, RCX, a, 0x0f, (uint8_t)(0xa3 | rng_below(g->r, 4) << 3));
        break;
    case 14: /* cmpxchg a, rcx */
        if (is_free(g, RAX))
            PAIR(g, 0, wide, RCX, a, 0x0f, 0xb1);
        break;
    case 15:
        PAIR(g, 0, wide, a, RCX, 0x0f, 0xaf);
        break;
    default: /* div rcx */
        if (is_free(g, RAX) && is_free(g, RDX) && g->faults)
            PAIR(g, 0, wide, 6, RCX, 0xf7);
    }
}

/* Instructions that write rcx and no flags, in whole or in part; register operands may be anything.
 */
static void write_rcx_quietly(struct gen *g)
{
    unsigned a = free_except(g, RCX), b = rng_below(g->r, 16), cc = rng_below(g->r, 16);
    bool wide = rng_percent(g->r, 50);
    uint8_t byte = (uint8_t)rng_u64(g->r);
    if (a == NO_REG)
        return;
    switch (rng_below(g->r, 23)) {
    case 0:
        EMIT(g, 0xb9, byte, 0, byte, 0x80); /* mov ecx, imm32 */
        break;
    case 1:
        EMIT(g, 0xb1, byte); /* mov cl */
        break;
    case 2:
        EMIT(g, 0xb5, byte); /* mov ch */
        break;
    case 3:
        EMIT(g, 0x66, 0xb9, byte, 0x80); /* mov cx */
        break;
    case 4:
        PAIR(g, 0, wide, RCX, b, 0x0f, (uint8_t)(0x40 | cc)); /* cmov */
        break;
    case 5:
        PAIR(g, 0x66, false, RCX, b, 0x0f, (uint8_t)(0x40 | cc));
        break;
    case 6: /* movzx, movsx */
        PAIR(g, 0, wide, RCX, b, 0x0f,
             ((const uint8_t[]){0xb6, 0xb7, 0xbe, 0xbf})[rng_below(g->r, 4)]);
        break;
    case 7:
        PAIR(g, 0, true, RCX, b, 0x63); /* movsxd */
        break;
    case 8:
        EMIT(g, 0x0f, (uint8_t)(0x90 | cc), 0xc1); /* setcc cl */
        break;
    case 9:
        EMIT(g, 0x0f, (uint8_t)(0x90 | cc), 0xc5); /* setcc ch */
        break;
    case 10:
        PAIR(g, 0, wide, RCX, a, 0x87); /* xchg */
        break;
    case 11: /* push b; pop rcx */
        EMIT(g, (uint8_t)(0x40 | b >> 3), (uint8_t)(0x50 | (b & 7)));
        EMIT(g, 0x59);
        break;
    case 12:
        PAIR(g, 0x66, wide, 2, RCX, 0x0f, 0x7e); /* movd ecx, xmm2 */
        break;
    case 13:
        EMIT(g, 0x0f, 0x50, 0xca); /* movmskps ecx, xmm2 */
        break;
    case 14:
        EMIT(g, 0x66, 0x0f, 0xc5, 0xca, byte); /* pextrw ecx, xmm2 */
        break;
    case 15: /* mulx */
        if (wide)
            emit_vex(g, 2, 3, 0xf6, RCX, a, b);
        else
            emit_vex(g, 2, 3, 0xf6, a, RCX, b);
        break;
    case 16: /* pdep, pext */
        emit_vex(g, 2, 2 + rng_below(g->r, 2), 0xf5, RCX, b, a);
        break;
    case 17: /* shlx, sarx, shrx */
        emit_vex(g, 2, 1 + rng_below(g->r, 3), 0xf7, RCX, a, b);
        break;
    case 18:
        PAIR(g, 0, wide, 2, RCX, 0xf7); /* not */
        break;
    case 19:
        EMIT(g, (uint8_t)(0x40 | wide << 3), 0x0f, 0xc9); /* bswap */
        break;
    case 21: /* rdsspd, rdsspq: no-ops without a shadow stack */
        EMIT(g, 0xf3, (uint8_t)(0x40 | wide << 3), 0x0f, 0x1e, 0xc9);
        break;
    case 20: /* lea rcx, [rcx + b] */
        if (b != 4)
            EMIT(g, (uint8_t)(0x48 | b >> 3 << 1), 0x8d, 0x0c, (uint8_t)((b & 7) << 3 | 1));
        break;
    default:
        PAIR(g, 0, true, RCX, b, 0x8b);
    }
}

static void write_rcx(struct gen *g)
{
    unsigned a = free_except(g, RCX), b = rng_below(g->r, 16);
    bool wide = rng_percent(g->r, 50);
    if (g->keep_flags || a == NO_REG || rng_percent(g->r, 50)) {
        write_rcx_quietly(g);
        return;
    }
    switch (rng_below(g->r, 11)) {
    case 0:
        PAIR(g, 0, wide, RCX, RCX, rng_percent(g->r, 50) ? 0x33 : 0x2b); /* xor, sub */
        break;
    case 1:
        PAIR(g, 0, wide, RCX, RCX, 0x1b); /* sbb */
        break;
    case 2: /* bsf, bsr, tzcnt, lzcnt, of something that is zero now and then */
        if (rng_percent(g->r, 40))
            EMIT(g, (uint8_t)(0x40 | (a >> 3)), 0xc7, (uint8_t)(0xc0 | (a & 7)), 0, 0, 0, 0);
        PAIR(g, rng_percent(g->r, 50) ? 0xf3 : 0, wide, RCX, a, 0x0f,
             (uint8_t)(0xbc | rng_below(g->r, 2)));
        break;
    case 3:
        PAIR(g, 0xf3, wide, RCX, b, 0x0f, 0xb8); /* popcnt */
        break;
    case 4:
        PAIR(g, 0, wide, RCX, a, 0x0f, 0xc1); /* xadd a, rcx */
        break;
    case 5: /* pcmpestri; its lengths are in eax and edx */
        EMIT(g, 0x66, 0x0f, 0x3a, 0x61, 0xd3, (uint8_t)(rng_u64(g->r) & 0x7f));
        break;
    case 6:
        EMIT(g, 0x66, 0x0f, 0x3a, 0x63, 0xd3, (uint8_t)(rng_u64(g->r) & 0x7f)); /* pcmpistri */
        break;
    case 7: /* inc, dec, neg */
        PAIR(g, 0, wide, rng_below(g->r, 2), RCX, 0xff);
        break;
    case 8:
        PAIR(g, 0, wide, RCX, b, (uint8_t)(rng_below(g->r, 7) << 3 | 3));
        break;
    case 9: /* andn, bextr */
        if (wide)
            emit_vex(g, 2, 0, 0xf2, RCX, a, b);
        else
            emit_vex(g, 2, 0, 0xf7, RCX, a, b);
        break;
    default:
        PAIR(g, 0, wide, 4 + (unsigned)wide, RCX, 0xd3); /* shl, shr rcx, cl */
    }
}

/* Through a pointer that may be bad, with rcx as what is loaded, stored or replaced. */
static void rcx_and_memory(struct gen *g)
{
    unsigned p = load_pointer(g);
    bool wide = rng_percent(g->r, 60);
    if (p == NO_REG || p == RCX)
        return;
    if (!is_free(g, RCX)) {
        ACCESS(g, RCX, p, NO_REG, 0, 8, 0x89);
        return;
    }
    switch (rng_below(g->r, g->keep_flags ? 7 : 11)) {
    case 0:
    case 1:
        ACCESS(g, RCX, p, NO_REG, 0, 16, 0x8b);
        break;
    case 2:
        ACCESS(g, RCX, p, NO_REG, 0, 3, 0x0f, wide ? 0xb6 : 0xbf);
        break;
    case 3:
        ACCESS(g, RCX, p, NO_REG, 0, 24, 0x8a); /* mov cl */
        break;
    case 4:
        ACCESS(g, RCX, p, NO_REG, 0, 0, 0x0f, (uint8_t)(0x40 | rng_below(g->r, 16)));
        break;
    case 5:
        ACCESS(g, RCX, p, NO_REG, 0, 0, 0x87); /* xchg */
        break;
    case 6: /* pop rcx from there, by hand */
        ACCESS(g, 6, p, NO_REG, 0, 8, 0xff);
        EMIT(g, 0x59);
        break;
    case 7:
        ACCESS(g, RCX, p, NO_REG, 0, 8, 0x0f, 0xbc); /* bsf */
        break;
    case 8:
        ACCESS(g, rng_below(g->r, 8), p, NO_REG, 0, 8, 0xd3); /* shift by cl */
        break;
    case 9:
        ACCESS(g, RCX, p, NO_REG, 0, 8, 0x0f, 0xc1); /* xadd */
        break;
    default:
        ACCESS(g, RCX, p, NO_REG, 0, 8, (uint8_t)(rng_below(g->r, 8) << 3 | rng_below(g->r, 4)));
    }
}

/* rep with few turns; movsb reads and writes where the pointer shows. */
static void rep_string(struct gen *g)
{
    if (!is_free(g, RCX) || !is_free(g, RDI) || !is_free(g, RSI) || !is_free(g, RAX))
        return;
    unsigned p = load_pointer(g);
    if (p == NO_REG)
        return;
    PAIR(g, 0, true, RDI, p, 0x8b);
    emit_mov_imm(g, RSI, A_BASE + DATA_RW + 0x200 + rng_below(g->r, 0x400), false);
    emit_mov_imm(g, RCX, rng_below(g->r, 6), false);
    EMIT(g, 0xeb, 0); /* a block of its own */
    if (g->keep_flags || rng_percent(g->r, 60))
        EMIT(g, 0xf3, rng_percent(g->r, 50) ? 0xa4 : 0xaa);
    else
        EMIT(g, rng_percent(g->r, 50) ? 0xf3 : 0xf2, rng_percent(g->r, 50) ? 0xa6 : 0xae);
}

static void cmpxchg16b(struct gen *g)
{
    unsigned p;
    if (g->keep_flags || !is_free(g, RAX) || !is_free(g, RDX))
        return;
    if ((p = load_pointer(g)) != NO_REG && p != RAX && p != RDX && p != RCX && p != RBX)
        EMIT(g, 0xf0, (uint8_t)(0x48 | p >> 3), 0x0f, 0xc7, 0x8c, (uint8_t)(0x20 | (p & 7)), 0, 0,
             0, 0);
}

/* ---- transfers that are predicted ---- */

static uint16_t skip(struct gen *g)
{
    emit(g, (const uint8_t[]){0xe9, 0, 0, 0, 0}, 5, true);
    return (uint16_t)(g->seq->size - 4);
}

static void skip_to_here(struct gen *g, uint16_t at)
{
    emit_patch(g, at, g->seq->size - at - 4u, 4);
}

static void lea_of(struct gen *g, unsigned reg, uint64_t target)
{
    EMIT_RIP(g, target, NULL, 0, (uint8_t)(0x48 | reg >> 3 << 2), 0x8d,
             (uint8_t)((reg & 7) << 3 | 5));
}

static void indirect(struct gen *g, unsigned ext, unsigned reg)
{
    EMIT(g, (uint8_t)(0x40 | reg >> 3), 0xff, (uint8_t)(0xc0 | ext << 3 | (reg & 7)));
}

/* To the next instruction, by way of a transfer that a superblock predicts. */
static void predicted(struct gen *g)
{
    unsigned reg = is_free(g, RCX) && rng_percent(g->r, 30) ? RCX : generic_free_reg(g);
    uint8_t pops = (uint8_t)(8 * rng_below(g->r, 4));
    uint16_t over;
    uint64_t function;
    switch (rng_below(g->r, reg == NO_REG ? 2 : 5)) {
    case 0: /* call a function that only returns, with and without popping */
    case 1:
        over = skip(g);
        function = emit_here(g);
        emit(g, (const uint8_t[]){0xc2, pops, 0}, 3, true);
        skip_to_here(g, over);
        EMIT(g, 0x48, 0x8d, 0x64, 0x24, (uint8_t)-pops);
        EMIT_RIP(g, function, NULL, 0, 0xe8);
        break;
    case 2: /* the same through a register */
        over = skip(g);
        function = emit_here(g);
        emit(g, (const uint8_t[]){0xc3}, 1, true);
        skip_to_here(g, over);
        lea_of(g, reg, function);
        indirect(g, 2, reg);
        break;
    case 3: /* jump through a register */
        lea_of(g, reg, emit_here(g) + 7 + 3);
        indirect(g, 4, reg);
        break;
    default: /* push and return */
        lea_of(g, reg, emit_here(g) + 7 + 3 + 1);
        indirect(g, 6, reg);
        EMIT(g, 0xc3);
    }
}

static void use_behind_transfer(struct gen *g)
{
    emit_unit(g);
    predicted(g);
    for (unsigned n = 1 + rng_below(g->r, 4); n; n--) {
        unsigned dice = rng_below(g->r, 100);
        if (rng_percent(g->r, 50))
            emit_unit(g);
        if (dice < 35 || !is_free(g, RCX))
            read_rcx(g);
        else if (dice < 70)
            write_rcx(g);
        else if (dice < 85)
            rcx_and_memory(g);
        else if (dice < 92)
            rep_string(g);
        else if (dice < 96)
            cmpxchg16b(g);
        else
            predicted(g);
    }
}

/* Four labels in a row, or -1. */
static int four_labels(struct gen *g)
{
    int first = emit_new_label(g);
    for (int i = 1; i < 4; i++)
        if (emit_new_label(g) < 0)
            return -1;
    return first;
}

/* reg = one of the four */
static bool pick_label(struct gen *g, int label, unsigned *out)
{
    unsigned base = generic_free_reg(g), reg = free_except(g, base);
    if (is_free(g, RCX) && base != RCX && rng_percent(g->r, 30))
        reg = RCX;
    if (base == NO_REG || reg == NO_REG)
        return false;
    next_step(g, base, reg);
    ACCESS(g, reg, base, reg, 0, TABLE_PICK, 0x0f, 0xb6);
    ACCESS(g, reg, base, reg, 3, TABLE_LABELS + 8 * (uint32_t)label, 0x8b);
    forget_table(g, base);
    *out = reg;
    return true;
}

static void short_body(struct gen *g)
{
    if (rng_percent(g->r, 50))
        use_behind_transfer(g);
    else
        gen_block(g, 1 + rng_below(g->r, 2));
}

/* One of several functions is called, or one of several places returned or jumped to. */
static void one_of_several(struct gen *g)
{
    unsigned pops = rng_percent(g->r, 30) ? 8 * rng_below(g->r, 3) : 0,
             cases = 2 + rng_below(g->r, 3);
    int label = gen_depth(g) > 2 ? -1 : four_labels(g);
    bool call = rng_percent(g->r, 50), outer = g->in_func;
    uint16_t end[4], over;
    unsigned reg;
    if (label < 0 || generic_free_reg(g) == NO_REG)
        return;
    emit_unit(g);
    over = skip(g);
    g->in_func |= call;
    for (unsigned i = 0; i < cases; i++) {
        emit_set_label(g, label + (int)i, emit_here(g));
        short_body(g);
        emit_unit(g);
        if (call)
            emit(g, (const uint8_t[]){0xc2, (uint8_t)pops, 0}, 3, true);
        else
            end[i] = skip(g);
    }
    for (unsigned i = cases; i < 4; i++)
        memcpy(g->seq->table + TABLE_LABELS + 8 * (label + (int)i),
               g->seq->table + TABLE_LABELS + 8 * label, 8);
    g->in_func = outer;
    skip_to_here(g, over);
    for (unsigned turns = 1 + rng_below(g->r, 2); turns && (call || turns == 1); turns--) {
        emit_unit(g);
        if (!pick_label(g, label, &reg))
            break;
        if (call) {
            EMIT(g, 0x48, 0x8d, 0x64, 0x24, (uint8_t)-pops);
            indirect(g, 2, reg);
        } else if (rng_percent(g->r, 40)) {
            indirect(g, 6, reg);
            EMIT(g, 0xc3);
        } else {
            indirect(g, 4, reg);
        }
        use_behind_transfer(g);
    }
    for (unsigned i = 0; i < cases && !call; i++)
        skip_to_here(g, end[i]);
}

/* The stack is elsewhere for a moment, and perhaps nowhere: pushes, calls and returns that fault.
 */
static void other_stack(struct gen *g)
{
    unsigned keep = generic_free_reg(g), p;
    uint16_t saved = g->reserved;
    if (keep == NO_REG)
        return;
    emit_unit(g);
    emit(g, (const uint8_t[]){(uint8_t)(0x48 | keep >> 3), 0x89, (uint8_t)(0xe0 | (keep & 7))}, 3,
         true);
    g->reserved |= (uint16_t)(1u << keep);
    if ((p = load_pointer(g)) != NO_REG) {
        PAIR(g, 0, true, RSP, p, 0x8b);
        predicted(g);
        if (rng_percent(g->r, 50))
            read_rcx(g);
    }
    emit_unit(g);
    emit(
        g,
        (const uint8_t[]){(uint8_t)(0x48 | keep >> 3), 0x8b, (uint8_t)(0xc0 | 4 << 3 | (keep & 7))},
        3, true);
    g->reserved = saved;
}

/* A division, by zero on some turns. */
static void division(struct gen *g)
{
    unsigned base = generic_free_reg(g), reg = free_except(g, base);
    if (!g->faults || g->keep_flags || !is_free(g, RAX) || !is_free(g, RDX) || base == NO_REG ||
        reg == NO_REG || reg == RAX || reg == RDX)
        return;
    emit_unit(g);
    next_step(g, base, reg);
    forget_table(g, base);
    EMIT(g, 0x31, 0xd2); /* xor edx, edx */
    if (rng_percent(g->r, 50))
        predicted(g);
    PAIR(g, 0, rng_percent(g->r, 50), 6, reg, 0xf7);
}

static void memory_access(struct gen *g)
{
    emit_unit(g);
    if (rng_percent(g->r, 60))
        predicted(g);
    rcx_and_memory(g);
}

/* A branch that is taken on some turns, with flags that were made before a transfer. */
static void side_exit(struct gen *g)
{
    unsigned base = generic_free_reg(g), reg = free_except(g, base);
    if (base == NO_REG || reg == NO_REG)
        return;
    emit_unit(g);
    next_step(g, base, reg);
    forget_table(g, base);
    if (!g->keep_flags) /* cmp reg, imm8 */
        EMIT(g, (uint8_t)(0x40 | reg >> 3), 0x83, (uint8_t)(0xf8 | (reg & 7)),
             (uint8_t)(rng_percent(g->r, 50) ? 0 : rng_below(g->r, 16)));
    if (rng_percent(g->r, 70))
        predicted(g);
    emit(g, (const uint8_t[]){0x0f, (uint8_t)(0x80 | rng_below(g->r, 16)), 0, 0, 0, 0}, 6, true);
    uint16_t over = (uint16_t)(g->seq->size - 4);
    if (is_free(g, RCX) && rng_percent(g->r, 70))
        write_rcx_quietly(g);
    else
        read_rcx(g);
    if (rng_percent(g->r, 30))
        predicted(g);
    skip_to_here(g, over);
    if (rng_percent(g->r, 50))
        read_rcx(g);
}

void hotpaths_item(struct gen *g)
{
    unsigned dice = rng_below(g->r, 100);
    if (dice < 40)
        use_behind_transfer(g);
    else if (dice < 55)
        one_of_several(g);
    else if (dice < 75)
        side_exit(g);
    else if (dice < 87)
        memory_access(g);
    else if (dice < 94)
        other_stack(g);
    else
        division(g);
}
