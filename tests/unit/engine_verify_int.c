/* engine_verify_int.c - what the verifiers of blocks and of superblocks share.
 * SPDX-License-Identifier: MIT */
#include "tests/unit/engine_verify_int.h"

#include <string.h>

#include "engine/core/engine.h"
#include "engine/core/layout.h"

struct verify verify;
static ZydisDecoder decoder;

bool verify_fail_at(uint32_t off)
{
    char text[sizeof verify.why];
    snprintf(text, sizeof text, "block 0x%llx+0x%x: %.200s", (unsigned long long)verify.b->pc, off,
             verify.why);
    memcpy(verify.why, text, sizeof verify.why);
    return false;
}

uint64_t verify_fresh(void)
{
    uint64_t x = verify.random += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* ---- decoding ---- */

const uint8_t *verify_at(uint32_t off)
{
    const struct block *b = verify.b;
    return off < b->host_len ? b->host + off : b->cold + (off - b->host_len);
}

int64_t verify_off(const uint8_t *at)
{
    const struct block *b = verify.b;
    if (at >= b->host && at < b->host + b->host_len)
        return at - b->host;
    return at >= b->cold && at < b->cold + b->cold_len ? b->host_len + (at - b->cold) : -1;
}

uint32_t verify_bytes(void)
{
    return verify.b->host_len + verify.b->cold_len;
}

int64_t verify_jump(const struct decoded *h)
{
    return verify_off(h->bytes + h->z.length + h->op[0].imm.value.s);
}

int64_t verify_literal(const struct decoded *h)
{
    return verify_off(h->bytes + h->z.length + h->op[0].mem.disp.value);
}

bool verify_decode(uint32_t off, struct decoded *d)
{
    EXPECT(off < verify.code_len, off, "outside of the code");
    d->off = off;
    d->bytes = verify_at(off);
    uint32_t end = off < verify.b->host_len && verify.code_len > verify.b->host_len
                       ? verify.b->host_len
                       : verify.code_len;
    ZyanStatus st = ZydisDecoderDecodeFull(&decoder, d->bytes, end - off, &d->z, d->op);
    EXPECT(ZYAN_SUCCESS(st), off, "does not decode: %02x %02x %02x %02x", d->bytes[0], d->bytes[1],
           d->bytes[2], d->bytes[3]);
    return true;
}

void verify_decode_guest(const struct insn *in, struct decoded *d)
{
    d->bytes = in->bytes;
    d->off = 0;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, in->bytes, in->len, &d->z, d->op)))
        d->z.operand_count = 0; /* insn_decode() thought otherwise: no operand will match */
}

bool verify_read_insn(gaddr pc, struct insn *in)
{
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = verify.src->fetch(pc, bytes, sizeof bytes);
    n += n < sizeof bytes ? verify.src->fetch(pc + n, bytes + n, sizeof bytes - n) : 0;
    EXPECT(insn_decode(in, pc, bytes, n) == 0, 0, "made of unreadable code");
    return true;
}

const struct fault_point *verify_point_at(uint32_t off)
{
    for (int i = 0; i < verify.b->point_count; i++)
        if (verify.b->point[i].host_off == off)
            return &verify.b->point[i];
    return NULL;
}

/* ---- comparing ---- */

bool verify_same_registers(const struct sim *s, const uint64_t host[GPR_COUNT], uint32_t off)
{
    for (int i = 0; i < GPR_COUNT; i++)
        EXPECT(host[i] == s->guest[i], off, "register %d is not the target's", i);
    return true;
}

/* The state with rax, rcx and the flags in their slots. */
bool verify_same_spilled_state(const struct sim *s, uint32_t off)
{
    uint64_t host[GPR_COUNT];
    memcpy(host, s->host, sizeof host);
    host[RAX] = s->rax;
    host[RCX] = s->rcx;
    EXPECT(s->flags == s->guest_flags, off, "spilled flags are not the target's");
    return verify_same_registers(s, host, off);
}

bool verify_same_fault_state(const struct sim *s, const struct fault_point *p)
{
    uint64_t host[GPR_COUNT];
    memcpy(host, s->host, sizeof host);
    if (p->spill & SPILL_RAX)
        host[RAX] = s->rax;
    if (p->spill & SPILL_RCX)
        host[RCX] = s->rcx;
    if (p->spill & SPILL_S0)
        host[p->spill >> 8 & 15] = s->s0;
    EXPECT((p->spill & SPILL_FLAGS ? s->flags : s->host_flags) == s->guest_flags, p->host_off,
           "a fault would show other flags");
    return verify_same_registers(s, host, p->host_off);
}

/* ---- operands ---- */

static uint64_t value(ZydisRegister reg, const uint64_t gpr[GPR_COUNT])
{
    int n = insn_gpr_number(reg);
    return n < 0 ? 0 : gpr[n];
}

/* `next`: the address behind the instruction. Without a vector index. */
gaddr verify_address(const struct decoded *d, const ZydisDecodedOperand *op,
                     const uint64_t gpr[GPR_COUNT], gaddr next)
{
    bool rip = op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP;
    /* Zydis 4.0 takes [disp32] with a SIB byte, REX.B and an address-size prefix for [r13d]. */
    bool no_base = op->mem.base == ZYDIS_REGISTER_R13D && d->z.raw.modrm.mod == 0 &&
                   d->z.raw.modrm.rm == 4 && d->z.raw.sib.base == 5;
    gaddr a = (rip       ? next
               : no_base ? 0
                         : value(op->mem.base, gpr)) +
              value(op->mem.index, gpr) * op->mem.scale +
              (uint64_t)(no_base ? d->z.raw.disp.value : op->mem.disp.value);
    if (d->z.mnemonic == ZYDIS_MNEMONIC_POP && op->mem.base == ZYDIS_REGISTER_RSP &&
        op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
        a += d->z.operand_width / 8u; /* computed after rsp was incremented */
    if (d->z.address_width == 32 && op->mem.base != ZYDIS_REGISTER_RSP) /* what push writes */
        a = (uint32_t)a;
    /* A prefix does not concern the destination of movdir64b, though Zydis 4.0 says so. */
    if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
        (d->z.mnemonic == ZYDIS_MNEMONIC_MOVDIR64B &&
         op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
        return a;
    return a + (op->mem.segment == ZYDIS_REGISTER_FS   ? verify.fs_base
                : op->mem.segment == ZYDIS_REGISTER_GS ? verify.gs_base
                                                       : 0);
}

/* mov and jump operands: gs:[slot] without registers. Returns the offset, or -1. */
int64_t verify_slot_of(const ZydisDecodedOperand *op)
{
    if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.segment != ZYDIS_REGISTER_GS ||
        op->mem.base != ZYDIS_REGISTER_NONE || op->mem.index != ZYDIS_REGISTER_NONE)
        return -1;
    return op->mem.disp.value;
}

static uint64_t *spill_slot(struct sim *s, int64_t slot)
{
    switch (slot) {
    case T_SPILL_RAX:
        return &s->rax;
    case T_SPILL_RCX:
        return &s->rcx;
    case T_SPILL_FLAGS:
        return &s->flags;
    case T_SPILL_S0:
        return &s->s0;
    case T_SPILL_S1:
        return &s->s1;
    default:
        return NULL;
    }
}

/* Memory that is named but not touched: no kernel turns MPX on any more, so it does nothing. */
static bool only_names(const struct decoded *d, const ZydisDecodedOperand *op)
{
    return op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || d->z.mnemonic == ZYDIS_MNEMONIC_NOP ||
           d->z.meta.category == ZYDIS_CATEGORY_MPX;
}

/* ---- copies ---- */

static bool same_memory(const struct sim *s, const struct insn *in, const struct decoded *h,
                        const struct decoded *g, int i)
{
    const ZydisDecodedOperand *a = &h->op[i], *b = &g->op[i];
    EXPECT(a->mem.type == b->mem.type, h->off, "operand %d is another kind of memory", i);
    EXPECT(only_names(h, a) || a->mem.segment != ZYDIS_REGISTER_GS, h->off,
           "operand %d goes through the engine's gs", i);
    if (a->mem.type == ZYDIS_MEMOP_TYPE_VSIB || a->mem.type == ZYDIS_MEMOP_TYPE_MIB)
        EXPECT(a->mem.index == b->mem.index && a->mem.scale == b->mem.scale, h->off,
               "operand %d has another index", i);
    gaddr host = verify_address(h, a, s->host, (gaddr)h->bytes + h->z.length);
    gaddr guest = verify_address(g, b, s->guest, in->pc + in->len);
    EXPECT(host == guest, h->off, "operand %d is at 0x%llx, not at 0x%llx", i,
           (unsigned long long)host, (unsigned long long)guest);
    return true;
}

/* All of rcx is written, whatever the operands are: in a superblock it may be in its slot then. */
static bool kills_rcx(const struct decoded *h, const ZydisDecodedOperand *op)
{
    switch (h->z.mnemonic) {
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_LZCNT:
    case ZYDIS_MNEMONIC_RDSSPD:
    case ZYDIS_MNEMONIC_RDSSPQ:
        return false;
    default:
        return verify.rcx_is_away && insn_gpr_number(op->reg.value) == RCX && op->size >= 32 &&
               op->actions == ZYDIS_OPERAND_ACTION_WRITE;
    }
}

static bool same_operand(const struct sim *s, const struct insn *in, const struct decoded *h,
                         const struct decoded *g, int i)
{
    const ZydisDecodedOperand *a = &h->op[i], *b = &g->op[i];
    EXPECT(a->type == b->type && a->size == b->size && a->actions == b->actions &&
               a->visibility == b->visibility,
           h->off, "operand %d differs", i);
    switch (a->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: {
        int n = insn_gpr_number(a->reg.value);
        EXPECT(a->reg.value == b->reg.value, h->off, "operand %d is another register", i);
        EXPECT(n < 0 || s->host[n] == s->guest[n] || kills_rcx(h, a), h->off,
               "operand %d is a register in use by the engine", i);
        return true;
    }
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return same_memory(s, in, h, g, i);
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        EXPECT(a->imm.value.u == b->imm.value.u, h->off, "operand %d is another number", i);
        return true;
    default:
        return FAIL(h->off, "operand %d is of a kind that is never copied", i);
    }
}

bool verify_same_instruction(const struct sim *s, const struct insn *in, const struct decoded *h)
{
    const ZydisInstructionAttributes kept = ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP |
                                            ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE |
                                            ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE;
    struct decoded g;
    verify_decode_guest(in, &g);
    EXPECT(h->z.mnemonic == g.z.mnemonic && h->z.encoding == g.z.encoding &&
               h->z.opcode_map == g.z.opcode_map && h->z.opcode == g.z.opcode,
           h->off, "is %s, not %s", ZydisMnemonicGetString(h->z.mnemonic), insn_name(in));
    EXPECT(h->z.operand_width == g.z.operand_width && h->z.operand_count == g.z.operand_count &&
               !((h->z.attributes ^ g.z.attributes) & kept),
           h->off, "%s has another width or prefix", insn_name(in));
    EXPECT(h->z.avx.vector_length == g.z.avx.vector_length &&
               h->z.avx.mask.mode == g.z.avx.mask.mode && h->z.avx.mask.reg == g.z.avx.mask.reg &&
               h->z.avx.broadcast.mode == g.z.avx.broadcast.mode &&
               h->z.avx.rounding.mode == g.z.avx.rounding.mode &&
               h->z.avx.has_sae == g.z.avx.has_sae,
           h->off, "%s has other vector attributes", insn_name(in));
    for (int i = 0; i < h->z.operand_count; i++)
        if (!same_operand(s, in, h, &g, i))
            return false;
    return true;
}

/* What it writes is new, and the same on both sides. */
void verify_execute_copy(struct sim *s, const struct decoded *h)
{
    for (int i = 0; i < h->z.operand_count; i++) {
        const ZydisDecodedOperand *op = &h->op[i];
        int n = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? insn_gpr_number(op->reg.value) : -1;
        if (n >= 0 && (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            s->host[n] = s->guest[n] = verify_fresh();
    }
    const ZydisAccessedFlags *f = h->z.cpu_flags;
    if (f && (f->modified | f->set_0 | f->set_1 | f->undefined))
        s->host_flags = s->guest_flags = verify_fresh();
}

/* mov rcx, operand */
bool verify_run_load_target(struct sim *s, const struct insn *in, const struct decoded *h)
{
    struct decoded g;
    verify_decode_guest(in, &g);
    EXPECT(h->z.mnemonic == ZYDIS_MNEMONIC_MOV && h->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               h->op[0].reg.value == ZYDIS_REGISTER_RCX && h->op[1].type == g.op[0].type,
           h->off, "an indirect transfer does not load its target");
    if (g.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        int n = insn_gpr_number(g.op[0].reg.value);
        EXPECT(h->op[1].reg.value == g.op[0].reg.value && n >= 0 && s->host[n] == s->guest[n],
               h->off, "an indirect transfer loads the wrong register");
        s->target = s->guest[n];
    } else {
        EXPECT(h->op[1].mem.segment != ZYDIS_REGISTER_GS, h->off,
               "an indirect transfer goes through the engine's gs");
        gaddr host = verify_address(h, &h->op[1], s->host, (gaddr)h->bytes + h->z.length);
        gaddr guest = verify_address(&g, &g.op[0], s->guest, in->pc + in->len);
        EXPECT(host == guest && h->op[1].size == 64 && g.op[0].size == 64, h->off,
               "an indirect transfer reads 0x%llx, not 0x%llx", (unsigned long long)host,
               (unsigned long long)guest);
        s->target = verify_fresh();
    }
    s->host[RCX] = s->target;
    return true;
}

/* ---- what the translator adds ---- */

bool verify_is_reg(const ZydisDecodedOperand *op, ZydisRegister reg)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

static int wide_gpr(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64
               ? insn_gpr_number(op->reg.value)
               : -1;
}

bool verify_run_lea(struct sim *s, const struct decoded *h)
{
    int dst = wide_gpr(&h->op[0]);
    EXPECT(dst >= 0, h->off, "an unexpected lea");
    s->host[dst] = verify_address(h, &h->op[1], s->host, (gaddr)h->bytes + h->z.length);
    return true;
}

bool verify_run_mov(struct sim *s, const struct decoded *h)
{
    int dst = wide_gpr(&h->op[0]), src = wide_gpr(&h->op[1]);
    if (verify_is_reg(&h->op[0], ZYDIS_REGISTER_EAX) &&
        verify_is_reg(&h->op[1], ZYDIS_REGISTER_ECX)) {
        s->host[RAX] = (uint32_t)s->host[RCX];
        return true;
    }
    if (dst >= 0 && h->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        s->host[dst] = h->op[1].imm.value.u;
        return true;
    }
    if (dst >= 0 && verify_slot_of(&h->op[1]) == T_GS_BASE) {
        s->host[dst] = verify.gs_base;
        return true;
    }
    uint64_t *from = spill_slot(s, verify_slot_of(&h->op[1])),
             *to = spill_slot(s, verify_slot_of(&h->op[0]));
    EXPECT((dst >= 0 && from) || (src >= 0 && to), h->off, "an unexpected mov");
    if (from)
        s->host[dst] = *from;
    else
        *to = s->host[src];
    return true;
}

/* Pairs: lahf, seto al; add al, 127, sahf. */
bool verify_run_flag_move(struct sim *s, const struct decoded *h, uint32_t *next)
{
    struct decoded second;
    bool save = h->z.mnemonic == ZYDIS_MNEMONIC_LAHF;
    if (!verify_decode(*next, &second))
        return false;
    verify.visited[*next] = 1;
    *next += second.z.length;
    if (save) {
        EXPECT(second.z.mnemonic == ZYDIS_MNEMONIC_SETO &&
                   verify_is_reg(&second.op[0], ZYDIS_REGISTER_AL),
               h->off, "half of the flags saved");
        s->host[RAX] = s->host_flags;
        return true;
    }
    EXPECT(h->op[1].imm.value.u == 127 && second.z.mnemonic == ZYDIS_MNEMONIC_SAHF, h->off,
           "half of the flags restored");
    s->host_flags = s->host[RAX];
    s->host[RAX] = verify_fresh();
    return true;
}

/* From rcx to the entry of the table, in rax: and, shl, add. */
bool verify_run_index(struct sim *s, const struct decoded *h)
{
    const ZydisDecodedOperand *a = &h->op[0], *b = &h->op[1];
    if (h->z.mnemonic == ZYDIS_MNEMONIC_ADD && verify_is_reg(a, ZYDIS_REGISTER_RAX) &&
        verify_slot_of(b) == T_LOOKUP) {
        s->host[RAX] += (gaddr)engine.lookup;
        return true;
    }
    EXPECT(verify_is_reg(a, ZYDIS_REGISTER_EAX) && b->type == ZYDIS_OPERAND_TYPE_IMMEDIATE, h->off,
           "unexpected arithmetic");
    if (h->z.mnemonic == ZYDIS_MNEMONIC_AND && b->imm.value.u == LOOKUP_SIZE - 1)
        s->host[RAX] &= LOOKUP_SIZE - 1;
    else if (h->z.mnemonic == ZYDIS_MNEMONIC_SHL && b->imm.value.u == 4)
        s->host[RAX] = (uint32_t)(s->host[RAX] << 4);
    else
        return FAIL(h->off, "unexpected arithmetic");
    return true;
}

/* A word of the entry that rax points to. */
bool verify_is_entry(const ZydisDecodedOperand *op, int64_t at)
{
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.segment == ZYDIS_REGISTER_DS &&
           op->mem.base == ZYDIS_REGISTER_RAX && op->mem.index == ZYDIS_REGISTER_NONE &&
           op->mem.disp.value == at;
}

/* ---- flags at entries ---- */

struct sim verify_start_state(void)
{
    struct sim s = {0};
    for (int i = 0; i < GPR_COUNT; i++)
        s.host[i] = s.guest[i] = verify_fresh();
    s.host_flags = s.guest_flags = verify_fresh();
    s.rax = verify_fresh(), s.rcx = verify_fresh(), s.flags = verify_fresh(), s.s0 = verify_fresh(),
    s.s1 = verify_fresh();
    return s;
}

void verify_start(const struct block *b, const struct code_source *src,
                  const struct translate_options *opt)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    verify.b = b;
    verify.src = src;
    verify.opt = opt;
    verify.stop = 0;
    verify.rcx_is_away = b->base != NULL;
    verify.random = b->pc;
    verify.gs_base = verify_fresh();
    verify.fs_base = verify_fresh();
    memset(verify.looked_at, 0, sizeof verify.looked_at);
}
