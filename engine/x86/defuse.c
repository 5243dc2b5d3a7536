/* defuse.c - which locations an instruction defines and uses: from operands to sets.
 *
 * SPDX-License-Identifier: MIT
 *
 *  1. A write of a 32-bit general register defines all 8 bytes, of a narrower one just those.
 *  2. A write of a vector register defines its bytes; with VEX and EVEX all 64, they zero the rest.
 *  3. A write that may not happen, or not for all bytes, is a definition and KEPT.
 *  4. Hidden rsp operands and rsp as a base are stack traffic: none of it without
 *     DEFUSE_STACK_POINTER.
 */
#include "engine/rt/rt.h"
#include "engine/x86/defuse_int.h"

#define READS      ZYDIS_OPERAND_ACTION_MASK_READ
#define WRITES     ZYDIS_OPERAND_ACTION_MASK_WRITE
#define MAY_WRITE  ZYDIS_OPERAND_ACTION_CONDWRITE
#define SURE_READ  ZYDIS_OPERAND_ACTION_READ
#define SURE_WRITE ZYDIS_OPERAND_ACTION_WRITE

void defuse_def(struct defuse_work *w, unsigned first, unsigned count)
{
    loc_set_add(&w->def, first, count);
}

void defuse_use(struct defuse_work *w, unsigned first, unsigned count, enum defuse_kind kind)
{
    loc_set_add(&w->use[kind], first, count);
}

void defuse_def_kept(struct defuse_work *w, unsigned first, unsigned count)
{
    defuse_def(w, first, count);
    defuse_use(w, first, count, DEFUSE_KEPT);
}

static bool is_vex(const struct insn_operands *ops)
{
    return ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
           ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
           ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP;
}

static bool is_masked(const struct insn_operands *ops)
{
    return ops->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
           ops->z.avx.mask.reg != ZYDIS_REGISTER_NONE && ops->z.avx.mask.reg != ZYDIS_REGISTER_K0;
}

/* The decoder says of each merging destination that it is read. Without the mask it says which
 * ones are sources, too (fused multiply-add, permutes of two tables, ...). */
static bool reads_masked_destination(const struct defuse_work *w)
{
    struct insn bare = *w->in;
    struct insn_operands ops;
    for (int i = 0; i < w->ops->z.operand_count; i++)
        if (w->ops->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            w->ops->op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return false; /* no form without a mask */
    enum { EVEX_P2 = 3, MASK_BITS = 0x87 };
    bare.bytes[bare.prefix_at + EVEX_P2] &= (uint8_t)~MASK_BITS;
    insn_operands(&bare, &ops);
    return ops.op[0].actions & READS;
}

static bool is_frame(const struct defuse_work *w, ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_RBP && (w->how->flags & DEFUSE_FRAME) && !defuse_hardware(w);
}

static bool is_stack(const struct defuse_work *w, ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_RSP && !defuse_hardware(w);
}

static void use_address_register(struct defuse_work *w, ZydisRegister reg, enum defuse_kind kind)
{
    int gpr = insn_gpr_number(reg);
    if (gpr >= 0) {
        defuse_use(w, loc_gpr((unsigned)gpr), reg >= ZYDIS_REGISTER_RAX ? 8 : 4, kind);
        return;
    }
    unsigned bytes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8u;
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        defuse_use(w, loc_vec((unsigned)ZydisRegisterGetId(reg)), bytes, kind);
        break;
    default: /* none, rip */
        break;
    }
}

static void add_memory(struct defuse_work *w, const ZydisDecodedOperand *op)
{
    bool lea = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    enum defuse_kind kind = lea ? DEFUSE_VALUE : DEFUSE_ADDRESS;
    if (lea || (!is_stack(w, op->mem.base) && !is_frame(w, op->mem.base)))
        use_address_register(w, op->mem.base, kind);
    use_address_register(w, op->mem.index, kind);
    if (!lea && op->mem.segment == ZYDIS_REGISTER_FS)
        defuse_use(w, LOC_FS_BASE, 1, DEFUSE_ADDRESS);
    if (!lea && op->mem.segment == ZYDIS_REGISTER_GS)
        defuse_use(w, LOC_GS_BASE, 1, DEFUSE_ADDRESS);
}

static void add_gpr(struct defuse_work *w, const ZydisDecodedOperand *op, bool reads)
{
    ZydisRegister reg = op->reg.value;
    unsigned first = loc_gpr((unsigned)insn_gpr_number(reg)), bytes = op->size / 8u;
    bool high = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
    if (reads)
        defuse_use(w, first + high, bytes, DEFUSE_VALUE);
    if (!(op->actions & WRITES))
        return;
    bool kept = w->fix & FIX_KEEPS && op->id == 0;
    if (kept || w->fix & FIX_KEEPS_ALL)
        defuse_def_kept(w, first + high, bytes == 4 ? 8 : bytes);
    else if (op->actions & SURE_WRITE || reads)
        defuse_def(w, first + high, bytes == 4 ? 8 : bytes);
    else { /* cmov: zero extends, whatever it decides */
        defuse_def(w, first, bytes == 4 ? 8 : bytes);
        defuse_use(w, first, bytes, DEFUSE_KEPT);
    }
}

static void add_vector(struct defuse_work *w, const ZydisDecodedOperand *op, bool reads)
{
    unsigned first = loc_vec((unsigned)ZydisRegisterGetId(op->reg.value)), bytes = op->size / 8u;
    unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) / 8u;
    bool dest = op->actions & WRITES;
    bool merges = dest && op->id == 0 && op->actions & (MAY_WRITE | ZYDIS_OPERAND_ACTION_CONDREAD);
    if (w->fix & (dest ? FIX_HIGH_DEST : FIX_HIGH_SOURCE) && !is_vex(w->ops)) {
        first += 8;
        bytes = 8;
    } else if (w->fix & FIX_HIGH_SOURCE && !dest) {
        bytes = 16;
    }
    if (w->fix & FIX_WHOLE_SOURCE && !dest)
        bytes = width;
    if (merges) {
        defuse_use(w, first, bytes, DEFUSE_KEPT);
        reads = is_masked(w->ops) && reads_masked_destination(w);
    }
    if (reads && !(w->no_read >> op->id & 1))
        defuse_use(w, first, bytes, DEFUSE_VALUE);
    if (dest && is_vex(w->ops))
        defuse_def(w, first, LOC_VEC_BYTES);
    else if (dest)
        defuse_def(w, first, w->fix & FIX_WHOLE_DEST ? width : bytes);
}

static void add_register(struct defuse_work *w, const ZydisDecodedOperand *op)
{
    ZydisRegister reg = op->reg.value;
    bool reads = (op->actions & READS || (w->fix & FIX_READS_DEST && op->id == 0)) &&
                 !(w->no_read >> op->id & 1);
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        if (op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || !is_stack(w, reg))
            add_gpr(w, op, reads);
        break;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        add_vector(w, op, reads);
        break;
    case ZYDIS_REGCLASS_MASK:
        if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && !is_masked(w->ops))
            break; /* k0 stands for none */
        if (reads)
            defuse_use(w, loc_mask((unsigned)ZydisRegisterGetId(reg)), LOC_MASK_BYTES,
                       DEFUSE_VALUE);
        if (op->actions & WRITES)
            defuse_def(w, loc_mask((unsigned)ZydisRegisterGetId(reg)), LOC_MASK_BYTES);
        break;
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        defuse_x87_operand(w, op);
        break;
    default: /* flags have a list of their own; rip, selectors, ... are no locations */
        break;
    }
}

static const struct {
    uint32_t bits;
    uint16_t loc;
} flag_loc[] = {
    {ZYDIS_CPUFLAG_CF, LOC_CF}, {ZYDIS_CPUFLAG_PF, LOC_PF},
    {ZYDIS_CPUFLAG_AF, LOC_AF}, {ZYDIS_CPUFLAG_ZF, LOC_ZF},
    {ZYDIS_CPUFLAG_SF, LOC_SF}, {ZYDIS_CPUFLAG_OF, LOC_OF},
    {ZYDIS_CPUFLAG_DF, LOC_DF}, {~(uint32_t)(FLAGS_ARITH | FLAG_DF), LOC_FLAGS_REST},
};

static bool flags_may_stay(const struct insn_operands *ops)
{
    for (int i = 0; i < ops->z.operand_count; i++)
        if (ops->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(ops->op[i].reg.value) == ZYDIS_REGCLASS_FLAGS)
            return ops->op[i].actions & MAY_WRITE;
    return false;
}

/* The CPU computes flags that the manual calls undefined, or leaves them alone. */
static void add_flags(struct defuse_work *w)
{
    const ZydisAccessedFlags *f = w->ops->z.cpu_flags;
    if (!f || defuse_fix_shift_by_none(w->ops))
        return;
    uint32_t set = f->modified | f->set_0 | f->set_1, unsure = f->undefined;
    if (w->fix & FIX_FLAGS_ALL)
        set |= FLAGS_ARITH;
    if (w->fix & FIX_FLAGS_AF) {
        set |= unsure & FLAG_AF;
        unsure &= ~(uint32_t)FLAG_AF;
    }
    if (flags_may_stay(w->ops) || defuse_fix_shift_by_cl(w->ops))
        unsure |= set;
    for (size_t i = 0; i < ARRAY_LEN(flag_loc); i++) {
        if (f->tested & flag_loc[i].bits)
            defuse_use(w, flag_loc[i].loc, 1, DEFUSE_VALUE);
        if ((set | unsure) & flag_loc[i].bits)
            defuse_def(w, flag_loc[i].loc, 1);
        if (unsure & flag_loc[i].bits)
            defuse_use(w, flag_loc[i].loc, 1, DEFUSE_KEPT);
    }
}

/* Directed rounding, flush to zero and denormals as zero are in MXCSR. */
static bool uses_mxcsr(const struct defuse_work *w)
{
    if (w->fix & (FIX_MXCSR | FIX_NO_MXCSR))
        return w->fix & FIX_MXCSR;
    switch (w->ops->z.meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_SSE2:
    case ZYDIS_EXCEPTION_CLASS_SSE3:
    case ZYDIS_EXCEPTION_CLASS_AVX2:
    case ZYDIS_EXCEPTION_CLASS_AVX3:
    case ZYDIS_EXCEPTION_CLASS_AVX11:
    case ZYDIS_EXCEPTION_CLASS_E2:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E11:
    case ZYDIS_EXCEPTION_CLASS_E11NF:
        return true;
    default:
        return false;
    }
}

/* Constants added to the stack pointer, and moves between it and the frame pointer. */
static bool moves_stack(const struct defuse_work *w)
{
    const struct insn_operands *ops = w->ops;
    const ZydisDecodedOperand *to = &ops->op[0], *from = &ops->op[1];
    if (to->type != ZYDIS_OPERAND_TYPE_REGISTER || ops->z.operand_count < 2)
        return false;
    bool rsp = is_stack(w, to->reg.value), rbp = is_frame(w, to->reg.value);
    bool framed = w->how->flags & DEFUSE_FRAME;
    switch (ops->z.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return rsp && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_LEA:
        return (rsp || rbp) && from->mem.index == ZYDIS_REGISTER_NONE &&
               ((from->mem.base == ZYDIS_REGISTER_RSP) || is_frame(w, from->mem.base));
    case ZYDIS_MNEMONIC_MOV:
        return (rsp || rbp) && framed && from->type == ZYDIS_OPERAND_TYPE_REGISTER &&
               (from->reg.value == ZYDIS_REGISTER_RSP || from->reg.value == ZYDIS_REGISTER_RBP);
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_PUSH:
        return rbp;
    default:
        return false;
    }
}

static void apply_stack_policy(struct defuse_work *w)
{
    unsigned rsp = loc_gpr(RSP), rbp = loc_gpr(RBP);
    ZydisMnemonic m = w->ops->z.mnemonic;
    if (defuse_hardware(w))
        return;
    if (moves_stack(w)) {
        loc_set_remove(&w->def, rsp, 8);
        loc_set_remove(&w->use[DEFUSE_VALUE], rsp, 8);
    }
    bool traffic = m == ZYDIS_MNEMONIC_LEAVE || m == ZYDIS_MNEMONIC_ENTER;
    if (w->how->flags & DEFUSE_FRAME && (moves_stack(w) || traffic)) {
        loc_set_remove(&w->def, rbp, 8);
        loc_set_remove(&w->use[DEFUSE_VALUE], rbp, 8);
    } else if (m == ZYDIS_MNEMONIC_LEAVE) {
        loc_set_remove(&w->use[DEFUSE_VALUE], rbp, 8); /* its value goes to rsp only */
    }
}

static void add_accesses(struct defuse_work *w)
{
    struct mem_access list[ACCESSES_MOST];
    int n = accesses_of(w->in, w->ops, list);
    w->out->accesses = (uint8_t)n;
    for (int i = 0; i < n; i++) {
        struct defuse_access *a = &w->out->access[i];
        const ZydisDecodedOperand *op = &w->ops->op[list[i].op];
        a->at = list[i];
        if (w->no_read >> list[i].op & 1)
            a->at.read = false;
        if (w->fix & FIX_NOTHING)
            a->at.read = a->at.write = false;
        a->may = a->at.write && list[i].shape != ACCESS_STRING &&
                 (!(op->actions & SURE_WRITE) || list[i].shape == ACCESS_MASKED ||
                  list[i].shape == ACCESS_STATE);
    }
}

/* A longer span covers uses that do not fit; definitions that do not fit are left out. Both are
 * safe. */
static uint8_t list_spans(const struct loc_set *set, enum defuse_kind kind, struct loc_span *to,
                          unsigned n, unsigned most, bool definitions)
{
    for (struct loc_span s = loc_set_next(set, 0); s.count;
         s = loc_set_next(set, s.first + s.count)) {
        s.kind = kind;
        if (n < most)
            to[n++] = s;
        else if (!definitions && to[n - 1].kind == kind)
            to[n - 1].count = (s.first + s.count - to[n - 1].first) & 0xfff;
    }
    return (uint8_t)n;
}

void defuse_of(const struct insn *in, const struct insn_operands *ops, const struct defuse_how *how,
               struct defuse *out)
{
    struct defuse_work w = {.in = in, .ops = ops, .how = how, .out = out};
    memset(out, 0, sizeof *out);
    if (in->kind == INSN_ILLEGAL)
        return;
    defuse_fix_begin(&w);
    add_accesses(&w);
    if (!(w.fix & FIX_NOTHING) && !defuse_fix_special(&w)) {
        for (int i = 0; i < ops->z.operand_count; i++) {
            if (ops->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
                add_memory(&w, &ops->op[i]);
            else if (ops->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
                add_register(&w, &ops->op[i]);
        }
        add_flags(&w);
        if (uses_mxcsr(&w))
            defuse_use(&w, LOC_MXCSR_CONTROL, 1, DEFUSE_VALUE);
        if (defuse_x87_is(ops))
            defuse_x87_end(&w);
        defuse_x87_mmx(&w);
        defuse_fix_end(&w);
        apply_stack_policy(&w);
    }
    out->defs = list_spans(&w.def, 0, out->def, 0, DEFUSE_MOST_DEFS, true);
    for (int kind = DEFUSE_VALUE; kind <= DEFUSE_KEPT; kind++)
        out->uses = list_spans(&w.use[kind], (enum defuse_kind)kind, out->use, out->uses,
                               DEFUSE_MOST_USES, false);
}
