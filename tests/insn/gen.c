/* gen.c - the frame of a sequence: blocks, masks, start states and memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "gen_int.h"

#include <string.h>

uint64_t rng_interesting(struct rng *r)
{
    static const uint64_t corner[] = {
        0,
        1,
        2,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        0x7fffffffffffffff,
        0x8000000000000000,
        UINT64_MAX,
        UINT64_MAX - 1,
        0xaaaaaaaaaaaaaaaa,
        0x3f8000003f800000,
        0x7f8000007fc00000,
        0xff800000ffc00001,
        0x0000000100800000,
        0x7f7fffff7fa00000,
        0x3ff0000000000000,
        0xbff8000000000000,
        0x7ff0000000000000,
        0x7ff8000000000000,
        0x7ff0000000000001,
        0x000fffffffffffff,
        0x0010000000000000,
        0x7fefffffffffffff,
        0x4330000000000000,
        0x41dfffffffc00000,
    };
    switch (rng_below(r, 8)) {
    case 0:
    case 1:
        return corner[rng_below(r, sizeof corner / sizeof *corner)];
    case 2:
        return rng_u64(r) >> rng_below(r, 64);
    case 3:
        return ((uint64_t)1 << rng_below(r, 64)) + rng_below(r, 3) - 1;
    case 4: /* two floats of everyday size */
        return (rng_u64(r) & 0x83ffffff83ffffff) | 0x3c0000003c000000;
    case 5: /* a double of everyday size */
        return (rng_u64(r) & 0x807fffffffffffff) | 0x3f80000000000000;
    default:
        return rng_u64(r);
    }
}

void gen_block(struct gen *g, unsigned items)
{
    struct block b = {.count = items, .outer = g->block};
    g->block = &b;
    for (b.current = 0; b.current < items; b.current++) {
        b.item_off[b.current] = (uint16_t)g->seq->size;
        if (g->seq->size > SEQ_SOFT_LIMIT)
            continue;
        if (rng_percent(g->r, g->opt->loops ? 45 : 66))
            generic_item(g);
        else
            construct_item(g);
    }
    b.item_off[items] = (uint16_t)g->seq->size;
    emit_resolve(g, &b);
    g->block = b.outer;
}

static void pin(struct gen *g, unsigned reg, uint64_t value)
{
    g->seq->pinned |= (uint16_t)(1u << reg);
    g->reserved |= (uint16_t)(1u << reg);
    g->seq->pin_value[reg] = value;
}

static unsigned pick_pin(struct gen *g)
{
    unsigned reg;
    do
        reg = rng_percent(g->r, 60) ? 8 + rng_below(g->r, 8) : rng_below(g->r, 8);
    while (reg == RSP || g->reserved >> reg & 1);
    return reg;
}

static void pin_registers(struct gen *g)
{
    g->pin_a = g->pin_b = g->pin_index = NO_REG;
    if (rng_percent(g->r, 80)) {
        g->pin_a = (uint8_t)pick_pin(g);
        pin(g, g->pin_a, A_BASE + DATA_RW + 0x800 + 64 * rng_below(g->r, 64));
    }
    if (rng_percent(g->r, 70)) {
        g->pin_b = (uint8_t)pick_pin(g);
        pin(g, g->pin_b, B_BASE + DATA_RW + 0x800 + 64 * rng_below(g->r, 64));
    }
    if (rng_percent(g->r, 70)) {
        g->pin_index = (uint8_t)pick_pin(g);
        pin(g, g->pin_index,
            rng_percent(g->r, 30) ? -(uint64_t)rng_below(g->r, 32) : rng_below(g->r, 64));
    }
    /* rsp starts at a known place but moves. */
    g->seq->pinned |= 1u << RSP;
    g->seq->pin_value[RSP] = STK_BASE + STK_RW + 0x1800 + 16 * rng_below(g->r, 32);
    if (rng_percent(g->r, 10))
        g->seq->pin_value[RSP] += rng_below(g->r, 16);
}

static void fill_table(struct gen *g)
{
    for (int i = 0; i < 16; i++) {
        uint32_t index = i & 1 ? 0 : rng_below(g->r, 100);
        memcpy(g->seq->table + TABLE_INDICES + 4 * i, &index, 4);
        memcpy(g->seq->table + TABLE_INDICES + 64 + 4 * i, &index, 4);
    }
    for (int i = 0; i < TABLE_NLABELS; i++)
        emit_set_label(g, i, g->seq->entry);
    if (g->opt->loops)
        hotpaths_fill_table(g);
}

static void emit_exit(struct gen *g)
{
    emit_unit(g);
    if (rng_percent(g->r, 50)) {
        uint32_t at = CTL_EXIT;
        uint8_t jump[7] = {0xff, 0x24, 0x25};
        memcpy(jump + 3, &at, 4);
        emit(g, jump, 7, true);
    } else {
        EMIT_RIP(g, g->seq->slot + TABLE_OFF + TABLE_EXIT, NULL, 0, 0xff, 0x25);
        g->seq->insns[g->seq->insn_count - 1].structural = true;
    }
}

static void begin(struct gen *g, struct rng *r, const struct gen_options *opt, struct sequence *seq)
{
    *g = (struct gen){.r = r, .opt = opt, .seq = seq};
    memset(seq, 0, sizeof *seq);
    seq->area = opt->area;
    seq->slot = opt->slot;
    seq->entry = opt->entry;
    seq->unit_count = opt->first_unit;
    seq->fsbase = (rng_percent(r, 50) ? A_BASE : B_BASE) + DATA_RW + 64 * rng_below(r, 100);
    ZydisDecoderInit(&g->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    g->theme = (enum theme)rng_below(r, THEME_COUNT);
    g->faults = opt->features & FEATURE_FAULTS && rng_percent(r, opt->loops ? 70 : 45);
    seq->unmasked = opt->features & FEATURE_UNMASKED && rng_percent(r, 8);
    g->reserved = 1u << RSP;
    pin_registers(g);
    fill_table(g);
}

void gen_sequence(struct rng *r, const struct gen_options *opt, struct sequence *seq)
{
    struct gen g;
    begin(&g, r, opt, seq);
    gen_block(&g, 3 + rng_below(r, 14));
    emit_exit(&g);
}

void gen_single(struct rng *r, const struct gen_options *opt, struct sequence *seq)
{
    struct gen g;
    begin(&g, r, opt, seq);
    while (!generic_item(&g))
        ;
}

static void write_nops(uint8_t *at, size_t n)
{
    static const uint8_t nop[9][9] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0x00},
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
        {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    };
    while (n) {
        size_t part = n < 9 ? n : 9;
        memcpy(at, nop[part - 1], part);
        at += part;
        n -= part;
    }
}

void gen_apply_mask(struct sequence *seq, const bool *masked, unsigned count)
{
    for (unsigned i = 0; i < seq->insn_count; i++) {
        const struct seq_insn *insn = &seq->insns[i];
        if (insn->unit < count && masked[insn->unit] && !insn->structural)
            write_nops(seq->code + insn->off, insn->len);
    }
}

static uint64_t random_flags(struct rng *r)
{
    uint64_t flags = 2 | (rng_u64(r) & 0x8d5);
    return rng_percent(r, 10) ? flags | 0x400 : flags;
}

static void random_x87(struct rng *r, const struct sequence *seq, uint8_t fx[512])
{
    uint16_t control = 0x037f, status = (uint16_t)(rng_u64(r) & 0x7f00);
    uint8_t tags = (uint8_t)rng_u64(r);
    uint32_t mxcsr = 0x1f80 | (rng_u64(r) & 0x3f);

    if (rng_percent(r, 40))
        control = (uint16_t)((rng_u64(r) & 0x0f00) | 0x7f);
    if (rng_percent(r, 40))
        mxcsr |= rng_u64(r) & 0xe040;
    if (rng_percent(r, 30))
        tags = rng_percent(r, 50) ? 0 : 0xff;
    if (seq->unmasked) {
        control &= (uint16_t) ~(rng_u64(r) & 0x3f);
        mxcsr &= ~(uint32_t)(rng_u64(r) & 0x1f80);
        status |= rng_u64(r) & rng_u64(r) & 0x3f;
    }
    memcpy(fx, &control, 2);
    memcpy(fx + 2, &status, 2);
    fx[4] = tags;
    memcpy(fx + 24, &mxcsr, 4);
    for (int i = 0; i < 8; i++) {
        uint64_t mantissa = rng_interesting(r) | (rng_percent(r, 85) ? (uint64_t)1 << 63 : 0);
        uint16_t exponent = rng_percent(r, 70) ? (uint16_t)(0x3fff + rng_below(r, 40) - 20)
                                               : (uint16_t)rng_interesting(r);
        memcpy(fx + 32 + 16 * i, &mantissa, 8);
        memcpy(fx + 40 + 16 * i, &exponent, 2);
    }
}

void gen_state(struct rng *r, const struct sequence *seq, struct machine *start)
{
    memset(start, 0, sizeof *start);
    for (int i = 0; i < 16; i++) {
        uint64_t value = rng_interesting(r);
        start->gpr[i] = seq->pinned >> i & 1 ? seq->pin_value[i] : value;
    }
    start->flags = random_flags(r);
    start->fsbase = seq->fsbase;
    random_x87(r, seq, start->fx);

    unsigned style = rng_below(r, 10); /* 0: all zero, 1: clean upper halves */
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 8; j++) {
            uint64_t value = rng_interesting(r);
            if (style > (j >= 2 ? 1u : 0u))
                memcpy(start->zmm[i] + 8 * j, &value, 8);
        }
    for (int i = 0; i < 8; i++)
        start->k[i] = style ? rng_interesting(r) : 0;
    for (int i = 0; i < 16; i++)
        memcpy(start->fx + 160 + 16 * i, start->zmm[i], 16);
}

/* Memory is filled from a pool of random words: filling it word by word would take most of a run.
 */
static uint64_t pool[1 << 15];
#define POOL_WORDS (sizeof pool / sizeof *pool)

void gen_init_memory(uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed, UINT64_MAX);
    for (size_t i = 0; i < POOL_WORDS; i++)
        pool[i] = rng_percent(&r, 30) ? rng_interesting(&r) : rng_u64(&r);
}

void gen_memory(struct rng *r, const struct sequence *seq)
{
    struct region regions[SANDBOX_REGIONS];
    uint64_t exit_addr = *(uint64_t *)CTL_EXIT;

    sandbox_regions(seq->slot, regions);
    for (int i = 0; i < SANDBOX_REGIONS; i++) {
        unsigned from = rng_below(r, (unsigned)(POOL_WORDS - regions[i].size / 8));
        memcpy((void *)regions[i].base, pool + from, regions[i].size);
    }
    memcpy((void *)(seq->slot + TABLE_OFF), seq->table, sizeof seq->table);
    memcpy((void *)(seq->slot + TABLE_OFF + TABLE_EXIT), &exit_addr, 8);
}
