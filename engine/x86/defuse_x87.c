/* defuse_x87.c - definitions and uses on the x87 stack, and by MMX.
 *
 * SPDX-License-Identifier: MIT
 *
 * The decoder counts registers from TOP: from the one before, except for what a push writes, which
 * it counts from the one behind it.
 */
#include "engine/x86/defuse_int.h"

#define M(name) ZYDIS_MNEMONIC_##name

enum {
    X87_ROUNDS = 1 << 0,    /* by the control word */
    X87_READ_ONLY = 1 << 1, /* though the decoder says that it writes */
    X87_UNUSED = 1 << 2,    /* names a register, does not look at it */
    X87_SPLITS = 1 << 3,    /* replaces st0 by one result and pushes another */
    X87_UNSURE = 1 << 4,    /* not if the operand is out of range */
    X87_NO_STACK = 1 << 5,  /* control instructions */
    X87_KEEPS = 1 << 6,     /* the condition codes may stay */
    X87_MAY_KEEP = 1 << 7,  /* the destination, too */
};

/* `moves` is what is added to TOP. */
static const struct row {
    uint16_t mnemonic;
    int8_t moves;
    uint8_t what;
} rows[] = {
    {M(FLD), -1, 0},
    {M(FILD), -1, 0},
    {M(FBLD), -1, 0},
    {M(FLD1), -1, 0},
    {M(FLDZ), -1, 0},
    {M(FLDL2E), -1, X87_ROUNDS},
    {M(FLDL2T), -1, X87_ROUNDS},
    {M(FLDLG2), -1, X87_ROUNDS},
    {M(FLDLN2), -1, X87_ROUNDS},
    {M(FLDPI), -1, X87_ROUNDS},
    {M(FXTRACT), -1, X87_SPLITS},
    {M(FPTAN), -1, X87_ROUNDS | X87_SPLITS | X87_UNSURE},
    {M(FSINCOS), -1, X87_ROUNDS | X87_SPLITS | X87_UNSURE},
    {M(FDECSTP), -1, 0},
    {M(FINCSTP), 1, 0},
    {M(FADD), 0, X87_ROUNDS},
    {M(FSUB), 0, X87_ROUNDS},
    {M(FSUBR), 0, X87_ROUNDS},
    {M(FMUL), 0, X87_ROUNDS},
    {M(FDIV), 0, X87_ROUNDS},
    {M(FDIVR), 0, X87_ROUNDS},
    {M(FIADD), 0, X87_ROUNDS},
    {M(FISUB), 0, X87_ROUNDS},
    {M(FISUBR), 0, X87_ROUNDS},
    {M(FIMUL), 0, X87_ROUNDS},
    {M(FIDIV), 0, X87_ROUNDS},
    {M(FIDIVR), 0, X87_ROUNDS},
    {M(FADDP), 1, X87_ROUNDS},
    {M(FSUBP), 1, X87_ROUNDS},
    {M(FSUBRP), 1, X87_ROUNDS},
    {M(FMULP), 1, X87_ROUNDS},
    {M(FDIVP), 1, X87_ROUNDS},
    {M(FDIVRP), 1, X87_ROUNDS},
    {M(FSQRT), 0, X87_ROUNDS},
    {M(FRNDINT), 0, X87_ROUNDS},
    {M(FSCALE), 0, X87_ROUNDS},
    {M(FPREM), 0, X87_KEEPS},
    {M(FPREM1), 0, X87_KEEPS},
    {M(F2XM1), 0, X87_ROUNDS},
    {M(FSIN), 0, X87_ROUNDS},
    {M(FCOS), 0, X87_ROUNDS},
    {M(FPATAN), 1, X87_ROUNDS},
    {M(FYL2X), 1, X87_ROUNDS},
    {M(FYL2XP1), 1, X87_ROUNDS},
    {M(FST), 0, X87_ROUNDS},
    {M(FSTP), 1, X87_ROUNDS},
    {M(FSTPNCE), 1, X87_MAY_KEEP},
    {M(FIST), 0, X87_ROUNDS},
    {M(FISTP), 1, X87_ROUNDS},
    {M(FISTTP), 1, 0},
    {M(FBSTP), 1, X87_ROUNDS},
    {M(FCOMP), 1, 0},
    {M(FUCOMP), 1, 0},
    {M(FICOMP), 1, 0},
    {M(FCOMI), 0, X87_KEEPS},
    {M(FUCOMI), 0, X87_KEEPS},
    {M(FCOMIP), 1, X87_KEEPS},
    {M(FUCOMIP), 1, X87_KEEPS},
    {M(FCOMPP), 2, 0},
    {M(FUCOMPP), 2, 0},
    {M(FCMOVB), 0, X87_KEEPS},
    {M(FCMOVE), 0, X87_KEEPS},
    {M(FCMOVBE), 0, X87_KEEPS},
    {M(FCMOVU), 0, X87_KEEPS},
    {M(FCMOVNB), 0, X87_KEEPS},
    {M(FCMOVNE), 0, X87_KEEPS},
    {M(FCMOVNBE), 0, X87_KEEPS},
    {M(FCMOVNU), 0, X87_KEEPS},
    {M(FXAM), 0, X87_READ_ONLY},
    {M(FTST), 0, X87_READ_ONLY},
    {M(FFREE), 0, X87_UNUSED},
    {M(FFREEP), 1, X87_UNUSED},
    {M(FNOP), 0, X87_NO_STACK},
    {M(FWAIT), 0, X87_NO_STACK},
    {M(FENI8087_NOP), 0, X87_NO_STACK},
    {M(FDISI8087_NOP), 0, X87_NO_STACK},
    {M(FSETPM287_NOP), 0, X87_NO_STACK},
    {M(FNINIT), 0, X87_NO_STACK},
    {M(FNCLEX), 0, X87_NO_STACK},
    {M(FNSTSW), 0, X87_NO_STACK},
    {M(FNSTCW), 0, X87_NO_STACK},
    {M(FLDCW), 0, X87_NO_STACK},
    {M(FNSTENV), 0, X87_NO_STACK},
    {M(FLDENV), 0, X87_NO_STACK},
    {M(FNSAVE), 0, X87_NO_STACK},
    {M(FRSTOR), 0, X87_NO_STACK},
};

static struct row row_of(const struct insn_operands *ops)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].mnemonic == ops->z.mnemonic)
            return rows[i];
    return (struct row){.mnemonic = 0};
}

bool defuse_x87_is(const struct insn_operands *ops)
{
    return ops->z.meta.category == ZYDIS_CATEGORY_X87_ALU ||
           ops->z.meta.category == ZYDIS_CATEGORY_FCMOV;
}

static bool has_mmx(const struct insn_operands *ops)
{
    for (int i = 0; i < ops->z.operand_count; i++)
        if (ops->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(ops->op[i].reg.value) == ZYDIS_REGCLASS_MMX)
            return true;
    return false;
}

bool defuse_needs_top(const struct insn_operands *ops)
{
    return defuse_x87_is(ops) && !(row_of(ops).what & X87_NO_STACK);
}

int defuse_top_after(const struct insn_operands *ops, unsigned top)
{
    struct row row = row_of(ops);
    switch (ops->z.mnemonic) {
    case M(FLDENV):
    case M(FRSTOR):
    case M(FXRSTOR):
    case M(FXRSTOR64):
    case M(XRSTOR):
    case M(XRSTOR64):
    case M(XRSTORS):
    case M(XRSTORS64):
        return -1;
    case M(FNINIT):
    case M(FNSAVE):
    case M(EMMS):
    case M(FEMMS):
        return 0;
    default:
        if (row.what & X87_UNSURE)
            return -1;
        if (has_mmx(ops))
            return 0;
        return (int)((top + (unsigned)row.moves) & 7);
    }
}

static void use_stack_register(struct defuse_work *w, unsigned phys)
{
    defuse_use(w, loc_x87(phys), LOC_X87_BYTES, DEFUSE_VALUE);
    if (defuse_hardware(w) || w->ops->z.mnemonic == M(FXAM))
        defuse_use(w, LOC_X87_TAG + phys, 1, DEFUSE_VALUE);
}

static void def_stack_register(struct defuse_work *w, unsigned phys, bool sure)
{
    defuse_def(w, loc_x87(phys), LOC_X87_BYTES);
    defuse_def(w, LOC_X87_TAG + phys, 1);
    if (!sure) {
        defuse_use(w, loc_x87(phys), LOC_X87_BYTES, DEFUSE_KEPT);
        defuse_use(w, LOC_X87_TAG + phys, 1, defuse_hardware(w) ? DEFUSE_VALUE : DEFUSE_KEPT);
    }
}

static void split(struct defuse_work *w, bool sure)
{
    unsigned st0 = w->how->top & 7, pushed = (st0 - 1) & 7;
    use_stack_register(w, st0);
    def_stack_register(w, st0, sure);
    def_stack_register(w, pushed, sure);
}

void defuse_x87_operand(struct defuse_work *w, const ZydisDecodedOperand *op)
{
    unsigned n = (unsigned)ZydisRegisterGetId(op->reg.value);
    bool reads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_MMX) {
        unsigned bytes = w->fix & FIX_HIGH_SOURCE ? 8 : op->size / 8u;
        if (reads && !(w->no_read >> op->id & 1))
            defuse_use(w, loc_x87(n), bytes, DEFUSE_VALUE);
        if (writes)
            defuse_def(w, loc_x87(n), LOC_X87_BYTES); /* sign and exponent become ones */
        return;
    }
    struct row row = row_of(w->ops);
    unsigned phys = (w->how->top + n) & 7;
    if (row.what & (X87_SPLITS | X87_UNUSED))
        return;
    if (reads)
        use_stack_register(w, phys);
    if (!writes || row.what & X87_READ_ONLY)
        return;
    if (row.moves < 0 && !reads)
        phys = (phys - 1) & 7;
    def_stack_register(w, phys,
                       op->actions & ZYDIS_OPERAND_ACTION_WRITE && !(row.what & X87_MAY_KEEP));
}

static void move_top(struct defuse_work *w, struct row row)
{
    unsigned top = w->how->top & 7, pushed = (top - 1) & 7;
    bool rotates = row.mnemonic == M(FINCSTP) || row.mnemonic == M(FDECSTP);
    for (int i = 0; i < row.moves && !rotates; i++)
        defuse_def(w, LOC_X87_TAG + ((top + (unsigned)i) & 7), 1);
    if (!defuse_hardware(w))
        return;
    defuse_use(w, LOC_X87_TOP, 1, DEFUSE_ADDRESS);
    if (!row.moves)
        return;
    defuse_def(w, LOC_X87_TOP, 1);
    if (row.moves < 0 && !rotates) /* a register in use is an overflow */
        defuse_use(w, LOC_X87_TAG + pushed, 1, DEFUSE_VALUE);
}

static void add_conditions(struct defuse_work *w, struct row row)
{
    const ZydisAccessedFlags *f = w->ops->z.fpu_flags;
    static const uint32_t bit[4] = {ZYDIS_FPUFLAG_C0, ZYDIS_FPUFLAG_C1, ZYDIS_FPUFLAG_C2,
                                    ZYDIS_FPUFLAG_C3};
    if (!f || row.what & X87_NO_STACK)
        return; /* control instructions leave them, whatever the manual reserves */
    uint32_t set = f->modified | f->set_0 | f->set_1;
    for (unsigned i = 0; i < 4; i++) {
        if (set & bit[i] && !(row.what & X87_KEEPS))
            defuse_def(w, LOC_C0 + i, 1);
        else if ((set | f->undefined) & bit[i])
            defuse_def_kept(w, LOC_C0 + i, 1);
    }
}

void defuse_x87_end(struct defuse_work *w)
{
    struct row row = row_of(w->ops);
    add_conditions(w, row);
    if (row.what & X87_NO_STACK)
        return;
    move_top(w, row);
    if (row.what & X87_SPLITS)
        split(w, !(row.what & X87_UNSURE));
    if (row.what & X87_ROUNDS)
        defuse_use(w, LOC_X87_CONTROL, 1, DEFUSE_VALUE);
    if (row.what & X87_UNUSED)
        defuse_def(
            w,
            LOC_X87_TAG +
                ((w->how->top + (unsigned)(w->ops->op[0].reg.value - ZYDIS_REGISTER_ST0)) & 7),
            1);
}

/* Touching an MMX register marks all registers as in use and sets TOP to zero. */
void defuse_x87_mmx(struct defuse_work *w)
{
    if (!has_mmx(w->ops))
        return;
    defuse_def(w, LOC_X87_TAG, 8);
    defuse_def(w, LOC_X87_TOP, 1);
}
