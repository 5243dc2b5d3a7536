/* defuse_fix.c - what the decoder does not say about definitions and uses, as data where it can be.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two tables: corrections to the operand list (defuse.def), and instructions that move whole parts
 * of the state.
 * The rest are the few instructions whose sets depend on a count or on all operands together.
 */
#include "engine/rt/rt.h"
#include "engine/x86/defuse_int.h"

#define M(name) ZYDIS_MNEMONIC_##name

static const struct {
    uint16_t mnemonic;
    uint16_t fix;
} fixes[] = {
#define FIX(name, bits) {M(name), bits},
#include "engine/x86/defuse.def"
#undef FIX
};

/* Parts of the state that some instructions move as a whole. */
enum part {
    PART_X87 = 1 << 0, /* the registers */
    PART_TAGS = 1 << 1,
    PART_TOP = 1 << 2,
    PART_X87_CONTROL = 1 << 3,
    PART_X87_STATUS = 1 << 4, /* exceptions and condition codes */
    PART_MXCSR_CONTROL = 1 << 5,
    PART_MXCSR_STATUS = 1 << 6,
    PART_XMM = 1 << 7,    /* bytes 0 to 15 of the first sixteen */
    PART_YMM_HI = 1 << 8, /* 16 to 31 */
    PART_ZMM_HI = 1 << 9, /* 32 to 63 */
    PART_HI16 = 1 << 10,  /* zmm16 to zmm31 */
    PART_MASKS = 1 << 11,
    PART_FS = 1 << 12,
    PART_GS = 1 << 13,
    PART_X87_CONDITIONS = 1 << 14,
    PARTS_ENV = PART_TAGS | PART_TOP | PART_X87_CONTROL | PART_X87_STATUS | PART_X87_CONDITIONS,
    PARTS_X87 = PARTS_ENV | PART_X87,
    PARTS_MXCSR = PART_MXCSR_CONTROL | PART_MXCSR_STATUS,
    PARTS_FX = PARTS_X87 | PARTS_MXCSR | PART_XMM,
};

static const struct {
    unsigned part;
    uint16_t first, count, stride, times;
} places[] = {
    {PART_X87, LOC_X87, 8 * LOC_X87_BYTES, 0, 1},
    {PART_TAGS, LOC_X87_TAG, 8, 0, 1},
    {PART_TOP, LOC_X87_TOP, 1, 0, 1},
    {PART_X87_CONTROL, LOC_X87_CONTROL, 1, 0, 1},
    {PART_X87_STATUS, LOC_X87_STATUS, 1, 0, 1},
    {PART_X87_CONDITIONS, LOC_C0, 4, 0, 1},
    {PART_MXCSR_CONTROL, LOC_MXCSR_CONTROL, 1, 0, 1},
    {PART_MXCSR_STATUS, LOC_MXCSR_STATUS, 1, 0, 1},
    {PART_XMM, LOC_VEC, 16, LOC_VEC_BYTES, 16},
    {PART_YMM_HI, LOC_VEC + 16, 16, LOC_VEC_BYTES, 16},
    {PART_ZMM_HI, LOC_VEC + 32, 32, LOC_VEC_BYTES, 16},
    {PART_HI16, LOC_VEC + 16 * LOC_VEC_BYTES, 16 * LOC_VEC_BYTES, 0, 1},
    {PART_MASKS, LOC_MASK, 8 * LOC_MASK_BYTES, 0, 1},
    {PART_FS, LOC_FS_BASE, 1, 0, 1},
    {PART_GS, LOC_GS_BASE, 1, 0, 1},
};

static const struct {
    uint16_t mnemonic;
    uint16_t uses, defs;
} states[] = {
    {M(FNINIT), 0, PARTS_ENV},
    {M(FNSAVE), PARTS_X87, PARTS_ENV},
    /* The tags it stores tell zeros and special values apart. It masks all exceptions. */
    {M(FNSTENV), PARTS_X87, PART_X87_CONTROL},
    {M(FLDENV), 0, PARTS_ENV},
    {M(FRSTOR), 0, PARTS_X87},
    {M(FNSTCW), PART_X87_CONTROL, 0},
    {M(FLDCW), 0, PART_X87_CONTROL},
    {M(FNSTSW), PART_TOP | PART_X87_STATUS | PART_X87_CONDITIONS, 0},
    {M(FNCLEX), 0, PART_X87_STATUS},
    {M(EMMS), 0, PART_TAGS | PART_TOP},
    {M(FEMMS), 0, PART_TAGS | PART_TOP},
    {M(FXSAVE), PARTS_FX, 0},
    {M(FXSAVE64), PARTS_FX, 0},
    {M(FXRSTOR), 0, PARTS_FX},
    {M(FXRSTOR64), 0, PARTS_FX},
    {M(STMXCSR), PARTS_MXCSR, 0},
    {M(VSTMXCSR), PARTS_MXCSR, 0},
    {M(LDMXCSR), 0, PARTS_MXCSR},
    {M(VLDMXCSR), 0, PARTS_MXCSR},
    {M(VZEROUPPER), 0, PART_YMM_HI | PART_ZMM_HI},
    {M(VZEROALL), 0, PART_XMM | PART_YMM_HI | PART_ZMM_HI},
    {M(RDFSBASE), PART_FS, 0},
    {M(RDGSBASE), PART_GS, 0},
    {M(WRFSBASE), 0, PART_FS},
    {M(WRGSBASE), 0, PART_GS},
};

static void add_parts(struct loc_set *set, unsigned parts)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (unsigned n = 0; places[i].part & parts && n < places[i].times; n++)
            loc_set_add(set, places[i].first + n * places[i].stride, places[i].count);
}

static bool is_reg(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* Are its two sources the same register? With VEX and EVEX the destination is none. */
static bool sources_same(const struct insn_operands *ops)
{
    bool legacy = ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    ZydisRegister seen = ZYDIS_REGISTER_NONE;
    for (int i = legacy ? 0 : 1; i < ops->z.operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (!is_reg(op))
            return false;
        if (seen != ZYDIS_REGISTER_NONE)
            return op->reg.value == seen;
        seen = op->reg.value;
    }
    return false;
}

static uint16_t visible_sources(const struct insn_operands *ops)
{
    uint16_t set = 0;
    for (int i = 0; i < ops->z.operand_count_visible; i++)
        if (ops->op[i].encoding != ZYDIS_OPERAND_ENCODING_MASK)
            set |= (uint16_t)(1u << i);
    return set;
}

/* The immediate of vpternlog is a table of truth; which of the three inputs does it ask? */
static uint16_t ternary_ignores(const struct insn_operands *ops)
{
    uint16_t sources[3] = {0}, set = 0;
    unsigned n = 0, table = 0;
    for (int i = 0; i < ops->z.operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            table = (unsigned)op->imm.value.u & 0xff;
        else if (op->encoding != ZYDIS_OPERAND_ENCODING_MASK && n < ARRAY_LEN(sources))
            sources[n++] = (uint16_t)(1u << i);
    }
    if (!((table >> 4 ^ table) & 0x0f))
        set |= sources[0];
    if (!((table >> 2 ^ table) & 0x33))
        set |= sources[1];
    if (!((table >> 1 ^ table) & 0x55))
        set |= sources[2];
    return set;
}

/* and x, 0; or x, -1 */
static bool immediate_decides(const struct insn_operands *ops)
{
    const ZydisDecodedOperand *imm = &ops->op[1];
    if (ops->z.operand_count < 2 || imm->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    uint64_t ones = ops->op[0].size >= 64 ? UINT64_MAX : (1ull << ops->op[0].size) - 1;
    if (ops->z.mnemonic == M(AND))
        return (imm->imm.value.u & ones) == 0;
    return ops->z.mnemonic == M(OR) && (imm->imm.value.u & ones) == ones;
}

void defuse_fix_begin(struct defuse_work *w)
{
    const struct insn_operands *ops = w->ops;
    for (size_t i = 0; i < ARRAY_LEN(fixes); i++)
        if (fixes[i].mnemonic == ops->z.mnemonic)
            w->fix = fixes[i].fix;
    if (ops->z.meta.category == ZYDIS_CATEGORY_WIDENOP ||
        ops->z.meta.category == ZYDIS_CATEGORY_PREFETCH ||
        ops->z.meta.category == ZYDIS_CATEGORY_MPX) /* gone from CPUs, a no-op now */
        w->fix |= FIX_NOTHING;
    if (w->fix & FIX_SAME && sources_same(ops))
        w->no_read = visible_sources(ops);
    if (ops->z.mnemonic == M(VPTERNLOGD) || ops->z.mnemonic == M(VPTERNLOGQ))
        w->no_read = ternary_ignores(ops);
    if (w->fix & FIX_WRITES_DEST || immediate_decides(ops))
        w->no_read = 1;
}

static bool is_shift(const struct insn_operands *ops)
{
    switch (ops->z.mnemonic) {
    case M(SHL):
    case M(SHR):
    case M(SAR):
    case M(ROL):
    case M(ROR):
    case M(RCL):
    case M(RCR):
    case M(SHLD):
    case M(SHRD):
        return true;
    default:
        return false;
    }
}

static const ZydisDecodedOperand *shift_count(const struct insn_operands *ops)
{
    return is_shift(ops) ? &ops->op[ops->z.operand_count_visible - 1] : NULL;
}

bool defuse_fix_shift_by_cl(const struct insn_operands *ops)
{
    const ZydisDecodedOperand *count = shift_count(ops);
    return count && is_reg(count);
}

bool defuse_fix_shift_by_none(const struct insn_operands *ops)
{
    const ZydisDecodedOperand *count = shift_count(ops);
    unsigned mask = ops->z.operand_width == 64 ? 63 : 31;
    return count && count->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (count->imm.value.u & mask) == 0;
}

static bool is_string(const struct insn_operands *ops)
{
    return ops->z.meta.category == ZYDIS_CATEGORY_STRINGOP ||
           ops->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* The new pointer is the old one, moved by what DF says. */
static void move_pointer(struct defuse_work *w, ZydisRegister reg, bool sure)
{
    unsigned first = loc_gpr((unsigned)insn_gpr_number(reg));
    unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8u;
    defuse_use(w, first, width, DEFUSE_ADDRESS);
    defuse_def(w, first, 8);
    if (!sure)
        defuse_use(w, first, 8, DEFUSE_KEPT);
}

static void string_accumulator(struct defuse_work *w, const ZydisDecodedOperand *op, bool sure)
{
    unsigned first = loc_gpr((unsigned)insn_gpr_number(op->reg.value)), bytes = op->size / 8u;
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        defuse_use(w, first, bytes, DEFUSE_VALUE);
    if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return;
    if (sure)
        defuse_def(w, first, bytes == 4 ? 8 : bytes);
    else
        defuse_def_kept(w, first, bytes == 4 ? 8 : bytes);
}

static void string(struct defuse_work *w)
{
    const struct insn_operands *ops = w->ops;
    bool narrow = ops->z.address_width == 32;
    bool repeats =
        ops->z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    bool sure = !repeats || w->how->count != DEFUSE_ANY_COUNT;
    if (repeats && w->how->count == 0) {
        defuse_use(w, loc_gpr(RCX), narrow ? 4 : 8, DEFUSE_ADDRESS);
        if (narrow) /* some CPUs extend it */
            defuse_def_kept(w, loc_gpr(RCX) + 4, 4);
        return;
    }
    for (int i = 0; i < ops->z.operand_count; i++) {
        const ZydisDecodedOperand *op = &ops->op[i];
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            move_pointer(w, op->mem.base, sure);
            if (op->mem.segment == ZYDIS_REGISTER_FS)
                defuse_use(w, LOC_FS_BASE, 1, DEFUSE_ADDRESS);
            if (op->mem.segment == ZYDIS_REGISTER_GS)
                defuse_use(w, LOC_GS_BASE, 1, DEFUSE_ADDRESS);
        } else if (is_reg(op) && insn_gpr_number(op->reg.value) == RAX) {
            string_accumulator(w, op, sure);
        } else if (is_reg(op) && insn_gpr_number(op->reg.value) == RDX) {
            defuse_use(w, loc_gpr(RDX), 2, DEFUSE_VALUE); /* the port of ins and outs */
        }
    }
    if (repeats)
        move_pointer(w, narrow ? ZYDIS_REGISTER_ECX : ZYDIS_REGISTER_RCX, sure);
    defuse_use(w, LOC_DF, 1, DEFUSE_ADDRESS);
    if (ops->z.cpu_flags && ops->z.cpu_flags->modified & FLAGS_ARITH) {
        defuse_def(w, LOC_CF, 6);
        if (!sure)
            defuse_use(w, LOC_CF, 6, DEFUSE_KEPT);
    }
}
_Static_assert(LOC_OF == LOC_CF + 5, "the arithmetic flags are neighbours");

static void use_gprs(struct defuse_work *w, const uint8_t *regs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        defuse_use(w, loc_gpr(regs[i]), LOC_GPR_BYTES, DEFUSE_VALUE);
}

static void syscall(struct defuse_work *w)
{
    static const uint8_t args[] = {RAX, RDI, RSI, RDX, R10, R8, R9};
    use_gprs(w, args, sizeof args);
    defuse_def(w, loc_gpr(RAX), LOC_GPR_BYTES);
    defuse_def(w, loc_gpr(RCX), LOC_GPR_BYTES);
    defuse_def(w, loc_gpr(R11), LOC_GPR_BYTES);
}

static void int80(struct defuse_work *w)
{
    static const uint8_t args[] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP};
    use_gprs(w, args, sizeof args);
    defuse_def(w, loc_gpr(RAX), LOC_GPR_BYTES);
}

static void exchange(struct defuse_work *w, unsigned a, unsigned b)
{
    use_gprs(w, (const uint8_t[]){(uint8_t)a, (uint8_t)b}, 2);
    defuse_def(w, loc_gpr(a), LOC_GPR_BYTES);
    defuse_def(w, loc_gpr(b), LOC_GPR_BYTES);
}

bool defuse_fix_special(struct defuse_work *w)
{
    if (is_string(w->ops)) {
        string(w);
        return true;
    }
    switch (w->ops->z.mnemonic) {
    case M(SYSCALL):
        syscall(w);
        return true;
    case M(PAUSE): /* with REX.B it is not, though the decoder says so */
        if (!w->ops->z.raw.rex.B)
            return true;
        exchange(w, RAX, R8);
        return true;
    case M(INT):
        int80(w);
        return true;
    default:
        return false;
    }
}

/* Bits of XCR0. MXCSR goes with both halves of the ymm registers. */
static unsigned parts_of(uint64_t components)
{
    static const struct {
        uint64_t bits;
        unsigned parts;
    } map[] = {{1 << 0, PARTS_X87},   {1 << 1, PART_XMM},   {3 << 1, PARTS_MXCSR},
               {1 << 2, PART_YMM_HI}, {1 << 5, PART_MASKS}, {1 << 6, PART_ZMM_HI},
               {1 << 7, PART_HI16}};
    unsigned parts = 0;
    for (size_t i = 0; i < ARRAY_LEN(map); i++)
        if (components & map[i].bits)
            parts |= map[i].parts;
    return parts;
}

static void extended_state(struct defuse_work *w)
{
    unsigned parts = parts_of(w->how->components);
    switch (w->ops->z.mnemonic) {
    case M(XSAVE):
    case M(XSAVE64):
    case M(XSAVEC):
    case M(XSAVEC64):
    case M(XSAVEOPT):
    case M(XSAVEOPT64):
    case M(XSAVES):
    case M(XSAVES64):
        add_parts(&w->use[DEFUSE_VALUE], parts);
        break;
    case M(XRSTOR):
    case M(XRSTOR64):
    case M(XRSTORS):
    case M(XRSTORS64):
        add_parts(&w->def, parts);
        if (w->how->components == DEFUSE_ANY_STATE)
            add_parts(&w->use[DEFUSE_KEPT], parts);
        break;
    default:
        break;
    }
}

static void move_state(struct defuse_work *w)
{
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (states[i].mnemonic != w->ops->z.mnemonic)
            continue;
        unsigned uses = states[i].uses;
        if (!defuse_hardware(w))
            uses &= ~(unsigned)PART_TOP;
        add_parts(&w->def, states[i].defs);
        add_parts(&w->use[DEFUSE_VALUE], uses);
    }
}

/* The immediate says which element of a vector register is put in or taken out. */
static void move_element(struct defuse_work *w)
{
    static const struct {
        uint16_t in, out, vex_out;
        uint8_t bytes;
    } moves[] = {
        {M(PINSRB), M(PEXTRB), M(VPEXTRB), 1},
        {M(PINSRW), M(PEXTRW), M(VPEXTRW), 2},
        {M(PINSRD), M(PEXTRD), M(VPEXTRD), 4},
        {M(PINSRQ), M(PEXTRQ), M(VPEXTRQ), 8},
    };
    const struct insn_operands *ops = w->ops;
    uint16_t m = ops->z.mnemonic;
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        bool in = m == moves[i].in;
        if (!in && m != moves[i].out && m != moves[i].vex_out)
            continue;
        const ZydisDecodedOperand *vec = &ops->op[in ? 0 : 1];
        unsigned bytes = moves[i].bytes, n = (unsigned)ops->op[2].imm.value.u & (16 / bytes - 1);
        if (!is_reg(vec) || ZydisRegisterGetClass(vec->reg.value) != ZYDIS_REGCLASS_XMM)
            return; /* MMX; EVEX numbers its operands otherwise */
        unsigned first = loc_vec((unsigned)ZydisRegisterGetId(vec->reg.value));
        loc_set_remove(&w->use[DEFUSE_VALUE], first, 16);
        if (in) {
            loc_set_remove(&w->def, first, 16);
            defuse_def(w, first + n * bytes, bytes);
        } else {
            defuse_use(w, first + n * bytes, bytes, DEFUSE_VALUE);
        }
    }
}

void defuse_fix_end(struct defuse_work *w)
{
    const struct insn_operands *ops = w->ops;
    move_state(w);
    extended_state(w);
    move_element(w);
    switch (ops->z.mnemonic) {
    case M(XLAT):
        defuse_use(w, loc_gpr(RAX), 1, DEFUSE_ADDRESS);
        break;
    case M(CLZERO):
        loc_set_remove(&w->use[DEFUSE_VALUE], loc_gpr(RAX), 8);
        defuse_use(w, loc_gpr(RAX), ops->op[0].size / 8u, DEFUSE_ADDRESS);
        break;
    case M(BT):
    case M(BTS):
    case M(BTR):
    case M(BTC):
        if (ops->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && is_reg(&ops->op[1]))
            defuse_use(w, loc_gpr((unsigned)insn_gpr_number(ops->op[1].reg.value)),
                       ops->op[1].size / 8u, DEFUSE_ADDRESS);
        break;
    case M(VP2INTERSECTD): /* a pair of masks */
    case M(VP2INTERSECTQ):
        defuse_def(w, loc_mask((unsigned)ZydisRegisterGetId(ops->op[0].reg.value) & 6u),
                   2 * LOC_MASK_BYTES);
        break;
    case M(V4FMADDPS): /* four registers in a row; the mask comes between */
    case M(V4FMADDSS):
    case M(V4FNMADDPS):
    case M(V4FNMADDSS):
    case M(VP4DPWSSD):
    case M(VP4DPWSSDS):
        defuse_use(w, loc_vec((unsigned)ZydisRegisterGetId(ops->op[2].reg.value) & ~3u),
                   4 * LOC_VEC_BYTES, DEFUSE_VALUE);
        break;
    case M(FXSAVE): /* not all of the 512 bytes are written */
    case M(FXSAVE64):
        for (int i = 0; i < w->out->accesses; i++)
            w->out->access[i].may = true;
        break;
    default:
        break;
    }
    /* A count of zero leaves everything as it was, but extends 32 bits. */
    if (defuse_fix_shift_by_none(ops) && is_reg(&ops->op[0]) && ops->op[0].size != 32) {
        memset(&w->def, 0, sizeof w->def);
        memset(w->use, 0, sizeof w->use);
    }
}
