/* translate.c - from target code to cache code.
 *
 * SPDX-License-Identifier: MIT
 *
 * The target's instructions are copied; what is added or changed:
 *
 *  - Block entries (cache.h). The tick is `sub qword gs:[left], 1; js expired`. It sits at the
 * entry of the block that is transferred to, because that block knows whether its incoming flags
 * are dead; if they are not, the flags travel through ax around the tick.
 *  - Direct transfers become `jmp rel32`, at first to a stub that leaves for the runtime, later
 * patched to the target block. A call pushes the original return address, from a literal behind the
 * block.
 *  - Indirect transfers and returns: rax, rcx and flags are spilled, rcx gets the target, a table
 * in struct thread is probed, and the found block's first entry gets the three back.
 *  - rip-relative operands: the displacement is patched; out of reach, an absolute 32-bit address
 * or a scratch register stands in. gs-relative operands use the target's own gs base through a
 * scratch.
 *
 * Invariants:
 * 1. The target's stack is written only as the target's own instruction does; nothing below rsp.
 * 2. At every host instruction that can fault, the last fault point at or before it tells the
 * target pc and which registers are spilled; the state is that before the instruction.
 * 3. Ticks are a function of the target's execution alone, not of how blocks are cut or linked.
 */
#include "engine/core/translate.h"

#include "engine/core/engine.h"
#include "engine/core/instrument.h"
#include "engine/core/layout.h"
#include "engine/rt/rt.h"
#include "engine/x86/emit.h"
#include "engine/x86/insn.h"

enum {
    MAX_INSNS = 64,
    MAX_SITES = 8 + 2 * MAX_INSNS,
    MAX_POINTS = 4 + 2 * MAX_INSNS,
    LOOKAHEAD = 6
};

/* One block under construction. */
struct job {
    struct emit e;
    struct block *blk;
    const struct code_source *src;
    const struct translate_options *opt;
    struct insn insn[MAX_INSNS];
    int count;
    uint32_t live_in;
    gaddr peek[BLOCK_PEEKS]; /* other pages that live_in depends on */
    int peeks;
    struct exit_site site[MAX_SITES];
    int sites;
    struct fault_point point[MAX_POINTS];
    int points;
    uint8_t *literal_at; /* rel32 of a push that wants the return address */
    gaddr literal;
};

static struct job the_job; /* the baton's holder only */

/* ---- reading ---- */

/* Decodes the instruction at pc, fetching across a page end where needed. 0, or -1 with *fault. */
static int read_insn(const struct code_source *src, gaddr pc, struct insn *in, gaddr *fault)
{
    uint8_t bytes[INSN_MAX_BYTES];
    size_t n = src->fetch(pc, bytes, sizeof bytes);
    *fault = pc;
    if (!n)
        return -1;
    if (n < sizeof bytes && insn_decode(in, pc, bytes, n) == 0 && in->kind != INSN_ILLEGAL)
        return 0;
    if (n < sizeof bytes) {
        size_t more = src->fetch(pc + n, bytes + n, sizeof bytes - n);
        *fault = pc + n;
        n += more;
    }
    return insn_decode(in, pc, bytes, n);
}

static int read_block(struct job *j, gaddr pc, gaddr *fault)
{
    gaddr page = PAGE_DOWN(pc), at = pc;
    j->count = 0;
    while (j->count < (j->opt->one ? 1 : MAX_INSNS)) {
        struct insn *in = &j->insn[j->count];
        if (PAGE_DOWN(at) != page)
            break;
        if (read_insn(j->src, at, in, fault) < 0)
            return j->count ? 0 : -1; /* the fault belongs to the next block */
        j->count++;
        at += in->len;
        if (insn_ends_block(in))
            break;
    }
    return 0;
}

/* ---- flag liveness ---- */

/* May the translation depend on the code at pc? Other pages than the block's own are noted. */
static bool may_peek(struct job *j, gaddr pc)
{
    gaddr page = PAGE_DOWN(pc);
    if (page == PAGE_DOWN(j->insn[0].pc))
        return true;
    for (int i = 0; i < j->peeks; i++)
        if (j->peek[i] == page)
            return true;
    if (j->peeks == BLOCK_PEEKS || !j->src->steady(pc))
        return false;
    j->peek[j->peeks++] = page;
    return true;
}

/* Flags that may be read at pc before they are written, looking at a few instructions. */
static uint32_t live_at(struct job *j, gaddr pc)
{
    uint32_t undecided = FLAGS_ARITH, live = 0;
    for (int i = 0; i < LOOKAHEAD && undecided; i++) {
        struct insn in;
        gaddr fault;
        if (!may_peek(j, pc) || read_insn(j->src, pc, &in, &fault) < 0 ||
            !may_peek(j, pc + in.len - 1))
            break;
        live |= in.flags_read & undecided;
        undecided &= ~(in.flags_kill | in.flags_read);
        pc += in.len;
        if (in.kind == INSN_JMP || in.kind == INSN_CALL)
            pc = in.target;
        else if (in.kind != INSN_PLAIN)
            break;
    }
    return live | undecided;
}

static uint32_t live_after(struct job *j)
{
    const struct insn *last = &j->insn[j->count - 1];
    switch (last->kind) {
    case INSN_JMP:
    case INSN_CALL:
        return live_at(j, last->target);
    case INSN_PLAIN:
        return live_at(j, last->pc + last->len);
    default:
        return FLAGS_ARITH;
    }
}

static uint32_t live_into(struct job *j)
{
    uint32_t undecided = FLAGS_ARITH, live = 0;
    if (j->opt->exact_flags || j->opt->one)
        return FLAGS_ARITH;
    for (int i = 0; i < j->count && undecided; i++) {
        live |= j->insn[i].flags_read & undecided;
        undecided &= ~(j->insn[i].flags_kill | j->insn[i].flags_read);
    }
    return live | (undecided ? undecided & live_after(j) : 0);
}

/* ---- exits ---- */

static struct exit_site *site_add(struct job *j, enum exit_kind kind, gaddr pc, gaddr target)
{
    rt_check(j->sites < MAX_SITES);
    struct exit_site *s = &j->site[j->sites++];
    *s = (struct exit_site){.kind = kind, .pc = pc, .target = target};
    return s;
}

static void point_add(struct job *j, const struct insn *in, uint16_t spill)
{
    rt_check(j->points < MAX_POINTS);
    j->point[j->points++] = (struct fault_point){(uint16_t)(j->e.p - j->blk->host),
                                                 (uint16_t)(in->pc - j->blk->pc), spill};
}

/* `mov gs:[exit], site; jmp gs:[h_exit]`. The final address of a site is known before it is copied
 * to the block's metadata: sites are laid out in order. */
static void emit_leave(struct job *j, const struct exit_site *s, uint32_t door)
{
    int64_t id = (int64_t)(gaddr)&j->blk->site[s - j->site] - (int64_t)engine.base;
    rt_check(id == (int32_t)id);
    emit_gs_store_imm(&j->e, T_EXIT, (int32_t)id);
    emit_gs_jmp(&j->e, door);
}

/* A direct transfer: the rel32 at `patch` leads to a stub, emitted with the others at the end. */
static void direct_exit(struct job *j, uint8_t *patch, const struct insn *in, gaddr target,
                        bool tick)
{
    struct exit_site *s = site_add(j, EXIT_DIRECT, in->pc, target);
    s->patch = patch;
    s->tick = tick;
}

static void emit_stubs(struct job *j)
{
    for (int i = 0; i < j->sites; i++) {
        struct exit_site *s = &j->site[i];
        if (s->kind != EXIT_DIRECT)
            continue;
        s->stub = j->e.p;
        emit_patch(s->patch, s->stub);
        emit_leave(j, s, T_H_EXIT);
    }
}

/* ---- entries ---- */

static void emit_entries(struct job *j)
{
    bool live = j->live_in != 0;
    if (live) {
        emit_gs_load(&j->e, RAX, T_SPILL_FLAGS);
        emit_flags_from_ax(&j->e);
    }
    emit_gs_load(&j->e, RCX, T_SPILL_RCX);
    emit_gs_load(&j->e, RAX, T_SPILL_RAX);
    j->blk->tick_off = (uint16_t)(j->e.p - j->blk->host);
    if (live) {
        emit_gs_store(&j->e, RAX, T_SPILL_RAX);
        emit_flags_to_ax(&j->e);
    }
    emit_gs_decrement(&j->e, T_LEFT);
    struct exit_site *s = site_add(j, EXIT_EXPIRED, j->blk->pc, j->blk->pc);
    s->patch = emit_jcc(&j->e, 0x8); /* js */
    if (live) {
        emit_flags_from_ax(&j->e);
        emit_gs_load(&j->e, RAX, T_SPILL_RAX);
    }
    j->blk->plain_off = (uint16_t)(j->e.p - j->blk->host);
}

static void emit_expired_stub(struct job *j)
{
    struct exit_site *s = &j->site[0];
    emit_patch(s->patch, j->e.p);
    if (j->live_in) {
        emit_flags_from_ax(&j->e);
        emit_gs_load(&j->e, RAX, T_SPILL_RAX);
    }
    emit_leave(j, s, T_H_EXIT);
}

static void emit_spill_flags(struct job *j)
{
    emit_gs_store(&j->e, RAX, T_SPILL_RAX);
    emit_flags_to_ax(&j->e);
    emit_gs_store(&j->e, RAX, T_SPILL_FLAGS);
}

/* Compares the target's bytes with those translated; leaves when they differ. */
static void emit_self_check(struct job *j, const uint8_t *bytes, size_t len)
{
    uint8_t *fail[MAX_INSNS * INSN_MAX_BYTES / 8 + 8];
    int fails = 0;
    struct emit *e = &j->e;
    emit_gs_store(e, RCX, T_SPILL_RCX);
    emit_spill_flags(j);
    emit_mov_imm64(e, RCX, j->blk->pc);
    /* It faults when the file behind it has ended, or misaligned under the AC flag. */
    point_add(j, &j->insn[0], SPILL_RAX | SPILL_RCX | SPILL_FLAGS | SPILL_CHECK);
    for (size_t i = 0; i < len;) {
        size_t n = len - i >= 8 ? 8 : 1;
        if (n == 8) {
            uint64_t v;
            memcpy(&v, bytes + i, 8);
            emit_mov_imm64(e, RAX, v);
            emit_bytes(e, (const uint8_t[]){0x48, 0x39, 0x81}, 3); /* cmp [rcx+disp32], rax */
            emit32(e, (uint32_t)i);
        } else {
            emit_bytes(e, (const uint8_t[]){0x80, 0xb9}, 2); /* cmp byte [rcx+disp32], imm8 */
            emit32(e, (uint32_t)i);
            emit8(e, bytes[i]);
        }
        rt_check((size_t)fails < ARRAY_LEN(fail));
        fail[fails++] = emit_jcc(e, 0x5); /* jne */
        i += n;
    }
    emit_gs_load(e, RAX, T_SPILL_FLAGS);
    emit_flags_from_ax(e);
    emit_gs_load(e, RCX, T_SPILL_RCX);
    emit_gs_load(e, RAX, T_SPILL_RAX);
    uint8_t *over = emit_jmp(e);
    for (int i = 0; i < fails; i++)
        emit_patch(fail[i], e->p);
    emit_gs_load(e, RAX, T_SPILL_FLAGS);
    emit_flags_from_ax(e);
    emit_gs_load(e, RCX, T_SPILL_RCX);
    emit_gs_load(e, RAX, T_SPILL_RAX);
    emit_leave(j, site_add(j, EXIT_STALE, j->blk->pc, j->blk->pc), T_H_EXIT);
    emit_patch(over, e->p);
}

/* ---- instructions with a changed operand ---- */

static int pick_scratch(uint32_t used)
{
    static const uint8_t order[] = {RAX, RCX, RDX, RBX, RSI, RDI};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (!(used >> order[i] & 1))
            return order[i];
    rt_die("translator: no scratch register");
}

/* The copied instruction's base becomes `reg` (one of the low eight, not rsp or rbp), without index
 * or displacement. Writes to out, returns the length. */
static size_t with_base(const struct insn *in, int reg, size_t tail_at, uint8_t *out)
{
    size_t n = in->modrm_at;
    memcpy(out, in->bytes, n);
    if (in->prefix_at != 0xff) {
        uint8_t *p = out + in->prefix_at;
        switch (in->encoding) {
        case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
            *p &= (uint8_t)~0x03; /* REX.X, REX.B */
            break;
        case ZYDIS_INSTRUCTION_ENCODING_VEX:
            if (*p == 0xc4)
                p[1] |= 0x60; /* inverted X, B */
            break;
        default:
            p[1] |= 0x60; /* EVEX, XOP */
            break;
        }
    }
    out[n++] = (uint8_t)((in->bytes[in->modrm_at] & 0x38) | reg);
    memcpy(out + n, in->bytes + tail_at, in->len - tail_at);
    return n + in->len - tail_at;
}

/* Offset of what follows ModRM, SIB and displacement: the immediate, or the end. */
static size_t operand_end(const struct insn_operands *ops)
{
    const ZydisDecodedInstruction *z = &ops->z;
    size_t end = z->raw.modrm.offset + 1u;
    if (z->attributes & ZYDIS_ATTRIB_HAS_SIB)
        end = z->raw.sib.offset + 1u;
    if (z->raw.disp.size)
        end = z->raw.disp.offset + z->raw.disp.size / 8u;
    return end;
}

/* Bytes before REX, VEX or the opcode: legacy prefixes, and REX prefixes that count for nothing
 * because others follow them. */
static size_t prefix_bytes(const struct insn *in)
{
    static const uint8_t prefix[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e,
                                     0x36, 0x3e, 0x26, 0x64, 0x65};
    for (size_t i = 0; i < in->len; i++) {
        bool is_prefix = i != in->prefix_at && (in->bytes[i] & 0xf0) == 0x40;
        for (size_t k = 0; k < ARRAY_LEN(prefix); k++)
            is_prefix |= prefix[k] == in->bytes[i];
        if (!is_prefix)
            return i;
    }
    return in->len;
}

static void emit_with_scratch(struct job *j, const struct insn *in, const struct insn_operands *ops,
                              int reg, uint16_t spill)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = with_base(in, reg, operand_end(ops), bytes);
    /* An address-size override no longer fits a 64-bit base; for gs the segment is in the base. */
    for (size_t i = 0; i < prefix_bytes(in); i++)
        if (bytes[i] == 0x67 || (in->gs_relative && (bytes[i] == 0x64 || bytes[i] == 0x65)))
            bytes[i] = 0x3e; /* a ds override means nothing in 64-bit mode */
    point_add(j, in, spill);
    emit_bytes(&j->e, bytes, n);
    emit_gs_load(&j->e, reg, T_SPILL_S0);
}

static void emit_far_rip_relative(struct job *j, const struct insn *in, uint16_t spill)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    int reg = pick_scratch(insn_gprs(&ops) | (spill & SPILL_RCX ? 1 << RCX : 0));
    emit_gs_store(&j->e, reg, T_SPILL_S0);
    emit_mov_imm64(&j->e, reg, in->target);
    emit_with_scratch(j, in, &ops, reg, (uint16_t)(spill | SPILL_S0 | reg << 8));
}

/* lea reg, [mem], always with SIB and disp32: a compressed displacement is spelled out that way. */
static void emit_lea(struct emit *e, int reg, const ZydisDecodedOperandMem *mem, bool addr32)
{
    int base = insn_gpr_number(mem->base), index = insn_gpr_number(mem->index);
    uint8_t scale = mem->scale == 8 ? 3 : mem->scale == 4 ? 2 : mem->scale == 2 ? 1 : 0;
    if (addr32)
        emit8(e, 0x67);
    emit8(e, (uint8_t)(0x48 | (index > 7) << 1 | (base > 7)));
    emit8(e, 0x8d);
    emit8(e, (uint8_t)((base < 0 ? 0x04 : 0x84) | reg << 3));
    emit8(e, (uint8_t)(scale << 6 | (index < 0 ? 4 : index & 7) << 3 | (base < 0 ? 5 : base & 7)));
    emit32(e, (uint32_t)mem->disp.value);
}

/* gs:[operand]: scratch = address of the operand without segment + the target's gs base. */
static void emit_gs_relative(struct job *j, const struct insn *in, uint16_t spill)
{
    struct insn_operands ops;
    insn_operands(in, &ops);
    uint32_t used = insn_gprs(&ops) | (spill & SPILL_RCX ? 1u << RCX : 0);
    int reg = pick_scratch(used), second = pick_scratch(used | 1u << reg);
    const ZydisDecodedOperand *mem = NULL;
    for (int i = 0; i < ops.z.operand_count; i++)
        if (ops.op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
            mem = &ops.op[i];
    rt_check(mem);
    emit_gs_store(&j->e, reg, T_SPILL_S0);
    emit_gs_store(&j->e, second, T_SPILL_S1);
    if (in->rip_relative) {
        emit_mov_imm64(&j->e, reg, in->target);
    } else {
        emit_lea(&j->e, reg, &mem->mem, in->addr32);
    }
    emit_gs_load(&j->e, second, T_GS_BASE);
    emit_bytes(
        &j->e, /* lea reg, [reg + second] */
        (const uint8_t[]){0x48, 0x8d, (uint8_t)(0x04 | reg << 3), (uint8_t)(second << 3 | reg)}, 4);
    emit_gs_load(&j->e, second, T_SPILL_S1);
    emit_with_scratch(j, in, &ops, reg, (uint16_t)(spill | SPILL_S0 | reg << 8));
}

/* rip-relative, target in the low 2 GB: [disp32] through a SIB byte. */
static bool emit_absolute(struct job *j, const struct insn *in, uint16_t spill)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = in->modrm_at;
    if (in->target >= (in->addr32 ? 1ull << 32 : 1ull << 31) || in->len == INSN_MAX_BYTES)
        return false;
    memcpy(bytes, in->bytes, n);
    if (in->prefix_at != 0xff) { /* X must name no index */
        uint8_t *p = bytes + in->prefix_at;
        if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
            *p &= (uint8_t)~0x02;
        else if (!(in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && *p == 0xc5))
            p[1] |= 0x40;
    }
    bytes[n++] = (uint8_t)((in->bytes[in->modrm_at] & 0x38) | 4);
    bytes[n++] = 0x25;
    memcpy(bytes + n, &(uint32_t){(uint32_t)in->target}, 4);
    n += 4;
    size_t tail = in->modrm_at + 5u;
    memcpy(bytes + n, in->bytes + tail, in->len - tail);
    point_add(j, in, spill);
    emit_bytes(&j->e, bytes, n + in->len - tail);
    return true;
}

/* A copy of the instruction, `spill` being what is spilled already. */
static void emit_copy(struct job *j, const struct insn *in, uint16_t spill)
{
    if (in->gs_relative && in->modrm_at) {
        emit_gs_relative(j, in, spill);
        return;
    }
    if (!in->rip_relative) {
        point_add(j, in, spill);
        emit_bytes(&j->e, in->bytes, in->len);
        return;
    }
    int64_t disp = (int64_t)(in->target - (gaddr)(j->e.p + in->len));
    if (disp == (int32_t)disp && !in->addr32) {
        point_add(j, in, spill);
        emit_bytes(&j->e, in->bytes, in->len);
        memcpy(j->e.p - in->len + in->modrm_at + 1, &(int32_t){(int32_t)disp}, 4);
        return;
    }
    if (!emit_absolute(j, in, spill))
        emit_far_rip_relative(j, in, spill);
}

/* ---- transfers ---- */

/* push of the original return address, in one store */
static void emit_push_return(struct job *j, const struct insn *in, uint16_t spill)
{
    gaddr ret = in->pc + in->len;
    point_add(j, in, spill);
    if (ret < 1ull << 31) {
        emit8(&j->e, 0x68);
        emit32(&j->e, (uint32_t)ret);
        return;
    }
    emit8(&j->e, 0xff);
    emit8(&j->e, 0x35);
    emit32(&j->e, 0);
    j->literal_at = j->e.p - 4;
    j->literal = ret;
}

static void emit_literal(struct job *j)
{
    if (!j->literal_at)
        return;
    while ((gaddr)j->e.p & 7)
        emit8(&j->e, 0xcc);
    emit_patch(j->literal_at, j->e.p);
    emit64(&j->e, j->literal);
}

/* rcx holds the target, rcx is spilled: finish an indirect transfer. A call pushes its return
 * address only when the target is known to be good; on a miss the dispatcher does. */
static void emit_lookup(struct job *j, const struct insn *in)
{
    struct emit *e = &j->e;
    emit_spill_flags(j);
    emit_bytes(e, (const uint8_t[]){0x89, 0xc8, 0x25}, 3); /* mov eax, ecx; and eax, imm32 */
    emit32(e, LOOKUP_SIZE - 1);
    emit_bytes(e, (const uint8_t[]){0x01, 0xc0}, 2);                   /* add eax, eax */
    emit_bytes(e, (const uint8_t[]){0x65, 0x48, 0x3b, 0x0c, 0xc5}, 5); /* cmp rcx, gs:[rax*8+] */
    emit32(e, T_LOOKUP);
    uint8_t *miss = emit_jcc(e, 0x5); /* jne */
    if (in->kind == INSN_CALL_IND)
        emit_push_return(j, in, SPILL_RAX | SPILL_RCX | SPILL_FLAGS);
    emit_bytes(e, (const uint8_t[]){0x65, 0xff, 0x24, 0xc5}, 4); /* jmp gs:[rax*8+] */
    emit32(e, T_LOOKUP + 8);
    emit_patch(miss, e->p);
    struct exit_site *s = site_add(j, EXIT_INDIRECT, in->pc, in->pc + in->len);
    s->insn = in->kind;
    s->popped = in->kind == INSN_RET ? 8u + in->imm16 : 0;
    emit_leave(j, s, T_H_INDIRECT);
}

/* mov rcx, <operand of an indirect jmp or call> */
static void emit_load_target(struct job *j, const struct insn *in)
{
    uint8_t bytes[INSN_MAX_BYTES + 1];
    size_t n = 0;
    uint8_t rex = in->prefix_at != 0xff ? in->bytes[in->prefix_at] & 0x03 : 0;
    uint8_t segment = 0; /* of several the last one counts */
    for (size_t i = 0; i < prefix_bytes(in); i++)
        if (in->bytes[i] == 0x64 || in->bytes[i] == 0x65)
            segment = in->bytes[i];
    if (segment)
        bytes[n++] = segment;
    if (in->addr32)
        bytes[n++] = 0x67;
    bytes[n++] = 0x48 | rex;
    bytes[n++] = 0x8b;
    bytes[n++] = (uint8_t)((in->bytes[in->modrm_at] & ~0x38) | RCX << 3);
    size_t tail = in->modrm_at + 1u;
    memcpy(bytes + n, in->bytes + tail, in->len - tail);
    n += in->len - tail;
    struct insn load;
    rt_check(insn_decode(&load, in->pc, bytes, n) == 0 && load.kind == INSN_PLAIN);
    load.target = in->target;
    emit_copy(j, &load, SPILL_RCX);
}

static bool is_backward(const struct insn *in)
{
    return in->target <= in->pc;
}

static void emit_indirect(struct job *j, const struct insn *in)
{
    emit_gs_store(&j->e, RCX, T_SPILL_RCX);
    emit_load_target(j, in);
    emit_lookup(j, in);
}

static void emit_return(struct job *j, const struct insn *in)
{
    emit_gs_store(&j->e, RCX, T_SPILL_RCX);
    point_add(j, in, SPILL_RCX);
    emit8(&j->e, 0x59); /* pop rcx */
    if (in->imm16) {
        emit_bytes(&j->e, (const uint8_t[]){0x48, 0x8d, 0xa4, 0x24}, 4); /* lea rsp, [rsp+disp32] */
        emit32(&j->e, in->imm16);
    }
    emit_lookup(j, in);
}

static void emit_probe(struct job *j, gaddr pc, uint8_t len, unsigned what)
{
    struct exit_site *s = site_add(j, EXIT_PROBE, pc, pc);
    s->probe = (uint8_t)what;
    s->len = len;
    emit_leave(j, s, T_H_EXIT);
    s->patch = j->e.p;
}

/* The way on behind an instruction that falls through at the end of a block. */
static void fall_through(struct job *j, const struct insn *in, unsigned after)
{
    if (after)
        emit_probe(j, in->pc + in->len, 0, after);
    direct_exit(j, emit_jmp(&j->e), in, in->pc + in->len, false);
}

/* jrcxz, loop: their short form around two jumps */
static void emit_jcxz(struct job *j, const struct insn *in, unsigned after)
{
    emit_bytes(&j->e, in->bytes, in->len - 1u);
    emit8(&j->e, 2);
    emit_bytes(&j->e, (const uint8_t[]){0xeb, 5}, 2); /* jmp over the next jump */
    direct_exit(j, emit_jmp(&j->e), in, in->target, is_backward(in));
    fall_through(j, in, after);
}

static void emit_seen(struct job *j, enum exit_kind kind, const struct insn *in, unsigned after)
{
    struct exit_site *s = site_add(j, kind, in->pc, in->pc + in->len);
    s->probe = (uint8_t)after;
    emit_leave(j, s, T_H_EXIT);
}

/* A far return, iret or jump: it goes somewhere, be it to the next instruction. */
static bool is_far_transfer(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_JMP:
        return true;
    default:
        return false;
    }
}

static void emit_last(struct job *j, const struct insn *in, unsigned after)
{
    struct emit *e = &j->e;
    gaddr next = in->pc + in->len;
    switch ((enum insn_kind)in->kind) {
    case INSN_PLAIN:
        emit_copy(j, in, 0);
        fall_through(j, in, after);
        break;
    case INSN_JMP:
        direct_exit(j, emit_jmp(e), in, in->target, is_backward(in));
        break;
    case INSN_JCC:
        direct_exit(j, emit_jcc(e, in->opcode & 15), in, in->target, is_backward(in));
        fall_through(j, in, after);
        break;
    case INSN_JCXZ:
        emit_jcxz(j, in, after);
        break;
    case INSN_CALL:
        emit_push_return(j, in, 0);
        direct_exit(j, emit_jmp(e), in, in->target, true);
        break;
    case INSN_JMP_IND:
    case INSN_CALL_IND:
        emit_indirect(j, in);
        break;
    case INSN_RET:
        emit_return(j, in);
        break;
    case INSN_TRAP:
        emit_copy(j, in, 0);
        direct_exit(j, emit_jmp(e), in, next, false);
        break;
    case INSN_SYSCALL:
        emit_seen(j, EXIT_SYSCALL, in, after);
        break;
    case INSN_EMULATE:
        emit_seen(j, EXIT_EMULATE, in, is_far_transfer(in) ? 0 : after);
        break;
    case INSN_UNSUPPORTED:
        emit_leave(j, site_add(j, EXIT_UNSUPPORTED, in->pc, next), T_H_EXIT);
        break;
    case INSN_ILLEGAL:
        emit_leave(j, site_add(j, in->too_long ? EXIT_TOO_LONG : EXIT_ILLEGAL, in->pc, next),
                   T_H_EXIT);
        break;
    }
}

/* ---- instrumentation ---- */

static void emit_body(struct job *j)
{
    unsigned wanted = 0;
    for (int i = 0; i < j->count; i++) {
        const struct insn *in = &j->insn[i];
        unsigned after = wanted & PROBE_AFTER;
        wanted = instrument_wanted(in, i == 0);
        unsigned before = wanted & (PROBE_BLOCK | PROBE_BEFORE | PROBE_MEMORY);
        if (before | after)
            emit_probe(j, in->pc, in->len, before | after);
        if (i == j->count - 1)
            emit_last(j, in, wanted & PROBE_AFTER);
        else
            emit_copy(j, in, 0);
    }
}

/* ---- the whole ---- */

/* In a block that checks its own bytes at entry, a store ends the block: it may change what
 * follows. */
static void cut_at_first_store(struct job *j)
{
    for (int i = 0; i < j->count - 1; i++) {
        struct insn_operands ops;
        insn_operands(&j->insn[i], &ops);
        for (int k = 0; k < ops.z.operand_count; k++)
            if (ops.op[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                (ops.op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
                j->count = i + 1;
                return;
            }
    }
}

static struct block *finish(struct job *j, struct build *b)
{
    struct block *blk = j->blk;
    blk->host_len = (uint32_t)(j->e.p - blk->host);
    blk->site_count = (uint16_t)j->sites;
    blk->point_count = (uint16_t)j->points;
    cache_meta(b, sizeof *blk->site * (size_t)j->sites);
    memcpy(blk->site, j->site, sizeof *blk->site * (size_t)j->sites);
    for (int i = 0; i < j->sites; i++)
        blk->site[i].block = blk;
    blk->point = cache_meta(b, sizeof *blk->point * (size_t)j->points);
    memcpy(blk->point, j->point, sizeof *blk->point * (size_t)j->points);
    cache_commit(b, blk, j->e.p);
    for (int i = 0; i < j->peeks && !blk->transient; i++)
        cache_depend(blk, j->peek[i]);
    cache_stats.blocks++;
    cache_stats.insns += (uint64_t)j->count;
    cache_stats.code_bytes += blk->len;
    return blk;
}

static size_t block_bytes(const struct job *j, uint8_t *out)
{
    size_t n = 0;
    for (int i = 0; i < j->count; i++) {
        insn_note_isa(&j->insn[i]);
        memcpy(out + n, j->insn[i].bytes, j->insn[i].len);
        n += j->insn[i].len;
    }
    return n;
}

struct block *translate(gaddr pc, const struct code_source *src,
                        const struct translate_options *opt, gaddr *fault)
{
    struct job *j = &the_job;
    uint8_t bytes[MAX_INSNS * INSN_MAX_BYTES];
    struct build b;
    j->src = src;
    j->opt = opt;
    j->sites = j->points = 0;
    j->literal_at = NULL;
    if (read_block(j, pc, fault) < 0)
        return NULL;
    const struct insn *last = &j->insn[j->count - 1];
    bool check = src->watch(pc, last->pc + last->len - pc) && !opt->one;
    if (check)
        cut_at_first_store(j);
    size_t len = block_bytes(j, bytes);
    j->peeks = 0;
    j->live_in = check ? FLAGS_ARITH : live_into(j); /* what the check finds may read any flag */
    cache_begin(&b, pc, opt->region);
    j->blk = cache_meta(&b, sizeof *j->blk);
    j->blk->pc = pc;
    j->blk->host = b.code;
    j->blk->len = (uint16_t)len;
    j->blk->transient = opt->one;
    j->blk->site = (struct exit_site *)b.meta;
    j->e = (struct emit){b.code, b.code_end};
    emit_entries(j);
    if (check)
        emit_self_check(j, bytes, len);
    emit_body(j);
    emit_stubs(j);
    emit_expired_stub(j);
    emit_literal(j);
    return finish(j, &b);
}
