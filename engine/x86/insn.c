/* insn.c - classify instructions with the help of Zydis. SPDX-License-Identifier: MIT */
#include "engine/x86/insn.h"

#include "engine/rt/rt.h"
#include "engine/x86/memo.h"

static ZydisDecoder decoder;
struct insn_guard insn_guard;

static void enter(void)
{
    if (insn_guard.enter)
        insn_guard.enter();
}

static void leave(void)
{
    if (insn_guard.leave)
        insn_guard.leave();
}

void insn_init(void)
{
    rt_check(
        ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
}

/* Instructions that need more than their branch category to be classified. */
static const struct {
    uint16_t mnemonic;
    uint8_t kind;
} special[] = {
    {ZYDIS_MNEMONIC_RDTSC, INSN_EMULATE},      {ZYDIS_MNEMONIC_RDTSCP, INSN_EMULATE},
    {ZYDIS_MNEMONIC_RDPID, INSN_EMULATE},      {ZYDIS_MNEMONIC_CPUID, INSN_EMULATE},
    {ZYDIS_MNEMONIC_RDRAND, INSN_EMULATE},     {ZYDIS_MNEMONIC_RDSEED, INSN_EMULATE},
    {ZYDIS_MNEMONIC_XGETBV, INSN_EMULATE},     {ZYDIS_MNEMONIC_LSL, INSN_EMULATE},
    {ZYDIS_MNEMONIC_LAR, INSN_EMULATE},        {ZYDIS_MNEMONIC_SGDT, INSN_EMULATE},
    {ZYDIS_MNEMONIC_SIDT, INSN_EMULATE},       {ZYDIS_MNEMONIC_SLDT, INSN_EMULATE},
    {ZYDIS_MNEMONIC_STR, INSN_EMULATE},        {ZYDIS_MNEMONIC_SMSW, INSN_EMULATE},
    {ZYDIS_MNEMONIC_XSAVE, INSN_EMULATE},      {ZYDIS_MNEMONIC_XSAVE64, INSN_EMULATE},
    {ZYDIS_MNEMONIC_XSAVEC, INSN_EMULATE},     {ZYDIS_MNEMONIC_XSAVEC64, INSN_EMULATE},
    {ZYDIS_MNEMONIC_XSAVEOPT, INSN_EMULATE},   {ZYDIS_MNEMONIC_XSAVEOPT64, INSN_EMULATE},
    {ZYDIS_MNEMONIC_RDGSBASE, INSN_EMULATE},   {ZYDIS_MNEMONIC_WRGSBASE, INSN_EMULATE},
    {ZYDIS_MNEMONIC_POPF, INSN_EMULATE},       {ZYDIS_MNEMONIC_POPFQ, INSN_EMULATE},
    {ZYDIS_MNEMONIC_LGS, INSN_UNSUPPORTED},    {ZYDIS_MNEMONIC_FNSTENV, INSN_EMULATE},
    {ZYDIS_MNEMONIC_FNSAVE, INSN_EMULATE},     {ZYDIS_MNEMONIC_FXSAVE, INSN_EMULATE},
    {ZYDIS_MNEMONIC_FXSAVE64, INSN_EMULATE},   {ZYDIS_MNEMONIC_XBEGIN, INSN_UNSUPPORTED},
    {ZYDIS_MNEMONIC_XABORT, INSN_UNSUPPORTED}, {ZYDIS_MNEMONIC_SYSENTER, INSN_UNSUPPORTED},
    {ZYDIS_MNEMONIC_IRETQ, INSN_EMULATE},      {ZYDIS_MNEMONIC_IRETD, INSN_EMULATE},
    {ZYDIS_MNEMONIC_IRET, INSN_UNSUPPORTED},   {ZYDIS_MNEMONIC_INT3, INSN_TRAP},
    {ZYDIS_MNEMONIC_INT1, INSN_TRAP},          {ZYDIS_MNEMONIC_UD0, INSN_TRAP},
    {ZYDIS_MNEMONIC_UD1, INSN_TRAP},           {ZYDIS_MNEMONIC_UD2, INSN_TRAP},
    {ZYDIS_MNEMONIC_HLT, INSN_TRAP},           {ZYDIS_MNEMONIC_SYSCALL, INSN_SYSCALL},
    {ZYDIS_MNEMONIC_PAUSE, INSN_EMULATE},
};

static bool writes_gs_selector(const ZydisDecodedInstruction *z)
{
    if (z->mnemonic == ZYDIS_MNEMONIC_MOV)
        return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode == 0x8e &&
               z->raw.modrm.reg == 5;
    return z->mnemonic == ZYDIS_MNEMONIC_POP && z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
           z->opcode == 0xa9;
}

/* An operand relative to rip: no compiler pads with such a nop. */
static bool names_memory(const ZydisDecodedInstruction *z)
{
    return (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) && z->raw.modrm.mod == 0 &&
           z->raw.modrm.rm == 5;
}

static enum insn_kind kind_of(const ZydisDecodedInstruction *z)
{
    bool direct = z->raw.imm[0].is_relative;
    bool far = z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    /* AMD's and Intel's CPUs disagree about near branches with a 16-bit operand size. */
    bool narrow = (z->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !z->raw.rex.W;
    switch (z->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        if (narrow)
            return INSN_UNSUPPORTED;
        switch (z->mnemonic) {
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE:
            return INSN_JCXZ;
        case ZYDIS_MNEMONIC_XBEGIN:
            return INSN_UNSUPPORTED;
        default:
            return direct ? INSN_JCC : INSN_UNSUPPORTED; /* the library has xend among them */
        }
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (z->mnemonic == ZYDIS_MNEMONIC_JMP && far)
            return INSN_EMULATE;
        if (z->mnemonic != ZYDIS_MNEMONIC_JMP || narrow)
            return INSN_UNSUPPORTED;
        return direct ? INSN_JMP : INSN_JMP_IND;
    case ZYDIS_CATEGORY_CALL:
        if (far || narrow)
            return INSN_UNSUPPORTED;
        return direct ? INSN_CALL : INSN_CALL_IND;
    case ZYDIS_CATEGORY_RET:
        if (z->mnemonic != ZYDIS_MNEMONIC_RET)
            break;
        if (far)
            return INSN_EMULATE;
        return narrow ? INSN_UNSUPPORTED : INSN_RET;
    case ZYDIS_CATEGORY_AMX_TILE: /* hidden from cpuid, see os/fpstate.c */
        return INSN_UNSUPPORTED;
    default:
        break;
    }
    if (z->mnemonic == ZYDIS_MNEMONIC_PAUSE && z->raw.rex.B)
        return INSN_PLAIN; /* an exchange with r8, though the library says so */
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (special[i].mnemonic == z->mnemonic)
            return special[i].kind;
    if (z->mnemonic == ZYDIS_MNEMONIC_NOP && names_memory(z))
        return INSN_EMULATE; /* a mark of drdebug.h, os/mark.h */
    if (z->mnemonic == ZYDIS_MNEMONIC_INT)
        return z->raw.imm[0].value.u == 0x80 ? INSN_EMULATE : INSN_TRAP;
    return writes_gs_selector(z) ? INSN_UNSUPPORTED : INSN_PLAIN;
}

static bool is_shift(const ZydisDecodedInstruction *z)
{
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_SALC:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return true;
    default:
        return false;
    }
}

/* Shifts and rotates write no flag when the masked count is zero. */
static bool count_may_be_zero(const ZydisDecodedInstruction *z)
{
    if (!is_shift(z))
        return z->attributes &
               (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    if (z->opcode == 0xd0 || z->opcode == 0xd1)
        return false; /* shift by one */
    if (z->raw.imm[0].size)
        return (z->raw.imm[0].value.u & (z->operand_width == 64 ? 63 : 31)) == 0;
    return true; /* by CL */
}

/* "Undefined" flags are not counted as written: the hardware may leave them as they were. The logic
 * operations are the exception that matters: AF is undefined on paper and cleared by every CPU. */
static uint16_t flags_killed(const ZydisDecodedInstruction *z)
{
    const ZydisAccessedFlags *f = z->cpu_flags;
    if (!f || count_may_be_zero(z))
        return 0;
    uint32_t kill = f->modified | f->set_0 | f->set_1;
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_TEST:
        kill |= f->undefined & FLAG_AF;
        break;
    default:
        break;
    }
    return (uint16_t)(kill & FLAGS_ARITH);
}

static uint8_t prefix_offset(const ZydisDecodedInstruction *z)
{
    switch (z->encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        return z->raw.vex.offset;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        return z->raw.evex.offset;
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
        return z->raw.xop.offset;
    default:
        return (z->attributes & ZYDIS_ATTRIB_HAS_REX) ? z->raw.rex.offset : 0xff;
    }
}

static bool is_prefix(uint8_t byte)
{
    static const uint8_t prefix[] = {0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
    for (size_t i = 0; i < sizeof prefix; i++)
        if (byte == prefix[i])
            return true;
    return false;
}

bool insn_locks(const struct insn *in)
{
    if (in->mnemonic == ZYDIS_MNEMONIC_XCHG)
        return in->modrm_at && in->bytes[in->modrm_at] >> 6 != 3;
    for (unsigned i = 0; i < in->len; i++) {
        if (in->bytes[i] == 0xf0)
            return true;
        if (!is_prefix(in->bytes[i]))
            break;
    }
    return false;
}

int insn_gpr_number(ZydisRegister reg)
{
    if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
        return (int)(reg - ZYDIS_REGISTER_RAX);
    if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
        return (int)(reg - ZYDIS_REGISTER_EAX);
    if (reg >= ZYDIS_REGISTER_AX && reg <= ZYDIS_REGISTER_R15W)
        return (int)(reg - ZYDIS_REGISTER_AX);
    if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL)
        return (int)(reg - ZYDIS_REGISTER_AL);
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return (int)(reg - ZYDIS_REGISTER_AH);
    if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
        return RSP + (int)(reg - ZYDIS_REGISTER_SPL);
    return -1;
}

static uint32_t gpr_bit(ZydisRegister reg)
{
    int n = insn_gpr_number(reg);
    return n < 0 ? 0 : 1u << n;
}

static void set_illegal(struct insn *in)
{
    in->kind = INSN_ILLEGAL;
    in->len = 1;
    in->flags_read = FLAGS_ARITH;
    in->gprs_read = 0xffff;
}

static void ask_operands(const struct insn *in, struct insn_operands *out);

/* The operand of a gs-relative instruction goes through scratch registers: it must be the plain
 * ModRM form, and two registers must be free. Not so: string instructions, moffs, gathers, EVEX
 * with its scaled displacement, a pop that addresses through the stack pointer it moves. */
static bool gs_can_be_rewritten(const struct insn *in)
{
    struct insn_operands ops;
    const ZydisDecodedOperand *mem = NULL;
    int memories = 0;
    if (!in->modrm_at)
        return false;
    ask_operands(in, &ops);
    for (int i = 0; i < ops.z.operand_count; i++) {
        if (ops.op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        memories += ops.op[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
        if (ops.op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
            mem = &ops.op[i];
    }
    if (!mem || memories != 1 || mem->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        ops.z.meta.category == ZYDIS_CATEGORY_AMX_TILE)
        return false;
    bool moves_rsp = in->mnemonic == ZYDIS_MNEMONIC_POP && mem->mem.base == ZYDIS_REGISTER_RSP;
    int used = 0;
    for (uint32_t low = insn_gprs(&ops) & 0xcf; low; low &= low - 1) /* of those without rsp, rbp */
        used++;
    return !moves_rsp && used <= 4;
}

/* Row of isa.def plus one; 0: every CPU has it. */
enum isa_row {
    ISA_NONE,
#define ISA(name, ext, ...) ISA_ROW_##name,
#include "engine/x86/isa.def"
#undef ISA
};
static const uint8_t isa_row[ZYDIS_ISA_EXT_MAX_VALUE + 1] = {
#define ISA(name, ext, ...) [ZYDIS_ISA_EXT_##ext] = ISA_ROW_##name,
#include "engine/x86/isa.def"
#undef ISA
};
uint64_t insn_isa_used;

void insn_note_isa(const struct insn *in)
{
    if (isa_row[in->isa])
        insn_isa_used |= 1ull << (isa_row[in->isa] - 1);
}

/* Where the head of an instruction ends, which memo.c has to know. The meaning of some instructions
 * depends on an immediate, which then belongs to the head. */
static size_t head_of(const ZydisDecodedInstruction *z)
{
    size_t end = z->length;
    bool by_value = z->raw.imm[0].size && (is_shift(z) || z->mnemonic == ZYDIS_MNEMONIC_INT);
    if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW || (by_value && z->raw.disp.size))
        return 0; /* its opcode comes last; or a displacement lies between */
    if (z->raw.imm[0].size && !by_value)
        end = z->raw.imm[0].offset;
    return z->raw.disp.size ? z->raw.disp.offset : end;
}

/* Their destination may stay as it was, though the decoder calls it written. */
static bool may_keep_destination(const struct insn *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_TZCNT: /* bsf and bsr on CPUs without them */
    case ZYDIS_MNEMONIC_LZCNT:
    case ZYDIS_MNEMONIC_RDSSPD: /* no-ops without a shadow stack */
    case ZYDIS_MNEMONIC_RDSSPQ:
        return true;
    default:
        return in->kind != INSN_PLAIN;
    }
}

static void set_gprs(struct insn *in, const ZydisDecodedInstruction *z,
                     const ZydisDecodedOperand *ops)
{
    uint32_t read = 0, written = 0;
    for (int i = 0; i < z->operand_count; i++) {
        const ZydisDecodedOperand *op = &ops[i];
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            read |= gpr_bit(op->mem.base) | gpr_bit(op->mem.index);
        else if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        else if (op->actions == ZYDIS_OPERAND_ACTION_WRITE && op->size >= 32)
            written |= gpr_bit(op->reg.value);
        else
            read |= gpr_bit(op->reg.value);
    }
    if (may_keep_destination(in))
        read |= written;
    in->gprs_read = (uint16_t)read;
    in->gprs_kill = (uint16_t)(written & ~read);
}

static void set_value(struct insn *in, size_t at, size_t bits)
{
    in->value_at = (uint8_t)at;
    in->value_len = (uint8_t)(bits / 8);
}

static int ask(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail, size_t *head)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    memset(in, 0, sizeof *in);
    in->pc = pc;
    in->prefix_at = 0xff;
    *head = 0;
    ZyanStatus st = ZydisDecoderDecodeFull(&decoder, bytes, avail, &z, ops);
    if (st == ZYDIS_STATUS_NO_MORE_DATA && avail < INSN_MAX_BYTES)
        return -1;
    /* MVEX is a coprocessor's of long ago; everywhere else it is no instruction. */
    bool none = ZYAN_SUCCESS(st) && z.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
    if (!ZYAN_SUCCESS(st) || none) {
        memcpy(in->bytes, bytes, avail < INSN_MAX_BYTES ? avail : INSN_MAX_BYTES);
        set_illegal(in);
        in->too_long = st == ZYDIS_STATUS_INSTRUCTION_TOO_LONG;
        return 0;
    }
    in->len = z.length;
    memcpy(in->bytes, bytes, z.length);
    in->mnemonic = z.mnemonic;
    in->opcode = z.opcode;
    in->encoding = z.encoding;
    in->isa = (uint8_t)z.meta.isa_ext;
    in->kind = kind_of(&z);
    in->prefix_at = prefix_offset(&z);
    in->addr32 = z.address_width == 32;
    in->gs_relative = z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS;
    if (z.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
        in->modrm_at = z.raw.modrm.offset;
        in->rip_relative = z.raw.modrm.mod == 0 && z.raw.modrm.rm == 5 && z.raw.disp.size == 32;
    }
    if (in->mnemonic == ZYDIS_MNEMONIC_LEA || in->mnemonic == ZYDIS_MNEMONIC_NOP ||
        z.meta.category == ZYDIS_CATEGORY_MPX)
        in->gs_relative = false; /* no access (MPX is long gone from CPUs) */
    if (in->gs_relative && !gs_can_be_rewritten(in))
        in->kind = INSN_UNSUPPORTED;
    if (in->rip_relative) {
        in->target = pc + z.length + (uint64_t)z.raw.disp.value;
        if (in->addr32)
            in->target = (uint32_t)in->target;
        set_value(in, z.raw.disp.offset, z.raw.disp.size);
    } else if (z.raw.imm[0].is_relative) {
        in->target = pc + z.length + (uint64_t)z.raw.imm[0].value.s;
        set_value(in, z.raw.imm[0].offset, z.raw.imm[0].size);
    } else if (in->kind == INSN_RET && z.raw.imm[0].size) {
        in->imm16 = (uint16_t)z.raw.imm[0].value.u;
        set_value(in, z.raw.imm[0].offset, z.raw.imm[0].size);
    }
    in->flags_read = (uint16_t)(z.cpu_flags ? z.cpu_flags->tested & FLAGS_ARITH : 0);
    in->flags_kill = flags_killed(&z);
    if (in->kind == INSN_SYSCALL) { /* r11 gets them all */
        in->flags_read = FLAGS_ARITH;
        in->flags_kill = 0;
    }
    set_gprs(in, &z, ops);
    *head = head_of(&z);
    return 0;
}

int insn_ask(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail, size_t *head)
{
    enter();
    int r = ask(in, pc, bytes, avail, head);
    leave();
    return r;
}

static int64_t signed_value(const uint8_t *at, size_t len)
{
    int16_t v16;
    int32_t v32;
    switch (len) {
    case 1:
        return (int8_t)*at;
    case 2:
        memcpy(&v16, at, sizeof v16);
        return v16;
    default:
        memcpy(&v32, at, sizeof v32);
        return v32;
    }
}

/* All that is not in the form. */
static void set_values(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail)
{
    if (avail >= INSN_MAX_BYTES)
        memcpy(in->bytes, bytes, INSN_MAX_BYTES); /* a few more cost less than to look how many */
    else
        memcpy(in->bytes, bytes, in->len);
    in->pc = pc;
    in->target = 0;
    in->imm16 = 0;
    if (!in->value_len)
        return;
    int64_t v = signed_value(bytes + in->value_at, in->value_len);
    if (in->kind == INSN_RET)
        in->imm16 = (uint16_t)v;
    else
        in->target = pc + in->len + (uint64_t)v;
    if (in->rip_relative && in->addr32)
        in->target = (uint32_t)in->target;
}

int insn_decode(struct insn *in, gaddr pc, const uint8_t *bytes, size_t avail)
{
    size_t head;
    if (memo_find(in, bytes, avail)) {
        set_values(in, pc, bytes, avail);
        return 0;
    }
    if (insn_ask(in, pc, bytes, avail, &head) < 0)
        return -1;
    if (head)
        memo_add(in, bytes, head);
    return 0;
}

static void ask_operands(const struct insn *in, struct insn_operands *out)
{
    ZyanStatus st = ZydisDecoderDecodeFull(&decoder, in->bytes, in->len, &out->z, out->op);
    rt_check(ZYAN_SUCCESS(st));
    /* Zydis 4.0 takes [disp32] with a SIB, REX.B and a 32-bit address for [r13d]. */
    const ZydisDecodedInstruction *z = &out->z;
    if (!(z->attributes & ZYDIS_ATTRIB_HAS_SIB) || z->raw.modrm.mod != 0 || z->raw.sib.base != 5)
        return;
    for (int i = 0; i < z->operand_count; i++)
        if (out->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            out->op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM) {
            out->op[i].mem.base = ZYDIS_REGISTER_NONE;
            out->op[i].mem.disp.value = z->raw.disp.value;
        }
}

void insn_operands(const struct insn *in, struct insn_operands *out)
{
    enter();
    ask_operands(in, out);
    leave();
}

uint32_t insn_gprs(const struct insn_operands *ops)
{
    uint32_t set = 0;
    for (int i = 0; i < ops->z.operand_count; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
            set |= gpr_bit(op->reg.value);
        else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            set |= gpr_bit(op->mem.base) | gpr_bit(op->mem.index);
    }
    return set;
}

const char *insn_name(const struct insn *in)
{
    enter();
    const char *name = in->kind == INSN_ILLEGAL ? NULL : ZydisMnemonicGetString(in->mnemonic);
    leave();
    return name ? name : "(bad)";
}
