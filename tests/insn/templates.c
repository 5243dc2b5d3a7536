/* templates.c - every instruction encoding the decoder knows, sorted by kind and mnemonic.
 *
 * SPDX-License-Identifier: MIT
 */
#include "templates.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define M(name) ZYDIS_MNEMONIC_##name

/* Not for random sequences. Results that are not a function of the state (time, CPU number,
 * entropy, XINUSE), ways out of the sandbox (system calls, far transfers, segment loads, the
 * hypervisor), and what the generator writes itself because it needs a setup (ENTER, POPF,
 * FNSTENV...). */
static const uint16_t denied[] = {
    /* the outside */
    M(SYSCALL),
    M(SYSENTER),
    M(SYSEXIT),
    M(SYSRET),
    M(INT),
    M(INT1),
    M(IRET),
    M(IRETD),
    M(IRETQ),
    M(VMCALL),
    M(VMMCALL),
    M(VMFUNC),
    M(VMRUN),
    M(VMLOAD),
    M(VMSAVE),
    M(SKINIT),
    M(STGI),
    M(CLGI),
    M(INVLPGA),
    M(GETSEC),
    M(ENCLS),
    M(ENCLU),
    M(ENCLV),
    M(TDCALL),
    M(SEAMCALL),
    M(SEAMOPS),
    M(SEAMRET),
    M(PSMASH),
    M(PVALIDATE),
    M(RMPADJUST),
    M(RMPUPDATE),
    M(INVLPGB),
    M(TLBSYNC),
    M(PCONFIG),
    M(ENQCMD),
    M(ENQCMDS),
    M(UIRET),
    M(SENDUIPI),
    M(CLUI),
    M(STUI),
    M(TESTUI),
    M(PTWRITE),
    M(LOADIWKEY),
    M(HRESET),
    M(MCOMMIT),
    /* time, entropy, processor number, waiting */
    M(RDTSC),
    M(RDTSCP),
    M(RDPID),
    M(RDPMC),
    M(RDPRU),
    M(RDRAND),
    M(RDSEED),
    M(CPUID),
    M(LSL),
    M(MONITOR),
    M(MONITORX),
    M(MWAIT),
    M(MWAITX),
    M(UMONITOR),
    M(UMWAIT),
    M(TPAUSE),
    M(XSTORE),
    /* transactions */
    M(XBEGIN),
    M(XEND),
    M(XABORT),
    M(XTEST),
    M(XSUSLDTRK),
    M(XRESLDTRK),
    /* state images that hold instruction pointers or XINUSE; protection keys; shadow stacks; tiles
     */
    M(XGETBV),
    M(XSAVE),
    M(XSAVE64),
    M(XSAVEC),
    M(XSAVEC64),
    M(XSAVEOPT),
    M(XSAVEOPT64),
    M(XSAVES),
    M(XSAVES64),
    M(XRSTOR),
    M(XRSTOR64),
    M(XRSTORS),
    M(XRSTORS64),
    M(FXSAVE),
    M(FXSAVE64),
    M(FNSAVE),
    M(FNSTENV),
    M(WRPKRU),
    M(SAVEPREVSSP),
    M(RSTORSSP),
    M(INCSSPD),
    M(INCSSPQ),
    M(LDTILECFG),
    M(STTILECFG),
    M(TILELOADD),
    M(TILELOADDT1),
    M(TILESTORED),
    M(TILERELEASE),
    M(TILEZERO),
    M(LLWPCB),
    M(SLWPCB),
    M(LWPINS),
    M(LWPVAL),
    /* segment registers and bases */
    M(LDS),
    M(LES),
    M(LFS),
    M(LGS),
    M(LSS),
    M(WRFSBASE),
    M(WRGSBASE),
    M(SWAPGS),
    /* written by the generator with their setup */
    M(ENTER),
    M(LEAVE),
    M(POPF),
    M(POPFD),
    M(POPFQ),
    M(FEMMS),
    /* VIA */
    M(MONTMUL),
    M(XSHA1),
    M(XSHA256),
    M(XCRYPT_CBC),
    M(XCRYPT_CFB),
    M(XCRYPT_CTR),
    M(XCRYPT_ECB),
    M(XCRYPT_OFB),
};

/* What a Zydis ISA set needs; sets not listed belong to every x86-64 CPU. */
struct feature {
    uint16_t isa_set;
    uint8_t reg; /* of the leaf: a, b, c, d */
    uint32_t leaf;
    uint8_t bit;
};

#define S(name) ZYDIS_ISA_SET_##name
#define NEVER   0xff
static const struct feature features[] = {
    {S(ADOX_ADCX), 'b', 7, 19},
    {S(AES), 'c', 1, 25},
    {S(AVX), 'c', 1, 28},
    {S(AVX2), 'b', 7, 5},
    {S(AVX2GATHER), 'b', 7, 5},
    {S(AVXAES), 'c', 1, 25},
    {S(AVX_GFNI), 'c', 7, 8},
    {S(AVX_VNNI), 'a', 0x10007, 4},
    {S(BMI1), 'b', 7, 3},
    {S(BMI2), 'b', 7, 8},
    {S(CLFLUSHOPT), 'b', 7, 23},
    {S(CLWB), 'b', 7, 24},
    {S(CLZERO), 'b', 0x80000008, 0},
    {S(CMPXCHG16B), 'c', 1, 13},
    {S(F16C), 'c', 1, 29},
    {S(FMA), 'c', 1, 12},
    {S(FMA4), 'c', 0x80000001, 16},
    {S(GFNI), 'c', 7, 8},
    {S(LZCNT), 'c', 0x80000001, 5},
    {S(MOVBE), 'c', 1, 22},
    {S(PCLMULQDQ), 'c', 1, 1},
    {S(POPCNT), 'c', 1, 23},
    {S(RDWRFSGS), 'b', 7, 0},
    {S(SERIALIZE), 'd', 7, 14},
    {S(SHA), 'b', 7, 29},
    {S(SSE3), 'c', 1, 0},
    {S(SSE3X87), 'c', 1, 0},
    {S(SSSE3), 'c', 1, 9},
    {S(SSSE3MMX), 'c', 1, 9},
    {S(SSE4), 'c', 1, 19},
    {S(SSE42), 'c', 1, 20},
    {S(SSE4A), 'c', 0x80000001, 6},
    {S(TBM), 'c', 0x80000001, 21},
    {S(VAES), 'c', 7, 9},
    {S(VPCLMULQDQ), 'c', 7, 10},
    {S(XOP), 'c', 0x80000001, 11},
    {S(MOVDIR), 'c', 7, 28},
    {S(AMD), 'c', 0x80000001, 8},
    {S(AVX512F_128), 'b', 7, 31},
    {S(AVX512F_128N), 'b', 7, 16},
    {S(AVX512F_256), 'b', 7, 31},
    {S(AVX512F_512), 'b', 7, 16},
    {S(AVX512F_KOP), 'b', 7, 16},
    {S(AVX512F_SCALAR), 'b', 7, 16},
    {S(AVX512BW_128), 'b', 7, 30},
    {S(AVX512BW_128N), 'b', 7, 30},
    {S(AVX512BW_256), 'b', 7, 30},
    {S(AVX512BW_512), 'b', 7, 30},
    {S(AVX512BW_KOP), 'b', 7, 30},
    {S(AVX512DQ_128), 'b', 7, 17},
    {S(AVX512DQ_128N), 'b', 7, 17},
    {S(AVX512DQ_256), 'b', 7, 17},
    {S(AVX512DQ_512), 'b', 7, 17},
    {S(AVX512DQ_KOP), 'b', 7, 17},
    {S(AVX512DQ_SCALAR), 'b', 7, 17},
    {S(AVX512CD_128), 'b', 7, 28},
    {S(AVX512CD_256), 'b', 7, 28},
    {S(AVX512CD_512), 'b', 7, 28},
    {S(AVX512_IFMA_128), 'b', 7, 21},
    {S(AVX512_IFMA_256), 'b', 7, 21},
    {S(AVX512_IFMA_512), 'b', 7, 21},
    {S(AVX512_VBMI_128), 'c', 7, 1},
    {S(AVX512_VBMI_256), 'c', 7, 1},
    {S(AVX512_VBMI_512), 'c', 7, 1},
    {S(AVX512_VBMI2_128), 'c', 7, 6},
    {S(AVX512_VBMI2_256), 'c', 7, 6},
    {S(AVX512_VBMI2_512), 'c', 7, 6},
    {S(AVX512_GFNI_128), 'c', 7, 8},
    {S(AVX512_GFNI_256), 'c', 7, 8},
    {S(AVX512_GFNI_512), 'c', 7, 8},
    {S(AVX512_VAES_128), 'c', 7, 9},
    {S(AVX512_VAES_256), 'c', 7, 9},
    {S(AVX512_VAES_512), 'c', 7, 9},
    {S(AVX512_VPCLMULQDQ_128), 'c', 7, 10},
    {S(AVX512_VPCLMULQDQ_256), 'c', 7, 10},
    {S(AVX512_VPCLMULQDQ_512), 'c', 7, 10},
    {S(AVX512_VNNI_128), 'c', 7, 11},
    {S(AVX512_VNNI_256), 'c', 7, 11},
    {S(AVX512_VNNI_512), 'c', 7, 11},
    {S(AVX512_BITALG_128), 'c', 7, 12},
    {S(AVX512_BITALG_256), 'c', 7, 12},
    {S(AVX512_BITALG_512), 'c', 7, 12},
    {S(AVX512_VPOPCNTDQ_128), 'c', 7, 14},
    {S(AVX512_VPOPCNTDQ_256), 'c', 7, 14},
    {S(AVX512_VPOPCNTDQ_512), 'c', 7, 14},
    {S(AVX512_BF16_128), 'a', 0x10007, 5},
    {S(AVX512_BF16_256), 'a', 0x10007, 5},
    {S(AVX512_BF16_512), 'a', 0x10007, 5},
    {S(AVX512_FP16_128), 'd', 7, 23},
    {S(AVX512_FP16_128N), 'd', 7, 23},
    {S(AVX512_FP16_256), 'd', 7, 23},
    {S(AVX512_FP16_512), 'd', 7, 23},
    {S(AVX512_FP16_SCALAR), 'd', 7, 23},
    {S(AVX512_VP2INTERSECT_128), 'd', 7, 8},
    {S(AVX512_VP2INTERSECT_256), 'd', 7, 8},
    {S(AVX512_VP2INTERSECT_512), 'd', 7, 8},
    {S(AVX512ER_512), 'b', 7, 27},
    {S(AVX512ER_SCALAR), 'b', 7, 27},
    {S(AVX512PF_512), 'b', 7, 26},
    {S(AVX512_4FMAPS_512), 'd', 7, 3},
    {S(AVX512_4FMAPS_SCALAR), 'd', 7, 3},
    {S(AVX512_4VNNIW_512), 'd', 7, 2},
    {S(AMX_BF16), 0, 0, NEVER},
    {S(AMX_INT8), 0, 0, NEVER},
    {S(AMX_TILE), 0, 0, NEVER},
    {S(KEYLOCKER), 0, 0, NEVER},
    {S(KEYLOCKER_WIDE), 0, 0, NEVER},
    {S(KNCE), 0, 0, NEVER},
    {S(KNCJKBR), 0, 0, NEVER},
    {S(KNCSTREAM), 0, 0, NEVER},
    {S(KNCV), 0, 0, NEVER},
    {S(KNC_MISC), 0, 0, NEVER},
    {S(KNC_PF_HINT), 0, 0, NEVER},
    {S(LWP), 0, 0, NEVER},
    {S(PKU), 0, 0, NEVER},
    {S(AMD3DNOW), 0, 0, NEVER},
    {S(PADLOCK_ACE), 0, 0, NEVER},
    {S(PADLOCK_PHE), 0, 0, NEVER},
    {S(PADLOCK_PMM), 0, 0, NEVER},
    {S(PADLOCK_RNG), 0, 0, NEVER},
    {S(UINTR), 0, 0, NEVER},
    {S(VTX), 0, 0, NEVER},
    {S(SVM), 0, 0, NEVER},
    {S(WAITPKG), 0, 0, NEVER},
    {S(ENQCMD), 0, 0, NEVER},
};

struct bucket {
    struct insn_template *items;
    unsigned count, capacity;
};

static ZydisDecoder decoder;
static bool deny_mnemonic[ZYDIS_MNEMONIC_MAX_VALUE + 1];
static bool have_isa[ZYDIS_ISA_SET_MAX_VALUE + 1];
static struct bucket groups[GROUP_COUNT];
/* Start of each mnemonic's run inside a group's sorted templates. */
static unsigned *runs[GROUP_COUNT], run_count[GROUP_COUNT];

static bool cpuid_bit(uint32_t leaf, char reg, unsigned bit)
{
    unsigned a, b, c, d, subleaf = leaf >> 16 == 1; /* 0x10007 is leaf 7, subleaf 1 */
    if (!__get_cpuid_count(subleaf ? leaf & 0xffff : leaf, subleaf, &a, &b, &c, &d))
        return false;
    return (reg == 'a' ? a : reg == 'b' ? b : reg == 'c' ? c : d) >> bit & 1;
}

static uint64_t xcr0(void)
{
    uint32_t lo, hi;
    if (!cpuid_bit(1, 'c', 27))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

void templates_detect_cpu(struct cpu *cpu)
{
    cpu->avx = cpuid_bit(1, 'c', 28) && (xcr0() & 6) == 6;
    cpu->avx512 = cpu->avx && (xcr0() & 0xe6) == 0xe6 && cpuid_bit(7, 'b', 16) &&
                  cpuid_bit(7, 'b', 30); /* the trampoline moves 64-bit masks */
    cpu->fsgsbase = cpuid_bit(7, 'b', 0);
    cpu->umip = cpuid_bit(7, 'c', 2);
}

static void detect_isa_sets(const struct cpu *cpu)
{
    memset(have_isa, true, sizeof have_isa);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *f = &features[i];
        bool have = f->bit != NEVER && cpuid_bit(f->leaf, (char)f->reg, f->bit);
        have_isa[f->isa_set] = have;
    }
    /* Without UMIP these answer with addresses of the current processor's tables. */
    deny_mnemonic[M(SGDT)] = deny_mnemonic[M(SIDT)] = deny_mnemonic[M(SLDT)] = !cpu->umip;
    deny_mnemonic[M(STR)] = deny_mnemonic[M(SMSW)] = !cpu->umip;
}

static enum group classify(const ZydisDecodedInstruction *insn, const struct cpu *cpu)
{
    if (insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED || insn->meta.category == ZYDIS_CATEGORY_IO ||
        insn->meta.category == ZYDIS_CATEGORY_IOSTRINGOP || insn->mnemonic == M(CLI) ||
        insn->mnemonic == M(STI) || insn->mnemonic == M(HLT))
        return GROUP_SYSTEM;
    switch (insn->mnemonic) {
    case M(UD0):
    case M(UD1):
    case M(UD2):
    case M(WRSSD):
    case M(WRSSQ):
        return GROUP_ABSENT;
    default:
        break;
    }
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return cpu->avx512 && have_isa[insn->meta.isa_set] ? GROUP_EVEX : GROUP_ABSENT;
    if (!have_isa[insn->meta.isa_set])
        return GROUP_ABSENT;
    if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        return cpu->avx ? GROUP_VEX : GROUP_ABSENT;
    switch (insn->meta.isa_ext) {
    case ZYDIS_ISA_EXT_X87:
        return GROUP_X87;
    case ZYDIS_ISA_EXT_MMX:
        return GROUP_MMX;
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSE4A:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_GFNI:
        return GROUP_SSE;
    default:
        return GROUP_INT;
    }
}

static bool is_transfer(const ZydisDecodedInstruction *insn)
{
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
        return true;
    default:
        return insn->mnemonic == M(INT3); /* the generator has its own */
    }
}

static void bucket_add(struct bucket *b, const struct insn_template *t)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 1024;
        b->items = realloc(b->items, b->capacity * sizeof *b->items);
        if (!b->items)
            abort();
    }
    b->items[b->count++] = *t;
}

static size_t encode_probe(const struct insn_template *t, uint8_t out[24])
{
    static const uint8_t pp_byte[4] = {0, 0x66, 0xf3, 0xf2};
    size_t n = 0;
    memset(out, 0, 24);
    switch (t->encoding) {
    case ENC_LEGACY:
        if (t->pp)
            out[n++] = pp_byte[t->pp];
        if (t->w)
            out[n++] = 0x48;
        if (t->map)
            out[n++] = 0x0f;
        if (t->map > 1)
            out[n++] = t->map == 2 ? 0x38 : 0x3a;
        break;
    case ENC_VEX:
    case ENC_XOP:
        out[n++] = t->encoding == ENC_VEX ? 0xc4 : 0x8f;
        out[n++] = 0xe0 | t->map;
        out[n++] = (uint8_t)(t->w << 7 | 0x78 | t->l << 2 | t->pp);
        break;
    case ENC_EVEX:
        out[n++] = 0x62;
        out[n++] = 0xf0 | t->map;
        out[n++] = (uint8_t)(t->w << 7 | 0x7c | t->pp);
        out[n++] = (uint8_t)(t->l << 5 | 8);
        break;
    }
    out[n++] = t->opcode;
    out[n++] = t->modrm;
    return 24;
}

/* VEX.vvvv may be required (any value) or forbidden (1111b); EVEX gathers need a mask register and
 * VSIB forms a SIB byte. Try the few variants before giving an encoding up. */
static bool probe(const struct insn_template *t, ZydisDecodedInstruction *insn)
{
    uint8_t bytes[24];
    size_t n = encode_probe(t, bytes);
    if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, n, insn)))
        return true;
    if (t->encoding == ENC_LEGACY || t->form != FORM_MEM)
        return false;
    size_t modrm = t->encoding == ENC_EVEX ? 5 : 4;
    bytes[modrm] = (bytes[modrm] & 0x38) | 4;
    bytes[modrm + 1] = 0x10;
    if (t->encoding == ENC_EVEX)
        bytes[3] |= 1;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, n, insn));
}

/* 1: added; 0: no such instruction; -1: there is no ModRM byte, other values of it are the same. */
static int try_template(struct insn_template *t, const struct cpu *cpu)
{
    ZydisDecodedInstruction insn;
    if (!probe(t, &insn))
        return 0;
    if (!(insn.attributes & ZYDIS_ATTRIB_HAS_MODRM))
        t->form = FORM_NO_MODRM;
    if (!deny_mnemonic[insn.mnemonic] && !is_transfer(&insn)) {
        t->mnemonic = (uint16_t)insn.mnemonic;
        bucket_add(&groups[classify(&insn, cpu)], t);
    }
    return t->form == FORM_NO_MODRM ? -1 : 1;
}

/* Opcodes where ModRM.rm takes part in the selection when mod is 3. */
static bool rm_selects(const struct insn_template *t)
{
    if (t->encoding != ENC_LEGACY)
        return false;
    return t->map == 0
               ? (t->opcode & 0xf8) == 0xd8
               : t->map == 1 && (t->opcode == 0x01 || t->opcode == 0xae || t->opcode == 0x1e);
}

/* Opcodes where ModRM.reg takes part, or names one of the few segment or control registers. */
static bool reg_selects(const struct insn_template *t)
{
    static const struct {
        uint8_t encoding, map, first, last;
    } ranges[] = {
        {ENC_LEGACY, 0, 0x80, 0x83}, {ENC_LEGACY, 0, 0x8c, 0x8f}, {ENC_LEGACY, 0, 0xc0, 0xc1},
        {ENC_LEGACY, 0, 0xc6, 0xc7}, {ENC_LEGACY, 0, 0xd0, 0xd3}, {ENC_LEGACY, 0, 0xd8, 0xdf},
        {ENC_LEGACY, 0, 0xf6, 0xf7}, {ENC_LEGACY, 0, 0xfe, 0xff}, {ENC_LEGACY, 1, 0x00, 0x01},
        {ENC_LEGACY, 1, 0x0d, 0x0d}, {ENC_LEGACY, 1, 0x18, 0x23}, {ENC_LEGACY, 1, 0x71, 0x73},
        {ENC_LEGACY, 1, 0x78, 0x79}, {ENC_LEGACY, 1, 0xa6, 0xa7}, {ENC_LEGACY, 1, 0xae, 0xae},
        {ENC_LEGACY, 1, 0xba, 0xba}, {ENC_LEGACY, 1, 0xc7, 0xc7}, {ENC_LEGACY, 2, 0xd8, 0xd8},
        {ENC_VEX, 1, 0x71, 0x73},    {ENC_VEX, 1, 0xae, 0xae},    {ENC_VEX, 2, 0x49, 0x49},
        {ENC_VEX, 2, 0xf3, 0xf3},    {ENC_XOP, 9, 0x01, 0x02},    {ENC_XOP, 9, 0x12, 0x12},
        {ENC_XOP, 10, 0x12, 0x12},   {ENC_EVEX, 1, 0x71, 0x73},   {ENC_EVEX, 2, 0xc6, 0xc7},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (t->encoding == ranges[i].encoding && t->map == ranges[i].map &&
            t->opcode >= ranges[i].first && t->opcode <= ranges[i].last)
            return true;
    return false;
}

static void add_opcode(struct insn_template t, const struct cpu *cpu)
{
    t.any_reg = !reg_selects(&t);
    for (unsigned reg = t.any_reg; reg < (t.any_reg ? 2 : 8); reg++) {
        t.form = FORM_MEM;
        t.modrm = (uint8_t)(reg << 3);
        if (try_template(&t, cpu) < 0)
            return;
        t.form = rm_selects(&t) ? FORM_FIXED : FORM_REG;
        for (unsigned rm = 0; rm < (t.form == FORM_FIXED ? 8 : 1); rm++) {
            t.modrm = (uint8_t)(0xc0 | reg << 3 | rm);
            if (try_template(&t, cpu) < 0)
                return;
        }
    }
}

static bool is_prefix_byte(unsigned map, unsigned op)
{
    if (map == 0)
        return (op & 0xf0) == 0x40 || (op & 0xe7) == 0x26 || (op >= 0x64 && op <= 0x67) ||
               op == 0xf0 || op == 0xf2 || op == 0xf3 || op == 0x0f || op == 0xc4 || op == 0xc5 ||
               op == 0x62;
    return map == 1 && (op == 0x38 || op == 0x3a || op == 0x0f /* 3DNow! */);
}

static void add_legacy(const struct cpu *cpu)
{
    for (unsigned map = 0; map < 4; map++)
        for (unsigned op = 0; op < 256; op++)
            for (unsigned v = 0; v < 8 && !is_prefix_byte(map, op); v++)
                add_opcode((struct insn_template){.encoding = ENC_LEGACY,
                                                  .map = (uint8_t)map,
                                                  .opcode = (uint8_t)op,
                                                  .pp = v & 3,
                                                  .w = v >> 2 & 1},
                           cpu);
}

static void add_vector(enum encoding enc, unsigned first_map, unsigned last_map, unsigned lengths,
                       const struct cpu *cpu)
{
    for (unsigned map = first_map; map <= last_map; map++)
        for (unsigned op = 0; op < 256; op++)
            for (unsigned v = 0; v < 8 * lengths; v++)
                add_opcode((struct insn_template){.encoding = (uint8_t)enc,
                                                  .map = (uint8_t)map,
                                                  .opcode = (uint8_t)op,
                                                  .pp = v & 3,
                                                  .w = v >> 2 & 1,
                                                  .l = (uint8_t)(v >> 3)},
                           cpu);
}

static int by_mnemonic(const void *a, const void *b)
{
    int difference =
        ((const struct insn_template *)a)->mnemonic - ((const struct insn_template *)b)->mnemonic;
    return difference ? difference : memcmp(a, b, sizeof(struct insn_template));
}

static void sort_group(enum group g)
{
    struct bucket *b = &groups[g];
    if (!b->count)
        return;
    qsort(b->items, b->count, sizeof *b->items, by_mnemonic);
    runs[g] = malloc((b->count + 1) * sizeof *runs[g]);
    if (!runs[g])
        abort();
    for (unsigned i = 0; i < b->count; i++)
        if (!i || b->items[i].mnemonic != b->items[i - 1].mnemonic)
            runs[g][run_count[g]++] = i;
    runs[g][run_count[g]] = b->count;
}

void templates_init(const struct cpu *cpu)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        deny_mnemonic[denied[i]] = true;
    detect_isa_sets(cpu);
    add_legacy(cpu);
    add_vector(ENC_VEX, 1, 3, 2, cpu);
    add_vector(ENC_XOP, 8, 10, 2, cpu);
    add_vector(ENC_EVEX, 1, 3, cpu->avx512 ? 3 : 1, cpu);
    if (cpu->avx512)
        add_vector(ENC_EVEX, 5, 6, 3, cpu);
    for (int g = 0; g < GROUP_COUNT; g++)
        sort_group((enum group)g);
}

/* Half of the picks give every mnemonic the same chance, half every encoding. */
const struct insn_template *templates_pick(struct rng *r, enum group group)
{
    const struct bucket *b = &groups[group];
    if (!b->count)
        return NULL;
    if (rng_percent(r, 40))
        return &b->items[rng_below(r, b->count)];
    const unsigned *run = &runs[group][rng_below(r, run_count[group])];
    return &b->items[run[0] + rng_below(r, run[1] - run[0])];
}

bool templates_denied(ZydisMnemonic mnemonic)
{
    return deny_mnemonic[mnemonic];
}

uint32_t templates_fingerprint(void)
{
    uint32_t hash = 0;
    for (size_t i = 0; i <= ZYDIS_ISA_SET_MAX_VALUE; i++)
        hash = (hash ^ have_isa[i]) * 0x01000193u;
    for (size_t i = 0; i <= ZYDIS_MNEMONIC_MAX_VALUE; i++)
        hash = (hash ^ deny_mnemonic[i]) * 0x01000193u + 1;
    return hash;
}

void templates_count(enum group group, unsigned *templates, unsigned *mnemonics)
{
    *templates = groups[group].count;
    *mnemonics = run_count[group];
}

ZydisMnemonic templates_mnemonic(enum group group, unsigned index)
{
    return (ZydisMnemonic)groups[group].items[runs[group][index]].mnemonic;
}
