/* generic.c - one random instruction: bytes from a template, operands aimed at the sandbox.
 *
 * The bytes are put together blindly, then Zydis decodes them; whatever it does not take, or what
 * would break a rule of gen.h, is thrown away and another template is tried. An accepted
 * instruction may ask for setup moves in front of it (pointer, count, bit index, vector indices,
 * dividend).
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "gen_int.h"

#define MAX_SETUPS 5
#define NO_OFF     0xff

struct mem {
    uint8_t base, index; /* NO_REG: none */
    uint8_t scale_log2;
    uint8_t seg; /* prefix byte or 0 */
    bool rip, wild, vsib, addr32;
    bool set_base;
    uint64_t base_value;
    int32_t disp;
    uint64_t target; /* for rip */
};

struct setup {
    uint8_t reg;
    uint64_t value;
};

struct draft {
    const struct insn_template *t;
    struct mem mem;
    uint8_t bytes[40];
    size_t size;
    uint8_t disp_off; /* of a rip-relative displacement */
    bool addr32;
    struct setup setups[MAX_SETUPS];
    unsigned setup_count;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};

static bool reserved(const struct gen *g, unsigned reg)
{
    return g->reserved >> reg & 1;
}

unsigned generic_free_reg(struct gen *g)
{
    for (int i = 0; i < 64; i++) {
        unsigned reg = rng_below(g->r, 16);
        if (!reserved(g, reg))
            return reg;
    }
    return NO_REG;
}

static unsigned random_alignment(struct rng *r)
{
    static const uint8_t align[] = {64, 64, 64, 64, 64, 32, 16, 16, 8, 4, 1, 1};
    return align[rng_below(r, sizeof align)];
}

/* An address whose next 512 bytes are writable, mostly; `low` for 32-bit addressing. */
uint64_t generic_target(struct gen *g, bool low)
{
    struct rng *r = g->r;
    uint64_t base = low || rng_percent(r, 50) ? A_BASE : B_BASE;
    unsigned fate = rng_below(r, 100);

    if (g->faults && fate < 3)
        return base + DATA_RO + rng_below(r, PAGE - 64);
    if (g->faults && fate < 6) /* across the end of the read-only or the writable pages */
        return base + DATA_RO + (rng_percent(r, 50) ? PAGE : 0) - rng_below(r, 40);
    if (g->faults && fate < 7)
        return base + DATA_RW - rng_below(r, 40);
    if (g->faults && fate < 8)
        return base + 0x100000 + rng_below(r, 0x10000);
    if (g->faults && fate < 9 && !low)
        return rng_percent(r, 50) ? rng_u64(r) | 0xffff000000000000 : rng_u64(r) << 1;
    if (fate < 13) /* across the page border inside */
        return base + DATA_RW + PAGE - rng_below(r, 64);
    unsigned align = random_alignment(r);
    return base + DATA_RW + 256 + rng_below(r, (DATA_RW_SIZE - 1024) / align) * align;
}

uint64_t generic_rip_target(struct gen *g)
{
    unsigned align = random_alignment(g->r);
    return g->seq->slot + (rng_percent(g->r, 50) ? 0 : SLOT_DATA2) +
           rng_below(g->r, (TABLE_OFF - 640) / align) * align;
}

static void use_index(struct gen *g, struct mem *m)
{
    if (g->pin_index == NO_REG || !rng_percent(g->r, 40))
        return;
    m->index = g->pin_index;
    m->scale_log2 = (uint8_t)rng_below(g->r, 4);
}

static uint64_t index_offset(const struct gen *g, const struct mem *m)
{
    return m->index == NO_REG || m->vsib ? 0 : g->seq->pin_value[m->index] << m->scale_log2;
}

/* Base register already at a sandbox address: the displacement does the aiming. */
static bool aim_pinned(struct gen *g, struct mem *m)
{
    unsigned reg = rng_percent(g->r, 50) ? g->pin_a : g->pin_b;
    if (reg == NO_REG)
        return false;
    m->base = (uint8_t)reg;
    if (!m->vsib)
        use_index(g, m);
    uint64_t target = generic_target(g, m->addr32);
    if (!m->addr32 && (target ^ g->seq->pin_value[reg]) >> 24) /* other region */
        target = g->seq->pin_value[reg] + (rng_below(g->r, 64) - 32) * 16;
    int64_t disp = (int64_t)(target - g->seq->pin_value[reg] - index_offset(g, m));
    m->disp = (int32_t)disp;
    return m->addr32 || disp == m->disp;
}

/* Base register loaded right before. */
static bool aim_fresh(struct gen *g, struct mem *m)
{
    unsigned reg = generic_free_reg(g);
    if (reg == NO_REG)
        return false;
    m->base = (uint8_t)reg;
    m->set_base = true;
    if (!m->vsib)
        use_index(g, m);
    if (rng_percent(g->r, 60))
        m->disp = (int32_t)(int8_t)rng_u64(g->r);
    else if (rng_percent(g->r, 60))
        m->disp = (int32_t)rng_u64(g->r);
    m->base_value = generic_target(g, m->addr32) - (uint64_t)(int64_t)m->disp - index_offset(g, m);
    if (m->addr32)
        m->base_value = (uint32_t)m->base_value | (rng_percent(g->r, 50) ? rng_u64(g->r) << 32 : 0);
    return true;
}

static bool aim_segment(struct gen *g, struct mem *m)
{
    uint64_t target = generic_target(g, true);
    if (g->opt->features & FEATURE_GS && rng_percent(g->r, 15)) {
        m->seg = 0x65;
        m->disp = (int32_t)target;
        return true;
    }
    if (!(g->opt->features & FEATURE_FS))
        return false;
    m->seg = 0x64;
    m->disp = (int32_t)(16 * rng_below(g->r, 32)) + (rng_percent(g->r, 30) ? 3 : 0);
    if (rng_percent(g->r, 30) && !m->addr32)
        m->disp -= 0x100;
    if (rng_percent(g->r, 40))
        use_index(g, m);
    m->disp -= (int32_t)index_offset(g, m);
    return true;
}

static bool aim_stack(struct gen *g, struct mem *m)
{
    m->base = RSP;
    use_index(g, m);
    if (g->in_func) /* keep away from return addresses */
        m->disp = rng_percent(g->r, 50) ? 64 + (int)rng_below(g->r, 256)
                                        : -256 - (int)rng_below(g->r, 256);
    else
        m->disp = (int)rng_below(g->r, 512) - 256;
    if (rng_percent(g->r, 80))
        m->disp &= ~15;
    if (rng_percent(g->r, 20) && !g->in_func)
        m->disp = 0;
    m->disp -= (int32_t)index_offset(g, m);
    return true;
}

static bool aim_wild(struct gen *g, struct mem *m)
{
    if (g->in_func || !g->faults || g->opt->area == AREA_RWX)
        return false;
    m->wild = true;
    m->base = (uint8_t)rng_below(g->r, 16);
    m->index = (uint8_t)rng_below(g->r, 16);
    if (m->index == RSP || rng_percent(g->r, 50))
        m->index = NO_REG;
    m->scale_log2 = (uint8_t)rng_below(g->r, 4);
    m->disp = (int32_t)rng_interesting(g->r);
    return true;
}

static bool aim(struct gen *g, struct mem *m)
{
    unsigned how = rng_below(g->r, 100);
    bool addr32 = m->addr32, vsib = m->vsib;

    *m = (struct mem){.base = NO_REG, .index = NO_REG, .addr32 = addr32, .vsib = vsib};
    if (vsib)
        return how < 50 ? aim_pinned(g, m) : aim_fresh(g, m);
    if (how < 35)
        return aim_pinned(g, m);
    if (how < 60)
        return aim_fresh(g, m);
    if (how < 75) {
        m->rip = true;
        m->target = generic_rip_target(g);
        return true;
    }
    if (how < 82)
        return aim_segment(g, m);
    if (how < 94)
        return aim_stack(g, m);
    if (how < 98) { /* absolute */
        m->disp = (int32_t)generic_target(g, true);
        return true;
    }
    return aim_wild(g, m);
}

static void put(struct draft *d, unsigned byte)
{
    d->bytes[d->size++] = (uint8_t)byte;
}

static void put_disp(struct draft *d, int32_t disp, unsigned size)
{
    memcpy(d->bytes + d->size, &disp, size);
    d->size += size;
}

/* ModRM, SIB and displacement. EVEX scales 8-bit displacements, so it always gets 32 bits. */
static void put_mem(struct gen *g, struct draft *d, unsigned reg3)
{
    const struct mem *m = &d->mem;
    unsigned modrm = reg3 << 3;

    if (m->rip) {
        put(d, modrm | 5);
        d->disp_off = (uint8_t)d->size;
        put_disp(d, 0, 4);
        return;
    }
    unsigned index3 = m->index == NO_REG ? 4 : m->index & 7;
    unsigned sib_top = (unsigned)m->scale_log2 << 6 | index3 << 3;
    if (m->base == NO_REG) {
        put(d, modrm | 4);
        put(d, sib_top | 5);
        put_disp(d, m->disp, 4);
        return;
    }
    unsigned size = 4;
    if (d->t->encoding != ENC_EVEX && m->disp == (int8_t)m->disp && rng_percent(g->r, 90))
        size = m->disp == 0 && (m->base & 7) != 5 && rng_percent(g->r, 70) ? 0 : 1;
    modrm |= size == 0 ? 0 : size == 1 ? 0x40 : 0x80;
    if ((m->base & 7) == 4 || m->index != NO_REG || m->vsib || rng_percent(g->r, 8)) {
        put(d, modrm | 4);
        put(d, sib_top | (m->base & 7));
    } else {
        put(d, modrm | (m->base & 7));
    }
    put_disp(d, m->disp, size);
}

static void put_imm(struct gen *g, struct draft *d)
{
    uint64_t imm = rng_interesting(g->r), more = rng_u64(g->r);
    memcpy(d->bytes + d->size, &imm, 8);
    memcpy(d->bytes + d->size + 8, &more, 4);
    if (d->t->encoding == ENC_LEGACY && d->t->map == 0 && (d->t->opcode & 0xfc) == 0xa0) {
        uint64_t target = generic_target(g, d->addr32);
        memcpy(d->bytes + d->size, &target, 8);
    }
    d->size += 12;
}

static void put_legacy_prefixes(struct gen *g, struct draft *d)
{
    static const uint8_t pp_byte[4] = {0, 0x66, 0xf3, 0xf2}, null_seg[] = {0x2e, 0x36, 0x3e, 0x26};
    const struct insn_template *t = d->t;
    uint8_t p[8];
    unsigned n = 0;

    if (d->addr32)
        p[n++] = 0x67;
    if (d->mem.seg)
        p[n++] = d->mem.seg;
    else if (rng_percent(g->r, 3))
        p[n++] = null_seg[rng_below(g->r, 4)];
    if (t->encoding == ENC_LEGACY) {
        if (t->pp)
            p[n++] = pp_byte[t->pp];
        if (t->pp != 1 && rng_percent(g->r, t->map == 0 ? 12 : 2))
            p[n++] = 0x66;
        if (t->pp < 2 && rng_percent(g->r, 2))
            p[n++] = rng_percent(g->r, 50) ? 0xf2 : 0xf3;
        if (t->form == FORM_MEM && t->map < 2 && rng_percent(g->r, 15))
            p[n++] = 0xf0;
    }
    for (unsigned i = n; i > 1; i--) { /* any order will do */
        unsigned j = rng_below(g->r, i);
        uint8_t swap = p[i - 1];
        p[i - 1] = p[j];
        p[j] = swap;
    }
    for (unsigned i = 0; i < n; i++)
        put(d, p[i]);
}

struct reg_bits {
    unsigned r, x, b;
};

static struct reg_bits choose_bits(struct gen *g, const struct draft *d)
{
    const struct mem *m = &d->mem;
    struct reg_bits bits = {rng_below(g->r, 2), rng_below(g->r, 2), rng_below(g->r, 2)};
    if (d->t->form == FORM_MEM) {
        if (m->base != NO_REG)
            bits.b = m->base >> 3 & 1;
        if (m->index != NO_REG)
            bits.x = m->index >> 3 & 1;
        else if (!m->rip)
            bits.x = 0; /* index 12 would be one */
    }
    return bits;
}

static void put_opcode_legacy(struct gen *g, struct draft *d, struct reg_bits b)
{
    const struct insn_template *t = d->t;
    bool any = t->w || (d->mem.base != NO_REG && d->mem.base >= 8) ||
               (d->mem.index != NO_REG && d->mem.index >= 8);
    if (any || rng_percent(g->r, 45))
        put(d, 0x40u | (unsigned)t->w << 3 | b.r << 2 | b.x << 1 | b.b);
    if (t->map)
        put(d, 0x0f);
    if (t->map > 1)
        put(d, t->map == 2 ? 0x38 : 0x3a);
    put(d, t->opcode);
}

static void put_opcode_vex(struct gen *g, struct draft *d, struct reg_bits b, unsigned vvvv)
{
    const struct insn_template *t = d->t;
    unsigned tail = (vvvv ^ 15) << 3 | (unsigned)t->l << 2 | t->pp;
    if (t->encoding == ENC_VEX && t->map == 1 && !t->w && !b.x && !b.b && rng_percent(g->r, 70)) {
        put(d, 0xc5);
        put(d, (b.r ^ 1) << 7 | tail);
    } else {
        put(d, t->encoding == ENC_VEX ? 0xc4 : 0x8f);
        put(d, (b.r ^ 1) << 7 | (b.x ^ 1) << 6 | (b.b ^ 1) << 5 | t->map);
        put(d, (unsigned)t->w << 7 | tail);
    }
    put(d, t->opcode);
}

static void put_opcode_evex(struct gen *g, struct draft *d, struct reg_bits b, unsigned vvvv)
{
    const struct insn_template *t = d->t;
    unsigned r2 = rng_below(g->r, 2), v2 = vvvv ? rng_below(g->r, 2) : 0;
    unsigned mask = rng_percent(g->r, 50) ? rng_below(g->r, 8) : 0;
    unsigned zero = mask && rng_percent(g->r, 40), bcast = rng_percent(g->r, 20);
    if (d->mem.vsib) {
        v2 = d->mem.index >> 4 & 1;
        mask = 1 + rng_below(g->r, 7);
        zero = 0;
    }
    put(d, 0x62);
    put(d, (b.r ^ 1) << 7 | (b.x ^ 1) << 6 | (b.b ^ 1) << 5 | (r2 ^ 1) << 4 | t->map);
    put(d, (unsigned)t->w << 7 | (vvvv ^ 15) << 3 | 4 | t->pp);
    put(d, zero << 7 | (unsigned)t->l << 5 | bcast << 4 | (v2 ^ 1) << 3 | mask);
    put(d, t->opcode);
}

static void build(struct gen *g, struct draft *d, unsigned vvvv)
{
    struct reg_bits bits = choose_bits(g, d);

    d->size = 0;
    d->disp_off = NO_OFF;
    put_legacy_prefixes(g, d);
    switch (d->t->encoding) {
    case ENC_LEGACY:
        put_opcode_legacy(g, d, bits);
        break;
    case ENC_VEX:
    case ENC_XOP:
        put_opcode_vex(g, d, bits, vvvv);
        break;
    case ENC_EVEX:
        put_opcode_evex(g, d, bits, vvvv);
        break;
    }
    unsigned reg3 = d->t->any_reg ? rng_below(g->r, 8) : d->t->modrm >> 3 & 7;
    if (d->t->form == FORM_MEM)
        put_mem(g, d, reg3);
    else if (d->t->form == FORM_FIXED)
        put(d, d->t->modrm);
    else if (d->t->form == FORM_REG)
        put(d, 0xc0u | reg3 << 3 | rng_below(g->r, 8));
    put_imm(g, d);
}

static bool decode(struct gen *g, struct draft *d)
{
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&g->decoder, d->bytes, d->size, &d->insn, d->ops));
}

static unsigned gpr_number(ZydisRegister reg)
{
    ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
        return NO_REG;
    return (unsigned)(wide - ZYDIS_REGISTER_RAX);
}

static bool add_setup(const struct gen *g, struct draft *d, unsigned reg, uint64_t value)
{
    if (reg == NO_REG || reserved(g, reg) || d->setup_count == MAX_SETUPS)
        return false;
    if (d->t->form == FORM_MEM && (reg == d->mem.base || reg == d->mem.index))
        return false;
    for (unsigned i = 0; i < d->setup_count; i++)
        if (d->setups[i].reg == reg)
            return false;
    d->setups[d->setup_count++] = (struct setup){(uint8_t)reg, value};
    return true;
}

static uint64_t dirty_high(struct gen *g, const struct draft *d, uint64_t value)
{
    bool narrow = d->insn.address_width == 32 && rng_percent(g->r, 50);
    return narrow ? (uint32_t)value | rng_u64(g->r) << 32 : value;
}

/* rdi of a string instruction and the like. */
static bool aim_implicit(struct gen *g, struct draft *d, const ZydisDecodedOperand *op)
{
    unsigned base = gpr_number(op->mem.base);
    if (op->mem.base == ZYDIS_REGISTER_NONE)
        return true;
    if (base == RSP)
        return !g->in_func;
    if (base != NO_REG && (base == g->pin_a || base == g->pin_b))
        return d->insn.address_width == 64;
    return add_setup(g, d, base, dirty_high(g, d, generic_target(g, d->insn.address_width == 32)));
}

/* With UMIP the kernel emulates these from the instruction's bytes, which are others when
 * translated: it does not know all prefixes. */
static bool emulated_by_kernel(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_SGDT || m == ZYDIS_MNEMONIC_SIDT || m == ZYDIS_MNEMONIC_SLDT ||
           m == ZYDIS_MNEMONIC_STR || m == ZYDIS_MNEMONIC_SMSW;
}

static bool takes_operand(struct gen *g, struct draft *d, const ZydisDecodedOperand *op)
{
    bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

    /* The stack pointer is not the same in any two runs of a function; no vector may hold it. */
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && gpr_number(op->reg.value) == RSP &&
        d->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return false;

    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && writes) {
        ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);
        unsigned gpr = gpr_number(op->reg.value);
        if (class == ZYDIS_REGCLASS_SEGMENT)
            return false;
        if (gpr == RSP)
            return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !g->in_func;
        return gpr == NO_REG || !reserved(g, gpr);
    }
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return true;
    if (op->mem.segment == ZYDIS_REGISTER_GS && !(g->opt->features & FEATURE_GS))
        return false;
    if ((op->mem.segment == ZYDIS_REGISTER_GS || op->mem.segment == ZYDIS_REGISTER_FS ||
         d->insn.address_width == 32) &&
        emulated_by_kernel(d->insn.mnemonic))
        return false;
    if (op->mem.segment == ZYDIS_REGISTER_FS && !d->mem.seg && d->t->form == FORM_MEM)
        return false;
    if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
        return op->mem.type != ZYDIS_MEMOP_TYPE_VSIB || d->mem.vsib;
    if (op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64)
        return true;
    return aim_implicit(g, d, op);
}

static bool writes_flags(const ZydisDecodedInstruction *insn)
{
    const ZydisAccessedFlags *f = insn->cpu_flags;
    return f && (f->modified | f->set_0 | f->set_1 | f->undefined);
}

/* A bit index in a register reaches far beyond the operand. */
static bool aim_bit_index(struct gen *g, struct draft *d)
{
    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        break;
    default:
        return true;
    }
    if (d->t->form != FORM_MEM || d->ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER || d->mem.wild)
        return true;
    unsigned reg = gpr_number(d->ops[1].reg.value);
    if (reg == g->pin_index)
        return true;
    return add_setup(g, d, reg, (uint64_t)(int64_t)((int)rng_below(g->r, 2048) - 1024));
}

/* Most quotients of random numbers overflow. */
static bool aim_division(struct gen *g, struct draft *d)
{
    if (d->insn.mnemonic != ZYDIS_MNEMONIC_DIV && d->insn.mnemonic != ZYDIS_MNEMONIC_IDIV)
        return true;
    if (g->faults && rng_percent(g->r, 25))
        return true;
    if (d->insn.operand_width == 8)
        return add_setup(g, d, RAX, rng_below(g->r, 128));
    if (rng_percent(g->r, 50) && !add_setup(g, d, RAX, rng_u64(g->r) >> 2))
        return false;
    return add_setup(g, d, RDX, rng_below(g->r, 3));
}

/* clzero's operand looks like a register to the decoder. */
static bool aim_clzero(struct gen *g, struct draft *d)
{
    return d->insn.mnemonic != ZYDIS_MNEMONIC_CLZERO ||
           add_setup(g, d, RAX, generic_target(g, d->insn.address_width == 32));
}

static bool aim_count(struct gen *g, struct draft *d)
{
    if (!(d->insn.attributes &
          (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
        return true;
    if (!(d->insn.attributes & ZYDIS_ATTRIB_ACCEPTS_REP) &&
        !(d->insn.attributes & ZYDIS_ATTRIB_ACCEPTS_REPE) &&
        !(d->insn.attributes & ZYDIS_ATTRIB_ACCEPTS_REPNE))
        return true;
    return add_setup(g, d, RCX, dirty_high(g, d, rng_below(g->r, 21)));
}

static bool accept(struct gen *g, struct draft *d)
{
    const ZydisDecodedInstruction *insn = &d->insn;

    if (templates_denied(insn->mnemonic) || (g->keep_flags && writes_flags(insn)))
        return false;
    if (insn->meta.category == ZYDIS_CATEGORY_CALL || insn->meta.category == ZYDIS_CATEGORY_RET ||
        insn->meta.category == ZYDIS_CATEGORY_COND_BR ||
        insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
        insn->meta.category == ZYDIS_CATEGORY_INTERRUPT)
        return false;
    d->setup_count = 0;
    for (unsigned i = 0; i < insn->operand_count; i++)
        if (!takes_operand(g, d, &d->ops[i]))
            return false;
    return aim_bit_index(g, d) && aim_division(g, d) && aim_count(g, d) && aim_clzero(g, d);
}

static void emit_vsib_indices(struct gen *g, const struct draft *d)
{
    uint64_t from = g->seq->slot + TABLE_OFF + TABLE_INDICES;
    unsigned reg = d->mem.index, r = reg >> 3 & 1, modrm = (reg & 7) << 3 | 5;
    if (d->t->encoding == ENC_EVEX) /* vmovdqu32 zmm, [rip] */
        EMIT_RIP(g, from, NULL, 0, 0x62, (uint8_t)((r ^ 1) << 7 | 0x61 | (~reg & 16)), 0x7e, 0x48,
                 0x6f, (uint8_t)modrm);
    else /* vmovdqu ymm, [rip] */
        EMIT_RIP(g, from, NULL, 0, 0xc5, (uint8_t)((r ^ 1) << 7 | 0x7e), 0x6f, (uint8_t)modrm);
}

static void emit_draft(struct gen *g, struct draft *d)
{
    emit_unit(g);
    if (d->t->form == FORM_MEM && d->mem.vsib)
        emit_vsib_indices(g, d);
    if (d->t->form == FORM_MEM && d->mem.set_base)
        emit_mov_imm(g, d->mem.base, d->mem.base_value, false);
    for (unsigned i = 0; i < d->setup_count; i++)
        emit_mov_imm(g, d->setups[i].reg, d->setups[i].value, false);
    if (d->disp_off != NO_OFF) {
        uint32_t disp = (uint32_t)(d->mem.target - (emit_here(g) + d->insn.length));
        memcpy(d->bytes + d->disp_off, &disp, 4);
    }
    emit(g, d->bytes, d->insn.length, false);
}

static enum group pick_group(struct gen *g)
{
    static const uint8_t weight[THEME_COUNT][GROUP_EVEX] = {
        [THEME_INT] = {85, 2, 2, 6, 5},    [THEME_X87] = {25, 65, 5, 3, 2},
        [THEME_SSE] = {20, 2, 18, 58, 2},  [THEME_AVX] = {20, 0, 0, 12, 68},
        [THEME_MIX] = {45, 12, 7, 17, 19},
    };
    if (g->faults && g->opt->features & FEATURE_SYSTEM && rng_below(g->r, 1000) < 8)
        return GROUP_SYSTEM;
    if (g->faults && g->opt->features & FEATURE_ABSENT && rng_below(g->r, 1000) < 8)
        return GROUP_ABSENT;
    unsigned dice = rng_below(g->r, 100), group = 0;
    while (dice >= weight[g->theme][group])
        dice -= weight[g->theme][group++];
    if (group == GROUP_VEX && g->opt->cpu->avx512 && rng_percent(g->r, 60))
        return GROUP_EVEX;
    return (enum group)group;
}

static bool choose_memory(struct gen *g, struct draft *d, bool vsib)
{
    d->mem = (struct mem){.base = NO_REG, .index = NO_REG};
    if (d->t->form != FORM_MEM)
        return true;
    d->mem.addr32 = d->addr32;
    d->mem.vsib = vsib;
    if (!aim(g, &d->mem))
        return false;
    if (vsib) {
        d->mem.index = (uint8_t)rng_below(g->r, d->t->encoding == ENC_EVEX ? 32 : 16);
        d->mem.scale_log2 = (uint8_t)rng_below(g->r, 4);
    }
    return true;
}

static bool needs_vsib(const struct insn_template *t)
{
    return t->encoding != ENC_LEGACY && t->map == 2 &&
           ((t->opcode >= 0x90 && t->opcode <= 0x93) ||
            (t->encoding == ENC_EVEX &&
             ((t->opcode >= 0xa0 && t->opcode <= 0xa3) || t->opcode == 0xc6 || t->opcode == 0xc7)));
}

static bool try_template(struct gen *g, const struct insn_template *t)
{
    struct draft d = {.t = t};
    bool addr32 = g->opt->features & FEATURE_ADDR32;
    d.addr32 = addr32 && rng_percent(g->r, t->form == FORM_MEM || t->form == FORM_NO_MODRM ? 8 : 2);
    if (!choose_memory(g, &d, t->form == FORM_MEM && needs_vsib(t)))
        return false;
    build(g, &d, rng_below(g->r, 16));
    if (!decode(g, &d)) {
        if (t->encoding == ENC_LEGACY)
            return false;
        build(g, &d, 0);
        if (!decode(g, &d))
            return false;
    }
    if (!accept(g, &d))
        return false;
    emit_draft(g, &d);
    return true;
}

bool generic_item(struct gen *g)
{
    for (int tries = 0; tries < 60; tries++) {
        const struct insn_template *t = templates_pick(g->r, pick_group(g));
        if (t && try_template(g, t))
            return true;
    }
    return false;
}
