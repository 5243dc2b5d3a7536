/* constructs.c - control flow and other patterns that single random instructions do not make.
 *
 * Each construct is one item of its block. Branch targets are later items of the same block, so
 * every path through a block ends; loops count down in a reserved register or in the slot's fuel
 * word.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "gen_int.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

static unsigned later_item(struct gen *g)
{
    struct block *b = g->block;
    unsigned left = b->count - b->current; /* at least 1 */
    unsigned step = 1 + rng_below(g->r, left < 4 ? left : 4);
    return b->current + (step > left ? left : step);
}

static uint64_t label_addr(const struct gen *g, int label)
{
    return g->seq->slot + TABLE_OFF + TABLE_LABELS + 8 * (uint64_t)label;
}

/* Prefixes that a near branch ignores. */
static size_t branch_prefixes(struct gen *g, uint8_t *out)
{
    static const uint8_t ignored[] = {0x2e, 0x3e, 0xf2, 0x48, 0x40, 0x36};
    if (!rng_percent(g->r, 12))
        return 0;
    out[0] = ignored[rng_below(g->r, sizeof ignored)];
    return 1;
}

static void branch(struct gen *g, const uint8_t *opcode, size_t n, unsigned rel_size,
                   unsigned target)
{
    uint8_t b[15] = {0};
    size_t size = branch_prefixes(g, b);
    memcpy(b + size, opcode, n);
    size += n + rel_size;
    emit(g, b, size, false);
    emit_fixup(g, rel_size == 1 ? FIX_REL8 : FIX_REL32, (uint16_t)(g->seq->size - rel_size),
               target);
}

#define BRANCH(g, rel_size, target, ...)                                                           \
    branch(g, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), rel_size,    \
           target)

/* A branch inside one construct, patched by patch_local() when its target is reached. */
static uint16_t local_jump(struct gen *g, const uint8_t *opcode, size_t n, unsigned rel_size)
{
    uint8_t b[15] = {0};
    memcpy(b, opcode, n);
    emit(g, b, n + rel_size, true);
    return (uint16_t)(g->seq->size - rel_size);
}

static void patch_local(struct gen *g, uint16_t at, unsigned rel_size)
{
    emit_patch(g, at, g->seq->size - at - rel_size, rel_size);
}

static void jcc_forward(struct gen *g)
{
    unsigned cc = rng_below(g->r, 16), target = later_item(g);
    emit_unit(g);
    if (rng_percent(g->r, 50))
        BRANCH(g, 1, target, (uint8_t)(0x70 | cc));
    else
        BRANCH(g, 4, target, 0x0f, (uint8_t)(0x80 | cc));
}

static void jmp_forward(struct gen *g)
{
    unsigned target = later_item(g);
    emit_unit(g);
    if (rng_percent(g->r, 50))
        BRANCH(g, 1, target, 0xeb);
    else
        BRANCH(g, 4, target, 0xe9);
}

/* jrcxz, jecxz, loop, loope, loopne; forward only. */
static void rcx_branch_forward(struct gen *g)
{
    unsigned op = 0xe0 | rng_below(g->r, 4);
    bool narrow = g->opt->features & FEATURE_ADDR32 && rng_percent(g->r, 30);
    if (op != 0xe3 && g->reserved >> RCX & 1)
        op = 0xe3;
    emit_unit(g);
    if (!(g->reserved >> RCX & 1) && rng_percent(g->r, 60))
        emit_mov_imm(g, RCX, rng_below(g->r, 3) | (narrow ? rng_u64(g->r) << 32 : 0), false);
    if (narrow)
        BRANCH(g, 1, later_item(g), 0x67, (uint8_t)op);
    else
        BRANCH(g, 1, later_item(g), (uint8_t)op);
}

/* Load an item's address into a register: lea or mov. */
static void load_item_addr(struct gen *g, unsigned reg, unsigned target)
{
    unsigned r = reg >> 3, low = reg & 7;
    if (rng_percent(g->r, 50)) {
        EMIT(g, (uint8_t)(0x48 | r << 2), 0x8d, (uint8_t)(low << 3 | 5), 0, 0, 0, 0);
        emit_fixup(g, FIX_REL32, (uint16_t)(g->seq->size - 4), target);
    } else {
        EMIT(g, (uint8_t)(0x48 | r), (uint8_t)(0xb8 | low), 0, 0, 0, 0, 0, 0, 0, 0);
        emit_fixup(g, FIX_ABS64, (uint16_t)(g->seq->size - 8), target);
    }
}

/* jmp/call through a memory operand; `ext` is ModRM.reg: 2 call, 4 jmp, 6 push. */
static void via_memory(struct gen *g, unsigned ext, uint64_t at)
{
    unsigned reg = generic_free_reg(g);
    uint32_t disp;
    switch (rng_below(g->r, 3)) {
    case 0:
        if (at < 0x7fffffff) {
            uint8_t b[7] = {0xff, (uint8_t)(ext << 3 | 4), 0x25};
            disp = (uint32_t)at;
            memcpy(b + 3, &disp, 4);
            emit(g, b, 7, false);
            return;
        } /* fall through */
    case 1:
        if (reg != NO_REG && (reg & 7) != 4) {
            int8_t small = (int8_t)rng_u64(g->r);
            emit_mov_imm(g, reg, at - (uint64_t)(int64_t)small, false);
            if (reg >= 8)
                EMIT(g, 0x41, 0xff, (uint8_t)(0x40 | ext << 3 | (reg & 7)), (uint8_t)small);
            else
                EMIT(g, 0xff, (uint8_t)(0x40 | ext << 3 | reg), (uint8_t)small);
            return;
        } /* fall through */
    default:
        EMIT_RIP(g, at, NULL, 0, 0xff, (uint8_t)(ext << 3 | 5));
    }
}

static void via_register(struct gen *g, unsigned ext, unsigned reg)
{
    if (reg >= 8)
        EMIT(g, 0x41, 0xff, (uint8_t)(0xc0 | ext << 3 | (reg & 7)));
    else
        EMIT(g, 0xff, (uint8_t)(0xc0 | ext << 3 | reg));
}

static void indirect_forward(struct gen *g)
{
    unsigned target = later_item(g), reg = generic_free_reg(g);
    unsigned ext = !g->in_func && rng_percent(g->r, 35) ? 2 : 4;
    int label = rng_percent(g->r, 50) ? emit_new_label(g) : -1;

    if (label < 0 && reg == NO_REG)
        return;
    emit_unit(g);
    if (label >= 0) {
        emit_fixup(g, FIX_TABLE, (uint16_t)(TABLE_LABELS + 8 * label), target);
        via_memory(g, ext, label_addr(g, label));
    } else {
        load_item_addr(g, reg, target);
        via_register(g, ext, reg);
    }
}

/* The return address stays on the stack. */
static void call_forward(struct gen *g)
{
    if (g->in_func) {
        jmp_forward(g);
        return;
    }
    emit_unit(g);
    BRANCH(g, 4, later_item(g), 0xe8);
}

static void emit_ret(struct gen *g, unsigned pop_bytes, bool structural)
{
    if (pop_bytes)
        emit(g, (const uint8_t[]){0xc2, (uint8_t)pop_bytes, 0}, 3, structural);
    else if (rng_percent(g->r, 25))
        emit(g, (const uint8_t[]){rng_percent(g->r, 50) ? 0xf3 : 0xf2, 0xc3}, 2, structural);
    else
        emit(g, (const uint8_t[]){0xc3}, 1, structural);
}

static void ret_forward(struct gen *g)
{
    unsigned target = later_item(g), reg = generic_free_reg(g);
    int label = rng_percent(g->r, 50) ? emit_new_label(g) : -1;

    if (label < 0 && reg == NO_REG)
        return;
    emit_unit(g);
    if (label >= 0) {
        emit_fixup(g, FIX_TABLE, (uint16_t)(TABLE_LABELS + 8 * label), target);
        via_memory(g, 6, label_addr(g, label));
    } else {
        load_item_addr(g, reg, target);
        via_register(g, 6, reg);
    }
    emit_ret(g, !g->in_func && rng_percent(g->r, 20) ? 8 * rng_below(g->r, 5) : 0, false);
}

enum loop_kind { LOOP_LOOP, LOOP_DEC_JNZ, LOOP_LEA_JRCXZ, LOOP_FUEL, LOOP_KINDS };

static void close_loop(struct gen *g, enum loop_kind kind, unsigned reg, uint16_t top)
{
    unsigned rex = 0x48 | reg >> 3;
    int64_t back = top - (int64_t)g->seq->size;
    int32_t rel;

    emit_unit(g);
    switch (kind) {
    case LOOP_LOOP:
        if (back - 2 >= -128) {
            EMIT(g, 0xe2, (uint8_t)(back - 2));
            break;
        }                /* fall through */
    case LOOP_LEA_JRCXZ: /* the flags live across the back edge */
        EMIT_STRUCTURAL(g, 0x48, 0x8d, 0x49, 0xff);
        EMIT_STRUCTURAL(g, 0xe3, 5);
        rel = (int32_t)(back - 11);
        EMIT(g, 0xe9, (uint8_t)rel, (uint8_t)(rel >> 8), (uint8_t)(rel >> 16),
             (uint8_t)(rel >> 24));
        break;
    case LOOP_FUEL: {
        uint8_t one = 1;
        EMIT_RIP(g, g->seq->slot + TABLE_OFF + TABLE_FUEL, &one, 1, 0x83, 0x2d);
        rel = (int32_t)(top - (int64_t)g->seq->size - 6);
        EMIT(g, 0x0f, 0x87, (uint8_t)rel, (uint8_t)(rel >> 8), (uint8_t)(rel >> 16),
             (uint8_t)(rel >> 24));
        g->seq->insns[g->seq->insn_count - 2].structural = true;
        break;
    }
    default:
        EMIT_STRUCTURAL(g, (uint8_t)rex, 0xff, (uint8_t)(0xc8 | (reg & 7)));
        rel = (int32_t)(back - 3 - 6);
        EMIT(g, 0x0f, 0x85, (uint8_t)rel, (uint8_t)(rel >> 8), (uint8_t)(rel >> 16),
             (uint8_t)(rel >> 24));
    }
}

unsigned gen_depth(const struct gen *g)
{
    unsigned depth = 0;
    for (const struct block *b = g->block; b; b = b->outer)
        depth++;
    return depth;
}

/* Fuel is shared: an inner loop that burns it only makes the outer one shorter, but setting it
 * inside a fuel loop would make that endless, so it is set at depth 1 only. */
static void counted_loop(struct gen *g)
{
    unsigned most = g->opt->loops ? 160 >> 2 * gen_depth(g) : 0;
    enum loop_kind kind = (enum loop_kind)rng_below(g->r, LOOP_KINDS);
    unsigned reg = kind == LOOP_DEC_JNZ ? generic_free_reg(g) : RCX;
    uint16_t saved = g->reserved;

    if (gen_depth(g) > 3)
        return;
    if (kind == LOOP_FUEL && gen_depth(g) > 1)
        kind = LOOP_LEA_JRCXZ;
    if (kind != LOOP_FUEL && (reg == NO_REG || g->reserved >> reg & 1))
        return;
    emit_unit(g);
    if (kind == LOOP_FUEL) {
        uint8_t fuel[4] = {(uint8_t)(1 + rng_below(g->r, 5 + most))};
        EMIT_RIP(g, g->seq->slot + TABLE_OFF + TABLE_FUEL, fuel, 4, 0xc7, 0x05);
        g->seq->insns[g->seq->insn_count - 1].structural = true;
    } else {
        emit_mov_imm(g, reg, 1 + rng_below(g->r, (gen_depth(g) > 1 ? 3 : 6) + most), true);
        g->reserved |= (uint16_t)(1u << reg);
    }
    uint16_t top = (uint16_t)g->seq->size;
    gen_block(g, 1 + rng_below(g->r, 4));
    close_loop(g, kind, reg, top);
    g->reserved = saved;
}

static void call_function(struct gen *g, uint64_t entry)
{
    unsigned reg = generic_free_reg(g);
    int label = rng_percent(g->r, 30) ? emit_new_label(g) : -1;

    if (label >= 0) {
        emit_set_label(g, label, entry);
        via_memory(g, 2, label_addr(g, label));
    } else if (reg != NO_REG && rng_percent(g->r, 40)) {
        emit_mov_imm(g, reg, entry, false);
        via_register(g, 2, reg);
    } else {
        EMIT_RIP(g, entry, NULL, 0, 0xe8);
    }
}

/* jmp over; f: body; ret; over: call f, once or twice. */
static void function(struct gen *g)
{
    bool outer_func = g->in_func, outer_flags = g->keep_flags;
    unsigned pop_bytes = rng_percent(g->r, 25) ? 8 * (1 + rng_below(g->r, 3)) : 0;

    if (gen_depth(g) > 2)
        return;
    emit_unit(g);
    uint16_t over = local_jump(g, (const uint8_t[]){0xe9}, 1, 4);
    uint64_t entry = emit_here(g);
    g->in_func = true;
    g->keep_flags = outer_flags || rng_percent(g->r, 30);
    gen_block(g, 1 + rng_below(g->r, 4));
    g->in_func = outer_func;
    g->keep_flags = outer_flags;
    emit_unit(g);
    emit_ret(g, pop_bytes, true);
    patch_local(g, over, 4);
    for (unsigned calls = 1 + rng_below(g->r, 2); calls; calls--) {
        emit_unit(g);
        if (pop_bytes)
            EMIT(g, 0x48, 0x8d, 0x64, 0x24, (uint8_t)-pop_bytes);
        call_function(g, entry);
    }
}

static void flag_producer(struct gen *g)
{
    unsigned a = generic_free_reg(g), b = rng_below(g->r, 16);
    unsigned rex = 0x40u | rng_below(g->r, 2) << 3 | b >> 3 << 2;
    if (a == NO_REG)
        return;
    rex |= a >> 3;
    unsigned modrm = 0xc0 | (b & 7) << 3 | (a & 7);
    switch (rng_below(g->r, 8)) {
    case 0:
    case 1: /* add or adc sbb and sub xor cmp */
        EMIT(g, (uint8_t)rex, (uint8_t)(rng_below(g->r, 8) << 3 | rng_below(g->r, 2)),
             (uint8_t)modrm);
        break;
    case 2: /* test */
        EMIT(g, (uint8_t)rex, 0x85, (uint8_t)modrm);
        break;
    case 3: /* inc, dec: CF lives on */
        EMIT(g, (uint8_t)(rex & 0x49), 0xff, (uint8_t)(0xc0 | rng_below(g->r, 2) << 3 | (a & 7)));
        break;
    case 4: /* shift or rotate by cl, often by nothing */
        if (!(g->reserved >> RCX & 1) && a != RCX) {
            static const uint8_t counts[] = {0, 0, 1, 31, 32, 33, 63, 64, 65, 128, 255};
            EMIT(g, 0xb1, counts[rng_below(g->r, sizeof counts)]);
        }
        EMIT(g, (uint8_t)(rex & 0x49), 0xd3, (uint8_t)(0xc0 | rng_below(g->r, 8) << 3 | (a & 7)));
        break;
    case 5: /* shift by constant, masked to zero now and then */
        EMIT(g, (uint8_t)(rex & 0x49), 0xc1, (uint8_t)(0xc0 | rng_below(g->r, 8) << 3 | (a & 7)),
             (uint8_t)(rng_below(g->r, 5) * 16));
        break;
    case 6: /* bt */
        EMIT(g, (uint8_t)rex, 0x0f, 0xa3, (uint8_t)modrm);
        break;
    default: /* stc, clc, cmc, std, cld */
        EMIT(g, ((const uint8_t[]){0xf8, 0xf9, 0xf5, 0xfc, 0xfd})[rng_below(g->r, 5)]);
    }
}

/* Leaves the flags alone, but ends the block in most translators. */
static void flag_barrier(struct gen *g)
{
    uint16_t over;
    unsigned reg = generic_free_reg(g);
    switch (rng_below(g->r, 6)) {
    case 0:
        EMIT(g, 0xeb, 0);
        break;
    case 1: /* call a function that does nothing */
        EMIT(g, 0xe8, 2, 0, 0, 0);
        over = local_jump(g, (const uint8_t[]){0xeb}, 1, 1);
        emit_ret(g, 0, true);
        patch_local(g, over, 1);
        break;
    case 2: /* jump through a register */
        if (reg != NO_REG) {
            uint64_t jump = reg >= 8 ? 3 : 2;
            EMIT(g, (uint8_t)(0x48 | reg >> 3 << 2), 0x8d, (uint8_t)((reg & 7) << 3 | 5),
                 (uint8_t)jump, 0, 0, 0);
            via_register(g, 4, reg);
        }
        break;
    case 3: /* call next; pop */
        if (reg != NO_REG) {
            EMIT(g, 0xe8, 0, 0, 0, 0);
            if (reg >= 8)
                EMIT(g, 0x41, (uint8_t)(0x58 | (reg & 7)));
            else
                EMIT(g, (uint8_t)(0x58 | reg));
        }
        break;
    case 4:
        EMIT(g, 0x9c);                      /* pushfq */
        EMIT(g, 0x48, 0x8d, 0x64, 0x24, 8); /* lea rsp, [rsp+8] */
        break;
    default:
        break;
    }
}

static void flag_consumer(struct gen *g)
{
    unsigned cc = rng_below(g->r, 16), a = generic_free_reg(g), b = rng_below(g->r, 16);
    if (a == NO_REG)
        return;
    unsigned rex = 0x40 | a >> 3;
    switch (rng_below(g->r, 6)) {
    case 0: /* jcc over a mov that leaves a mark */
        EMIT(g, (uint8_t)(0x70 | cc), 7);
        EMIT(g, (uint8_t)(0x48 | a >> 3), 0xc7, (uint8_t)(0xc0 | (a & 7)), (uint8_t)cc, 0x5a, 0, 0);
        break;
    case 1:
        EMIT(g, (uint8_t)rex, 0x0f, (uint8_t)(0x90 | cc), (uint8_t)(0xc0 | (a & 7)));
        break;
    case 2:
        EMIT(g, (uint8_t)(0x48 | a >> 3 << 2 | b >> 3), 0x0f, (uint8_t)(0x40 | cc),
             (uint8_t)(0xc0 | (a & 7) << 3 | (b & 7)));
        break;
    case 3: /* adc, sbb */
        EMIT(g, (uint8_t)(0x48 | rex), 0x83,
             (uint8_t)((rng_percent(g->r, 50) ? 0xd0 : 0xd8) | (a & 7)), (uint8_t)rng_u64(g->r));
        break;
    case 4: /* rcl, rcr by 1 */
        EMIT(g, (uint8_t)(0x48 | rex), 0xd1,
             (uint8_t)((rng_percent(g->r, 50) ? 0xd0 : 0xd8) | (a & 7)));
        break;
    default:
        if (!(g->reserved & 1))
            EMIT(g, 0x9f); /* lahf */
    }
}

static void flag_pattern(struct gen *g)
{
    emit_unit(g);
    if (!g->keep_flags)
        flag_producer(g);
    flag_barrier(g);
    flag_consumer(g);
}

static void popf_pattern(struct gen *g)
{
    uint32_t flags = 2 | (uint32_t)(rng_u64(g->r) & 0x8d5);
    if (g->keep_flags)
        return;
    if (rng_percent(g->r, 20))
        flags |= 0x400;
    if (rng_percent(g->r, 10))
        flags |= 0x200000;
    if (g->opt->features & FEATURE_AC && g->faults && rng_percent(g->r, 5))
        flags |= 0x40000;
    emit_unit(g);
    if (rng_percent(g->r, 20)) {
        EMIT(g, 0x66, 0x68, (uint8_t)flags, (uint8_t)(flags >> 8));
        EMIT(g, 0x66, 0x9d);
    } else {
        EMIT(g, 0x68, (uint8_t)flags, (uint8_t)(flags >> 8), (uint8_t)(flags >> 16), 0);
        EMIT(g, 0x9d);
    }
}

/* A branch into the middle of an instruction: mov r32, imm32 whose immediate is code. */
static void overlapping_code(struct gen *g)
{
    unsigned reg = generic_free_reg(g), other = generic_free_reg(g);
    if (reg == NO_REG || other == NO_REG || reg >= 8 || other >= 8)
        return;
    emit_unit(g);
    EMIT(g, (uint8_t)(0x70 | rng_below(g->r, 16)), 1);
    /* b8+r [8d 4x ff 90]: lea r, [r-1]; nop */
    EMIT(g, (uint8_t)(0xb8 | reg), 0x8d, (uint8_t)(0x40 | other << 3 | other), 0xff, 0x90);
}

static void self_modifying(struct gen *g)
{
    unsigned reg = generic_free_reg(g);
    uint8_t value = (uint8_t)rng_u64(g->r);
    bool jump = rng_percent(g->r, 50);

    if (g->opt->area != AREA_RWX || !(g->opt->features & FEATURE_SMC) || reg == NO_REG)
        return;
    emit_unit(g);
    uint64_t patched = emit_here(g) + 7 + (jump ? 2 : 0) + 3 + (reg >= 8);
    if (reg < 8)
        patched -= 1;
    EMIT_RIP(g, patched, &value, 1, 0xc6, 0x05);
    if (jump)
        EMIT(g, 0xeb, 0);
    if (reg >= 8) /* mov r32, imm32 or lea */
        EMIT(g, 0x41, 0xc7, (uint8_t)(0xc0 | (reg & 7)), 0, 1, 2, 3);
    else
        EMIT(g, 0xc7, (uint8_t)(0xc0 | reg), 0, 1, 2, 3);
}

/* The program reads its own code and must find what it wrote there. */
static void read_code(struct gen *g)
{
    unsigned reg = generic_free_reg(g);
    if (reg == NO_REG || g->seq->size < 16)
        return;
    emit_unit(g);
    EMIT_RIP(g, g->seq->entry + rng_below(g->r, (unsigned)g->seq->size - 8), NULL, 0,
             (uint8_t)(0x48 | reg >> 3 << 2), 0x8b, (uint8_t)((reg & 7) << 3 | 5));
}

static uint64_t stack_addr(struct gen *g)
{
    return STK_BASE + STK_RW + 0x400 + 16 * rng_below(g->r, (STK_RW_SIZE - 0x600) / 16);
}

static void stack_pattern(struct gen *g)
{
    unsigned reg = generic_free_reg(g);
    if (g->in_func)
        return;
    emit_unit(g);
    switch (rng_below(g->r, 7)) {
    case 0:
        EMIT(g, 0x48, 0x8d, 0x64, 0x24, (uint8_t)(8 * (rng_below(g->r, 16) - 8)));
        break;
    case 1:
        emit_mov_imm(g, RSP, stack_addr(g), false);
        break;
    case 2:
        if (!g->keep_flags)
            EMIT(g, 0x48, 0x83, (uint8_t)(rng_percent(g->r, 50) ? 0xc4 : 0xec),
                 (uint8_t)(8 * rng_below(g->r, 8)));
        break;
    case 3: /* push rsp; pop rsp */
        EMIT(g, 0x54);
        EMIT(g, 0x5c);
        break;
    case 4:
        if (reg != NO_REG) {
            emit_mov_imm(g, reg, stack_addr(g), false);
            EMIT(g, (uint8_t)(0x48 | reg >> 3 << 2), 0x87, (uint8_t)(0xc4 | (reg & 7) << 3));
        }
        break;
    case 5:
        if (!(g->reserved >> RBP & 1)) {
            emit_mov_imm(g, RBP, stack_addr(g), false);
            EMIT(g, 0xc9);
        }
        break;
    default:
        if (!(g->reserved >> RBP & 1)) {
            emit_mov_imm(g, RBP, stack_addr(g), false);
            EMIT(g, 0xc8, (uint8_t)(8 * rng_below(g->r, 16)), 0,
                 rng_percent(g->r, 60) ? 0 : (uint8_t)rng_below(g->r, 4));
            if (rng_percent(g->r, 70))
                EMIT(g, 0xc9);
        }
    }
}

static void clear_qword(struct gen *g, uint64_t at)
{
    EMIT_RIP(g, at, (const uint8_t[4]){0}, 4, 0x48, 0xc7, 0x05);
}

/* State images hold the address of the last x87 instruction, which is overwritten afterwards. */
static void x87_image(struct gen *g)
{
    uint64_t at = g->seq->slot + 64 * rng_below(g->r, 40);
    emit_unit(g);
    switch (rng_below(g->r, 3)) {
    case 0: /* fnstenv */
        EMIT_RIP(g, at, NULL, 0, 0xd9, 0x35);
        break;
    case 1: /* fnsave */
        EMIT_RIP(g, at, NULL, 0, 0xdd, 0x35);
        break;
    default: /* fxsave64 */
        EMIT_RIP(g, at, NULL, 0, 0x48, 0x0f, 0xae, 0x05);
        clear_qword(g, at + 6);
        clear_qword(g, at + 14);
        clear_qword(g, at + 16);
        return;
    }
    clear_qword(g, at + 12);
    clear_qword(g, at + 20);
}

/* fxrstor64 or fldenv of something sensible: an image of the state of a moment ago. */
static void x87_restore(struct gen *g)
{
    uint64_t at = g->seq->slot + 64 * rng_below(g->r, 40);
    bool all = rng_percent(g->r, 50);
    emit_unit(g);
    if (all) {
        EMIT_RIP(g, at, NULL, 0, 0x48, 0x0f, 0xae, 0x05);
        clear_qword(g, at + 6);
        clear_qword(g, at + 14);
        clear_qword(g, at + 16);
    } else {
        EMIT_RIP(g, at, NULL, 0, 0xd9, 0x35);
        clear_qword(g, at + 12);
        clear_qword(g, at + 20);
    }
    generic_item(g);
    emit_unit(g);
    if (all)
        EMIT_RIP(g, at, NULL, 0, 0x48, 0x0f, 0xae, 0x0d);
    else
        EMIT_RIP(g, at, NULL, 0, 0xd9, 0x25);
}

static void fs_base(struct gen *g)
{
    unsigned a = generic_free_reg(g), b = generic_free_reg(g);
    if (!(g->opt->features & FEATURE_FS) || !g->opt->cpu->fsgsbase || a == NO_REG || a == b)
        return;
    emit_unit(g);
    emit_mov_imm(g, a, A_BASE + DATA_RW + 64 * rng_below(g->r, 60), false);
    EMIT(g, 0xf3, (uint8_t)(0x48 | a >> 3), 0x0f, 0xae, (uint8_t)(0xd0 | (a & 7))); /* wrfsbase */
    EMIT(g, 0x64, (uint8_t)(0x48 | b >> 3 << 2), 0x8b, (uint8_t)((b & 7) << 3 | 4), 0x25, 0x10, 0,
         0, 0); /* mov b, fs:16 */
    EMIT(g, 0xf3, (uint8_t)(0x48 | b >> 3), 0x0f, 0xae, (uint8_t)(0xc0 | (b & 7))); /* rdfsbase */
    emit_mov_imm(g, a, g->seq->fsbase, false);
    EMIT(g, 0xf3, (uint8_t)(0x48 | a >> 3), 0x0f, 0xae, (uint8_t)(0xd0 | (a & 7)));
}

static uint64_t where_no_code_is(struct gen *g)
{
    if (g->opt->features & FEATURE_NONCANON && rng_percent(g->r, 25))
        return rng_percent(g->r, 50) ? 0x8000000000000000 | rng_u64(g->r) >> 8
                                     : 0x0000800000000000u + rng_below(g->r, 4096);
    switch (rng_below(g->r, 5)) {
    case 0:
        return A_BASE + DATA_RW + rng_below(g->r, 4096); /* not executable */
    case 1:
        return B_BASE + rng_below(g->r, 4096); /* not even readable */
    case 2:
        return rng_below(g->r, 4096);
    case 3:
        return A_BASE + 0x1000000 + rng_below(g->r, 0x100000);
    default:
        return 0xffffffff80000000 + rng_below(g->r, 0x100000); /* the kernel's */
    }
}

/* Where a call would write its return address, it is already: whether a call to an address that
 * none can have writes it before it faults, differs between CPUs. */
static void prepare_return_address(struct gen *g, unsigned scratch, unsigned reg)
{
    uint8_t rex = (uint8_t)(0x48 | scratch >> 3 << 2), bits = (uint8_t)((scratch & 7) << 3);
    uint8_t ahead = (uint8_t)(5 + (reg >= 8 ? 3 : 2));
    EMIT(g, rex, 0x8d, (uint8_t)(bits | 5), ahead, 0, 0, 0); /* lea scratch, [behind the call] */
    EMIT(g, rex, 0x89, (uint8_t)(bits | 0x44), 0x24, 0xf8);  /* mov [rsp - 8], scratch */
}

static void wild_jump(struct gen *g)
{
    unsigned reg = generic_free_reg(g), scratch = generic_free_reg(g);
    if (!g->faults || !(g->opt->features & FEATURE_WILDJUMP) || reg == NO_REG)
        return;
    uint64_t to = where_no_code_is(g);
    bool call = scratch != reg && rng_percent(g->r, 50);
    emit_unit(g);
    if (rng_percent(g->r, 50)) /* not always taken */
        BRANCH(g, 1, later_item(g), (uint8_t)(0x70 | rng_below(g->r, 16)));
    emit_mov_imm(g, reg, to, false);
    if (rng_percent(g->r, 30)) {
        via_register(g, 6, reg);
        emit_ret(g, 0, false);
    } else {
        if (call && (int64_t)(to << 16) >> 16 != (int64_t)to)
            prepare_return_address(g, scratch, reg);
        via_register(g, call ? 2 : 4, reg);
    }
}

static void invalid_opcode(struct gen *g)
{
    static const uint8_t bad[][6] = {
        {1, 0x06},
        {1, 0x0e},
        {1, 0x16},
        {1, 0x17},
        {1, 0x1e},
        {1, 0x1f},
        {1, 0x27},
        {1, 0x2f},
        {1, 0x37},
        {1, 0x3f},
        {1, 0x60},
        {1, 0x61},
        {1, 0xce},
        {2, 0xd4, 0x0a},
        {2, 0xd5, 0x0a},
        {2, 0x0f, 0x0b},
        {3, 0x0f, 0xb9, 0xc0},
        {3, 0x0f, 0xff, 0xc0},
        {2, 0x0f, 0x04},
        {2, 0x0f, 0x0a},
        {4, 0xf0, 0x48, 0x89, 0xc0},
        {3, 0xf0, 0x01, 0xc0},
        {2, 0xf0, 0x90},
        {3, 0x0f, 0xc7, 0xc8},
        {2, 0x8d, 0xc0},
        {2, 0xfe, 0xf8},
        {2, 0xff, 0xf8},
        {5, 0xc4, 0xe0, 0x78, 0x77, 0xc0},
        {4, 0xf2, 0xc5, 0xf8, 0x77},
        {4, 0x48, 0xc5, 0xf8, 0x77},
        {1, 0xcc},
        {1, 0xcc},
        {1, 0xf4},
    };
    const uint8_t *pick = bad[rng_below(g->r, ARRAY_SIZE(bad))];
    if (!g->faults || !(g->opt->features & FEATURE_ABSENT))
        return;
    emit_unit(g);
    if (rng_percent(g->r, 50))
        BRANCH(g, 1, later_item(g), (uint8_t)(0x70 | rng_below(g->r, 16)));
    emit(g, pick + 1, pick[0], false);
}

static void quiet_block(struct gen *g)
{
    bool outer = g->keep_flags;
    if (gen_depth(g) > 3)
        return;
    g->keep_flags = true;
    gen_block(g, 2 + rng_below(g->r, 4));
    g->keep_flags = outer;
}

static const struct {
    void (*make)(struct gen *g);
    unsigned weight;
} constructs[] = {
    {jcc_forward, 18},  {jmp_forward, 5},   {rcx_branch_forward, 6}, {indirect_forward, 9},
    {call_forward, 4},  {ret_forward, 5},   {counted_loop, 12},      {function, 10},
    {flag_pattern, 14}, {popf_pattern, 4},  {overlapping_code, 2},   {self_modifying, 3},
    {read_code, 2},     {stack_pattern, 6}, {x87_image, 2},          {x87_restore, 1},
    {fs_base, 2},       {wild_jump, 1},     {invalid_opcode, 1},     {quiet_block, 2},
};

void construct_item(struct gen *g)
{
    unsigned total = 0;
    if (g->opt->loops && rng_percent(g->r, 60)) {
        hotpaths_item(g);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(constructs); i++)
        total += constructs[i].weight;
    unsigned dice = rng_below(g->r, total);
    for (size_t i = 0; i < ARRAY_SIZE(constructs); i++) {
        if (dice < constructs[i].weight) {
            constructs[i].make(g);
            return;
        }
        dice -= constructs[i].weight;
    }
}
