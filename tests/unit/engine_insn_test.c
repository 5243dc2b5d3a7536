/* engine_insn_test.c - engine/x86: what the engine knows about instructions.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "engine/x86/insn.h"

#include <string.h>
#include <sys/mman.h>

#include "engine/x86/operand.h"
#include "tests/unit/unit.h"

enum { PC = 0x401000 };

/* One instruction from its bytes, which must be exactly its length. */
#define DECODE(...)                                                                                \
    decode((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), PC)

static struct insn decode(const uint8_t *bytes, size_t n, gaddr pc)
{
    struct insn in;
    uint8_t padded[32];
    memset(padded, 0x90, sizeof padded);
    memcpy(padded, bytes, n);
    assert_int_equal(insn_decode(&in, pc, padded, INSN_MAX_BYTES), 0);
    if (in.kind != INSN_ILLEGAL)
        assert_int_equal(in.len, n);
    assert_memory_equal(in.bytes, bytes, in.len);
    assert_int_equal(in.pc, pc);
    return in;
}

struct row {
    uint8_t kind;
    uint8_t len;
    uint8_t bytes[INSN_MAX_BYTES];
};

static void check_kinds(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct insn in = decode(row[i].bytes, row[i].len, PC);
        if (in.kind != row[i].kind)
            fail_msg("row %zu (%s): kind %d, not %d", i, insn_name(&in), in.kind, row[i].kind);
    }
}

static void tells_transfers_apart(void **state)
{
    static const struct row row[] = {
        {INSN_PLAIN, 1, {0x90}},
        {INSN_JMP, 2, {0xeb, 0x10}},
        {INSN_JMP, 5, {0xe9, 0, 0, 0, 0}},
        {INSN_JCC, 2, {0x74, 0x10}},
        {INSN_JCC, 6, {0x0f, 0x8f, 0, 0, 0, 0}},
        {INSN_JCC, 3, {0x2e, 0x75, 0}}, /* a branch hint */
        {INSN_JCXZ, 2, {0xe3, 0}},
        {INSN_JCXZ, 3, {0x67, 0xe3, 0}},
        {INSN_JCXZ, 2, {0xe0, 0}},
        {INSN_JCXZ, 2, {0xe1, 0}},
        {INSN_JCXZ, 2, {0xe2, 0}},
        {INSN_CALL, 5, {0xe8, 0, 0, 0, 0}},
        {INSN_CALL, 7, {0x66, 0x48, 0xe8, 0, 0, 0, 0}}, /* as in __tls_get_addr sequences */
        {INSN_JMP_IND, 2, {0xff, 0xe0}},
        {INSN_JMP_IND, 3, {0x3e, 0xff, 0xe0}}, /* notrack */
        {INSN_JMP_IND, 6, {0xff, 0x25, 0, 0, 0, 0}},
        {INSN_CALL_IND, 2, {0xff, 0xd0}},
        {INSN_CALL_IND, 3, {0x41, 0xff, 0x10}},
        {INSN_RET, 1, {0xc3}},
        {INSN_RET, 2, {0xf3, 0xc3}},
        {INSN_RET, 3, {0xc2, 8, 0}},
    };

    (void)state;
    check_kinds(row, ARRAY_LEN(row));
}

static void keeps_for_itself_what_the_target_must_not_do(void **state)
{
    static const struct row row[] = {
        {INSN_SYSCALL, 2, {0x0f, 0x05}},
        {INSN_EMULATE, 2, {0x0f, 0x31}},                   /* rdtsc */
        {INSN_EMULATE, 3, {0x0f, 0x01, 0xf9}},             /* rdtscp */
        {INSN_EMULATE, 4, {0xf3, 0x0f, 0xc7, 0xf8}},       /* rdpid */
        {INSN_EMULATE, 2, {0x0f, 0xa2}},                   /* cpuid */
        {INSN_EMULATE, 2, {0xf3, 0x90}},                   /* pause */
        {INSN_EMULATE, 3, {0x0f, 0xc7, 0xf0}},             /* rdrand */
        {INSN_EMULATE, 3, {0x0f, 0xc7, 0xf8}},             /* rdseed */
        {INSN_EMULATE, 3, {0x0f, 0x01, 0xd0}},             /* xgetbv */
        {INSN_EMULATE, 3, {0x0f, 0xae, 0x20}},             /* xsave */
        {INSN_EMULATE, 4, {0x48, 0x0f, 0xc7, 0x20}},       /* xsavec64 */
        {INSN_EMULATE, 5, {0xf3, 0x48, 0x0f, 0xae, 0xc8}}, /* rdgsbase */
        {INSN_EMULATE, 5, {0xf3, 0x48, 0x0f, 0xae, 0xd8}}, /* wrgsbase */
        {INSN_EMULATE, 1, {0x9d}},                         /* popf */
        {INSN_EMULATE, 1, {0xcb}},                         /* retf */
        {INSN_EMULATE, 2, {0xff, 0x28}},                   /* jmp far */
        {INSN_EMULATE, 2, {0x48, 0xcf}},                   /* iretq */
        {INSN_EMULATE, 2, {0xcd, 0x80}},
        {INSN_TRAP, 1, {0xcc}},
        {INSN_TRAP, 1, {0xf1}},
        {INSN_TRAP, 2, {0x0f, 0x0b}},
        {INSN_TRAP, 1, {0xf4}},
        {INSN_TRAP, 2, {0xcd, 0x03}},
        {INSN_UNSUPPORTED, 3, {0x0f, 0x01, 0xd5}},       /* xend */
        {INSN_UNSUPPORTED, 6, {0xc7, 0xf8, 0, 0, 0, 0}}, /* xbegin */
        {INSN_UNSUPPORTED, 2, {0x0f, 0x34}},             /* sysenter */
        {INSN_UNSUPPORTED, 2, {0x8e, 0xe8}},             /* mov gs, eax */
        {INSN_UNSUPPORTED, 2, {0x0f, 0xa9}},             /* pop gs */
        {INSN_PLAIN, 2, {0x8c, 0xe8}},                   /* mov eax, gs */
        {INSN_PLAIN, 5, {0xf3, 0x48, 0x0f, 0xae, 0xd0}}, /* wrfsbase */
        {INSN_PLAIN, 3, {0x0f, 0x01, 0xd6}},             /* xtest */
    };

    (void)state;
    check_kinds(row, ARRAY_LEN(row));
}

static void calls_what_is_no_instruction_illegal(void **state)
{
    static const struct row row[] = {
        {INSN_ILLEGAL, 1, {0x06}},
        {INSN_ILLEGAL, 2, {0x0f, 0x04}},
        {INSN_ILLEGAL, 3, {0xf0, 0x89, 0xc0}}, /* lock on a register */
        {INSN_ILLEGAL, 2, {0xff, 0xff}},
    };

    (void)state;
    check_kinds(row, ARRAY_LEN(row));
    struct insn in = DECODE(0x06);
    assert_int_equal(in.len, 1);
    assert_int_equal(in.flags_read, FLAGS_ARITH);
    assert_string_equal(insn_name(&in), "(bad)");
    assert_false(in.too_long);
}

static void tells_when_an_instruction_is_too_long(void **state)
{
    uint8_t bytes[INSN_MAX_BYTES];
    struct insn in;

    (void)state;
    memset(bytes, 0x66, sizeof bytes);
    assert_int_equal(insn_decode(&in, PC, bytes, sizeof bytes), 0);
    assert_int_equal(in.kind, INSN_ILLEGAL);
    assert_true(in.too_long);
}

static void asks_for_more_bytes_of_a_cut_instruction(void **state)
{
    static const uint8_t mov[] = {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8};
    struct insn in;

    (void)state;
    for (size_t n = 0; n < sizeof mov; n++)
        assert_int_equal(insn_decode(&in, PC, mov, n), -1);
    assert_int_equal(insn_decode(&in, PC, mov, sizeof mov), 0);
}

static void finds_targets_of_direct_transfers(void **state)
{
    (void)state;
    assert_int_equal(DECODE(0xeb, 0xfe).target, PC);
    assert_int_equal(DECODE(0x74, 0x10).target, PC + 2 + 0x10);
    assert_int_equal(DECODE(0xe9, 0xfb, 0xff, 0xff, 0xff).target, PC);
    assert_int_equal(DECODE(0xe8, 0, 0, 0, 0x80).target, PC + 5 - 0x80000000ll);
    const uint8_t back[] = {0xeb, 0x80};
    assert_int_equal(decode(back, sizeof back, 0x10).target, (gaddr)0x12 - 0x80);
}

static void finds_rip_relative_operands(void **state)
{
    (void)state;
    struct insn in = DECODE(0x48, 0x8b, 0x05, 0x10, 0, 0, 0);
    assert_true(in.rip_relative);
    assert_int_equal(in.target, PC + 7 + 0x10);
    assert_int_equal(in.modrm_at, 2);
    assert_int_equal(in.prefix_at, 0);
    in = DECODE(0xc7, 0x05, 0xf0, 0xff, 0xff, 0xff, 1, 2, 3, 4); /* an immediate follows */
    assert_true(in.rip_relative);
    assert_int_equal(in.target, PC + 10 - 0x10);
    in = DECODE(0xc5, 0xfa, 0x6f, 0x05, 0, 0, 0, 0);
    assert_true(in.rip_relative && in.modrm_at == 3 && in.prefix_at == 0);
    in = DECODE(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, 0, 0, 0, 0);
    assert_true(in.rip_relative && in.modrm_at == 5 && in.prefix_at == 0);
    assert_false(DECODE(0x48, 0x8b, 0x45, 0x10).rip_relative);             /* [rbp+16] */
    assert_false(DECODE(0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0).rip_relative); /* [0] */
    assert_false(DECODE(0x48, 0x89, 0xe5).rip_relative);                   /* register */
    assert_false(DECODE(0xe8, 0, 0, 0, 0).rip_relative);
}

static void cuts_addresses_to_32_bits_under_the_prefix(void **state)
{
    const uint8_t bytes[] = {0x67, 0x8b, 0x05, 0, 0, 0, 0};

    (void)state;
    struct insn in = decode(bytes, sizeof bytes, 0x7ffff7dd5000);
    assert_true(in.rip_relative && in.addr32);
    assert_int_equal(in.target, 0xf7dd5007);
}

static void sees_gs_operands(void **state)
{
    (void)state;
    assert_true(DECODE(0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0).gs_relative);
    assert_false(DECODE(0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0).gs_relative);
    assert_false(DECODE(0x65, 0x64, 0x8b, 0x00).gs_relative); /* the last one counts */
    assert_int_equal(DECODE(0x65, 0xa4).kind, INSN_UNSUPPORTED);
    assert_int_equal(DECODE(0x65, 0x90).kind, INSN_PLAIN); /* no operand to override */
    assert_int_equal(DECODE(0x65, 0x74, 0x00).kind, INSN_JCC);
}

static void knows_flags_read(void **state)
{
    (void)state;
    assert_int_equal(DECODE(0x74, 0).flags_read, FLAG_ZF);
    assert_int_equal(DECODE(0x7e, 0).flags_read, FLAG_ZF | FLAG_SF | FLAG_OF);
    assert_int_equal(DECODE(0x11, 0xc0).flags_read, FLAG_CF); /* adc */
    assert_int_equal(DECODE(0x01, 0xc0).flags_read, 0);
    assert_int_equal(DECODE(0x9c).flags_read, FLAGS_ARITH); /* pushf */
    assert_int_equal(DECODE(0xe1, 0).flags_read, FLAG_ZF);  /* loope */
}

static void knows_flags_surely_written(void **state)
{
    (void)state;
    assert_int_equal(DECODE(0x01, 0xc0).flags_kill, FLAGS_ARITH);            /* add */
    assert_int_equal(DECODE(0x31, 0xc0).flags_kill, FLAGS_ARITH);            /* xor, AF too */
    assert_int_equal(DECODE(0xff, 0xc0).flags_kill, FLAGS_ARITH & ~FLAG_CF); /* inc */
    assert_int_equal(DECODE(0x89, 0xc0).flags_kill, 0);
    assert_int_equal(DECODE(0xd3, 0xe0).flags_kill, 0);       /* shl by cl, perhaps zero */
    assert_int_equal(DECODE(0xc1, 0xe0, 0x00).flags_kill, 0); /* by zero */
    assert_int_equal(DECODE(0xc1, 0xe0, 0x20).flags_kill, 0); /* masked to zero */
    assert_int_equal(DECODE(0x48, 0xc1, 0xe0, 0x40).flags_kill, 0);
    assert_true(DECODE(0xc1, 0xe0, 0x03).flags_kill & FLAG_CF);
    assert_int_equal(DECODE(0xf3, 0xa6).flags_kill, 0); /* repe cmpsb, perhaps no round */
    assert_int_equal(DECODE(0xf5).flags_kill, FLAG_CF);
}

/* ---- the flag tables against this CPU ---- */

static uint64_t run_with_flags(uint8_t *page, const uint8_t *insn, size_t n, uint64_t flags)
{
    /* push rdi; popf; mov eax, esi; mov ecx, edx; INSN; pushf; pop rax; ret */
    static const uint8_t before[] = {0x57, 0x9d, 0x89, 0xf0, 0x89, 0xd1};
    static const uint8_t after[] = {0x9c, 0x58, 0xc3};
    memcpy(page, before, sizeof before);
    memcpy(page + sizeof before, insn, n);
    memcpy(page + sizeof before + n, after, sizeof after);
    uint64_t (*fn)(uint64_t, uint64_t, uint64_t) =
        (uint64_t(*)(uint64_t, uint64_t, uint64_t))(uintptr_t)page;
    return fn(flags | 0x202, 0x81, 0);
}

/* With the flags an instruction does not read turned over, those it kills come out the same. With a
 * shift count of zero, too. */
static void agrees_with_the_cpu_about_killed_flags(void **state)
{
    static const struct row row[] = {
        {0, 2, {0x01, 0xc8}},
        {0, 2, {0x11, 0xc8}},
        {0, 2, {0x29, 0xc8}},
        {0, 2, {0x19, 0xc8}},
        {0, 2, {0x21, 0xc8}},
        {0, 2, {0x09, 0xc8}},
        {0, 2, {0x31, 0xc8}},
        {0, 2, {0x39, 0xc8}},
        {0, 2, {0x85, 0xc8}},
        {0, 2, {0xff, 0xc0}},
        {0, 2, {0xff, 0xc8}},
        {0, 2, {0xf7, 0xd8}},
        {0, 2, {0xf7, 0xd0}},
        {0, 2, {0xd3, 0xe0}},
        {0, 2, {0xd3, 0xe8}},
        {0, 2, {0xd3, 0xf8}},
        {0, 2, {0xd3, 0xc0}},
        {0, 2, {0xd3, 0xd0}},
        {0, 2, {0xd1, 0xe0}},
        {0, 2, {0xd1, 0xc0}},
        {0, 2, {0xd1, 0xd8}},
        {0, 3, {0xc1, 0xe0, 0}},
        {0, 3, {0xc1, 0xe0, 1}},
        {0, 3, {0xc1, 0xe0, 3}},
        {0, 3, {0xc1, 0xc0, 32}},
        {0, 3, {0xc1, 0xc0, 1}},
        {0, 3, {0xc1, 0xc0, 5}},
        {0, 3, {0xc0, 0xc0, 8}},
        {0, 3, {0xc0, 0xd0, 9}},
        {0, 3, {0xc0, 0xd8, 18}},
        {0, 3, {0x0f, 0xa5, 0xc8}},
        {0, 3, {0x0f, 0xad, 0xc8}},
        {0, 4, {0x0f, 0xa4, 0xc8, 0}},
        {0, 4, {0x0f, 0xac, 0xc8, 4}},
        {0, 3, {0x0f, 0xaf, 0xc1}},
        {0, 3, {0x0f, 0xbc, 0xc1}},
        {0, 3, {0x0f, 0xbd, 0xc1}},
        {0, 3, {0x0f, 0xa3, 0xc8}},
        {0, 3, {0x0f, 0xab, 0xc8}},
        {0, 4, {0x0f, 0xba, 0xf8, 3}},
        {0, 1, {0xf5}},
        {0, 1, {0xf8}},
        {0, 1, {0xf9}},
        {0, 1, {0x9e}},
        {0, 1, {0x9f}},
        {0, 3, {0x0f, 0xc1, 0xc8}},
        {0, 3, {0x0f, 0xb1, 0xc8}},
        {0, 4, {0xf3, 0x0f, 0xb8, 0xc1}},
        {0, 3, {0x0f, 0x90, 0xc0}},
        {0, 3, {0x0f, 0x44, 0xc1}},
        {0, 2, {0xf6, 0xe9}},
        {0, 2, {0x66, 0x98}},
        {0, 2, {0x3c, 0x81}},
        {0, 2, {0xa8, 0x01}},
    };
    static const uint16_t flag[] = {FLAG_CF, FLAG_PF, FLAG_AF, FLAG_ZF, FLAG_SF, FLAG_OF};

    (void)state;
    uint8_t *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        struct insn in = decode(row[i].bytes, row[i].len, PC);
        for (unsigned bits = 0; bits < 64; bits++) {
            uint64_t flags = 0;
            for (int k = 0; k < 6; k++)
                flags |= bits >> k & 1 ? flag[k] : 0;
            uint64_t a = run_with_flags(page, row[i].bytes, row[i].len, flags);
            uint64_t b = run_with_flags(page, row[i].bytes, row[i].len,
                                        flags ^ (FLAGS_ARITH & ~in.flags_read));
            if ((a ^ b) & in.flags_kill)
                fail_msg("row %zu (%s): flags 0x%x stay as they were", i, insn_name(&in),
                         (unsigned)((a ^ b) & in.flags_kill));
        }
    }
    munmap(page, PAGE_BYTES);
}

/* ---- operands ---- */

static void numbers_registers_of_all_widths(void **state)
{
    static const struct {
        ZydisRegister reg;
        int number;
    } row[] = {
        {ZYDIS_REGISTER_AL, RAX},  {ZYDIS_REGISTER_BL, RBX},   {ZYDIS_REGISTER_AH, RAX},
        {ZYDIS_REGISTER_BH, RBX},  {ZYDIS_REGISTER_SPL, RSP},  {ZYDIS_REGISTER_DIL, RDI},
        {ZYDIS_REGISTER_R8B, R8},  {ZYDIS_REGISTER_R15B, R15}, {ZYDIS_REGISTER_SP, RSP},
        {ZYDIS_REGISTER_R9W, R9},  {ZYDIS_REGISTER_ESI, RSI},  {ZYDIS_REGISTER_R15D, R15},
        {ZYDIS_REGISTER_RAX, RAX}, {ZYDIS_REGISTER_R12, R12},  {ZYDIS_REGISTER_XMM0, -1},
        {ZYDIS_REGISTER_RIP, -1},  {ZYDIS_REGISTER_NONE, -1},  {ZYDIS_REGISTER_GS, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++)
        assert_int_equal(insn_gpr_number(row[i].reg), row[i].number);
}

static uint32_t gprs_of(struct insn in)
{
    struct insn_operands ops;
    insn_operands(&in, &ops);
    return insn_gprs(&ops);
}

static void lists_hidden_registers_too(void **state)
{
    (void)state;
    assert_int_equal(gprs_of(DECODE(0x48, 0x8b, 0x44, 0xcb, 0x08)), 1 << RAX | 1 << RBX | 1 << RCX);
    assert_int_equal(gprs_of(DECODE(0x88, 0xe7)), 1 << RAX | 1 << RBX); /* mov bh, ah */
    assert_int_equal(gprs_of(DECODE(0xf3, 0xa4)), 1 << RCX | 1 << RSI | 1 << RDI);
    assert_int_equal(gprs_of(DECODE(0x48, 0x0f, 0xc7, 0x0e)),
                     1 << RAX | 1 << RBX | 1 << RCX | 1 << RDX | 1 << RSI); /* cmpxchg16b */
    assert_int_equal(gprs_of(DECODE(0x50)), 1 << RAX | 1 << RSP);
}

static gaddr address_of(struct insn in)
{
    struct cpu_state cpu;
    struct insn_operands ops;
    for (int i = 0; i < GPR_COUNT; i++)
        cpu.gpr[i] = 0x100000001ull * (unsigned)(i + 1) * 0x1000;
    insn_operands(&in, &ops);
    for (int i = 0; i < ops.z.operand_count; i++)
        if (ops.op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return operand_address(&in, &ops.op[i], &cpu, (struct segments){0xf0000, 0xe0000});
    fail_msg("no memory operand");
    return 0;
}

static void computes_addresses(void **state)
{
    const gaddr unit = 0x100000001ull * 0x1000;

    (void)state;
    assert_int_equal(address_of(DECODE(0x8b, 0x03)), 4 * unit); /* [rbx] */
    assert_int_equal(address_of(DECODE(0x8b, 0x43, 0xf8)), 4 * unit - 8);
    assert_int_equal(address_of(DECODE(0x8b, 0x44, 0xcb, 0x08)), 4 * unit + 16 * unit + 8);
    assert_int_equal(address_of(DECODE(0x43, 0x8b, 0x04, 0x7e)), 15 * unit + 32 * unit);
    assert_int_equal(address_of(DECODE(0x67, 0x8b, 0x03)), 0x4000); /* [ebx] */
    assert_int_equal(address_of(DECODE(0x64, 0x8b, 0x03)), 4 * unit + 0xf0000);
    assert_int_equal(address_of(DECODE(0x65, 0x8b, 0x03)), 4 * unit + 0xe0000);
    assert_int_equal(address_of(DECODE(0x65, 0x67, 0x8b, 0x43, 0xf0)), 0x3ff0 + 0xe0000);
    assert_int_equal(address_of(DECODE(0x8b, 0x05, 0x10, 0, 0, 0)), PC + 6 + 0x10);
    assert_int_equal(address_of(DECODE(0x8b, 0x04, 0x25, 0xf0, 0xff, 0xff, 0xff)), -(gaddr)16);
    assert_int_equal(address_of(DECODE(0x62, 0xf1, 0x7c, 0x48, 0x10, 0x43, 1)), 4 * unit + 64);
}

static int init(void **state)
{
    (void)state;
    insn_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_transfers_apart),
        cmocka_unit_test(keeps_for_itself_what_the_target_must_not_do),
        cmocka_unit_test(calls_what_is_no_instruction_illegal),
        cmocka_unit_test(tells_when_an_instruction_is_too_long),
        cmocka_unit_test(asks_for_more_bytes_of_a_cut_instruction),
        cmocka_unit_test(finds_targets_of_direct_transfers),
        cmocka_unit_test(finds_rip_relative_operands),
        cmocka_unit_test(cuts_addresses_to_32_bits_under_the_prefix),
        cmocka_unit_test(sees_gs_operands),
        cmocka_unit_test(knows_flags_read),
        cmocka_unit_test(knows_flags_surely_written),
        cmocka_unit_test(agrees_with_the_cpu_about_killed_flags),
        cmocka_unit_test(numbers_registers_of_all_widths),
        cmocka_unit_test(lists_hidden_registers_too),
        cmocka_unit_test(computes_addresses),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
