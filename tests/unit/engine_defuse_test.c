/* engine_defuse_test.c - engine/x86/defuse.h: the rules, one row each.
 *
 * SPDX-License-Identifier: MIT
 *
 * A row is an instruction and its sets in words. insn.defuse asks the CPU; here stand the rules
 * that are a choice, and those that a CPU without some extension cannot be asked about.
 */
#define _GNU_SOURCE
#include "engine/x86/defuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

struct row {
    const char *text, *bytes; /* in hexadecimal */
    /* S: rsp as the hardware has it; F: rbp is a frame pointer; tN: x87 TOP; nN: iterations;
     * cN: components of the extended state */
    const char *how;
    const char *defs, *values, *addresses, *kept;
    const char *memory; /* r or w, bytes, * repeats, ? in part */
};

static struct defuse_how how_of(const char *text)
{
    struct defuse_how how = DEFUSE_HOW;
    for (char *p = (char *)text; *p;) {
        char c = *p++;
        if (c == 'S')
            how.flags |= DEFUSE_STACK_POINTER;
        else if (c == 'F')
            how.flags |= DEFUSE_FRAME;
        else if (c == 't')
            how.top = (unsigned)strtoul(p, &p, 10);
        else if (c == 'n')
            how.count = strtoul(p, &p, 10);
        else if (c == 'c')
            how.components = strtoul(p, &p, 16);
        else
            fail_msg("how: %s", text);
    }
    return how;
}

static struct insn_operands decode(const uint8_t *bytes, unsigned len, struct insn *in)
{
    struct insn_operands ops;
    uint8_t padded[INSN_MAX_BYTES];
    memset(padded, 0x90, sizeof padded);
    memcpy(padded, bytes, len);
    insn_init();
    assert_int_equal(insn_decode(in, 0x401000, padded, sizeof padded), 0);
    assert_int_equal(in->len, len);
    insn_operands(in, &ops);
    return ops;
}

static struct insn_operands decode_hex(const char *hex, struct insn *in)
{
    uint8_t bytes[INSN_MAX_BYTES];
    unsigned n = 0;
    for (unsigned v; sscanf(hex + 2 * n, "%2x", &v) == 1; n++)
        bytes[n] = (uint8_t)v;
    return decode(bytes, n, in);
}

static void words(char *out, const struct loc_span *span, unsigned n, int kind)
{
    *out = 0;
    for (unsigned i = 0; i < n; i++) {
        struct loc_span s = span[i];
        if (kind >= 0 && s.kind != (unsigned)kind)
            continue;
        while (s.count) {
            char one[32];
            unsigned named = loc_name(s, one, sizeof one);
            sprintf(out + strlen(out), "%s%s", *out ? " " : "", one);
            s.first = (s.first + named) & 0xfff;
            s.count = (s.count - named) & 0xfff;
        }
    }
}

static void memory_words(char *out, const struct defuse *sets)
{
    *out = 0;
    for (unsigned i = 0; i < sets->accesses; i++) {
        const struct defuse_access *a = &sets->access[i];
        sprintf(out + strlen(out), "%s%s%s%u%s%s", *out ? " " : "", a->at.read ? "r" : "",
                a->at.write ? "w" : "", a->at.bytes, a->at.repeats ? "*" : "", a->may ? "?" : "");
    }
}

static void compare(const struct row *row, const char *what, const char *got, const char *want)
{
    if (strcmp(got, want))
        fail_msg("%s [%s]: %s \"%s\", not \"%s\"", row->text, row->how, what, got, want);
}

static void check(const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct insn in;
        struct defuse sets;
        char text[2048];
        struct defuse_how how = how_of(row[i].how);
        struct insn_operands ops = decode_hex(row[i].bytes, &in);
        defuse_of(&in, &ops, &how, &sets);
        words(text, sets.def, sets.defs, -1);
        compare(&row[i], "defines", text, row[i].defs);
        words(text, sets.use, sets.uses, DEFUSE_VALUE);
        compare(&row[i], "uses", text, row[i].values);
        words(text, sets.use, sets.uses, DEFUSE_ADDRESS);
        compare(&row[i], "addresses with", text, row[i].addresses);
        words(text, sets.use, sets.uses, DEFUSE_KEPT);
        compare(&row[i], "keeps", text, row[i].kept);
        memory_words(text, &sets);
        compare(&row[i], "memory", text, row[i].memory);
    }
}

static void writes_of_general_registers(void **state)
{
    static const struct row row[] = {
        {"mov eax, ecx", "89c8", "", "rax", "ecx", "", "", ""},
        {"mov ax, cx", "6689c8", "", "ax", "cx", "", "", ""},
        {"mov al, cl", "88c8", "", "al", "cl", "", "", ""},
        {"mov ah, bh", "88fc", "", "ah", "bh", "", "", ""},
        {"movzx eax, bl", "0fb6c3", "", "rax", "bl", "", "", ""},
        {"movsx r8, r9w", "4d0fbfc1", "", "r8", "r9w", "", "", ""},
        {"mov rax, [rbx + rcx * 4 + 8]", "488b448b08", "", "rax", "", "rcx rbx", "", "r8"},
        {"mov [rbx], ax", "668903", "", "", "ax", "rbx", "", "w2"},
        {"mov [rbx], rbx", "48891b", "", "", "rbx", "rbx", "", "w8"},
        {"mov rax, [rax]", "488b00", "", "rax", "", "rax", "", "r8"},
        {"mov eax, fs:[0x28]", "648b042528000000", "", "rax", "", "fs base", "", "r4"},
        {"mov rax, [rip + 16]", "488b0510000000", "", "rax", "", "", "", "r8"},
        {"mov eax, [ebx]", "678b03", "", "rax", "", "ebx", "", "r4"},
        {"lea rax, [rbx + rcx * 8]", "488d04cb", "", "rax", "rcx rbx", "", "", ""},
        {"lea eax, fs:[rbx]", "648d03", "", "rax", "rbx", "", "", ""},
        {"xchg rax, rcx", "4891", "", "rax rcx", "rax rcx", "", "", ""},
        {"cmovz eax, ecx", "0f44c1", "", "rax", "ecx ZF", "", "eax", ""},
        {"bsf rax, rcx", "480fbcc1", "", "rax CF PF AF ZF SF OF", "rcx", "", "rax CF PF AF SF OF",
         ""},
        {"cdqe", "4898", "", "rax", "eax", "", "", ""},
        {"cwd", "6699", "", "dx", "ax", "", "", ""},
        {"mul ecx", "f7e1", "", "rax rdx CF PF AF ZF SF OF", "eax ecx", "", "PF AF ZF SF", ""},
        {"div cl", "f6f1", "", "ax CF PF AF ZF SF OF", "ax cl", "", "CF PF AF ZF SF OF", ""},
        {"mulx rax, rbx, rcx", "c4e2e3f6c1", "", "rax rbx", "rcx rdx", "", "", ""},
        {"bswap eax", "0fc8", "", "rax", "eax", "", "", ""},
        {"cmpxchg [rbx], ecx", "0fb10b", "", "rax CF PF AF ZF SF OF", "eax ecx", "rbx", "rax",
         "rw4?"},
        {"xadd [rbx], ecx", "0fc10b", "", "rcx CF PF AF ZF SF OF", "ecx", "rbx", "", "rw4"},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void idioms_use_nothing(void **state)
{
    static const struct row row[] = {
        {"xor eax, eax", "31c0", "", "rax CF PF AF ZF SF OF", "", "", "", ""},
        {"sub rax, rax", "4829c0", "", "rax CF PF AF ZF SF OF", "", "", "", ""},
        {"xor al, ah", "30e0", "", "al CF PF AF ZF SF OF", "ax", "", "", ""},
        {"sbb ecx, ecx", "19c9", "", "rcx CF PF AF ZF SF OF", "CF", "", "", ""},
        {"and rcx, rcx", "4821c9", "", "rcx CF PF AF ZF SF OF", "rcx", "", "", ""},
        {"or rcx, rcx", "4809c9", "", "rcx CF PF AF ZF SF OF", "rcx", "", "", ""},
        {"or rcx, -1", "4883c9ff", "", "rcx CF PF AF ZF SF OF", "", "", "", ""},
        {"and ecx, 0", "83e100", "", "rcx CF PF AF ZF SF OF", "", "", "", ""},
        {"and dword ptr [rcx], 0", "832100", "", "CF PF AF ZF SF OF", "", "rcx", "", "w4"},
        {"or dword ptr [rcx], 1", "830901", "", "CF PF AF ZF SF OF", "", "rcx", "", "rw4"},
        {"pxor xmm1, xmm1", "660fefc9", "", "xmm1", "", "", "", ""},
        {"pxor xmm1, xmm2", "660fefca", "", "xmm1", "xmm1 xmm2", "", "", ""},
        {"xorps xmm1, xmm1", "0f57c9", "", "xmm1", "", "", "", ""},
        {"psubd mm1, mm1", "0ffac9", "", "fpr1 tag0 tag1 tag2 tag3 tag4 tag5 tag6 tag7 x87 TOP", "",
         "", "", ""},
        {"pcmpgtb xmm1, xmm1", "660f64c9", "", "xmm1", "", "", "", ""},
        {"pcmpeqd xmm1, xmm1", "660f76c9", "", "xmm1", "", "", "", ""},
        {"vpxor ymm1, ymm2, ymm2", "c5edefca", "", "zmm1", "", "", "", ""},
        {"vpxord zmm1{k1}, zmm2, zmm2", "62f16d49efca", "", "zmm1", "k1", "", "zmm1", ""},
        {"vpternlogd zmm1, zmm2, zmm3, 0xff", "62f36d4825cbff", "", "zmm1", "", "", "", ""},
        {"vpternlogd zmm1, zmm2, zmm3, 0xaa", "62f36d4825cbaa", "", "zmm1", "zmm3", "", "", ""},
        {"subps xmm1, xmm1", "0f5cc9", "", "xmm1", "xmm1 mxcsr control", "", "", ""},
        {"kxorw k1, k2, k2", "c5ec47ca", "", "k1", "", "", "", ""},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void flags_one_by_one(void **state)
{
    static const struct row row[] = {
        {"add eax, ecx", "01c8", "", "rax CF PF AF ZF SF OF", "eax ecx", "", "", ""},
        {"adc eax, ecx", "11c8", "", "rax CF PF AF ZF SF OF", "eax ecx CF", "", "", ""},
        {"cmp eax, ecx", "39c8", "", "CF PF AF ZF SF OF", "eax ecx", "", "", ""},
        {"test eax, ecx", "85c8", "", "CF PF AF ZF SF OF", "eax ecx", "", "", ""},
        {"inc eax", "ffc0", "", "rax PF AF ZF SF OF", "eax", "", "", ""},
        {"dec cl", "fec9", "", "cl PF AF ZF SF OF", "cl", "", "", ""},
        {"neg eax", "f7d8", "", "rax CF PF AF ZF SF OF", "eax", "", "", ""},
        {"not eax", "f7d0", "", "rax", "eax", "", "", ""},
        {"cmc", "f5", "", "CF", "CF", "", "", ""},
        {"stc", "f9", "", "CF", "", "", "", ""},
        {"cld", "fc", "", "DF", "", "", "", ""},
        {"lahf", "9f", "", "ah", "CF PF AF ZF SF", "", "", ""},
        {"sahf", "9e", "", "CF PF AF ZF SF", "ah", "", "", ""},
        {"setg al", "0f9fc0", "", "al", "ZF SF OF", "", "", ""},
        {"jbe .+2", "7600", "", "", "CF ZF", "", "", ""},
        {"jl .+2", "7c00", "", "", "SF OF", "", "", ""},
        {"loopne .+2", "e000", "", "rcx", "rcx ZF", "", "", ""},
        {"jrcxz .+2", "e300", "", "", "rcx", "", "", ""},
        {"shl eax, 3", "c1e003", "", "rax CF PF AF ZF SF OF", "eax", "", "AF OF", ""},
        {"shl eax, 32", "c1e020", "", "rax", "eax", "", "", ""},
        {"shr cx, 0", "66c1e900", "", "", "", "", "", ""},
        {"shl eax, cl", "d3e0", "", "rax CF PF AF ZF SF OF", "eax cl", "", "CF PF AF ZF SF OF", ""},
        {"rol eax, cl", "d3c0", "", "rax CF OF", "eax cl", "", "CF OF", ""},
        {"rcl eax, 1", "d1d0", "", "rax CF OF", "eax CF", "", "OF", ""},
        {"shld eax, edx, cl", "0fa5d0", "", "rax CF PF AF ZF SF OF", "eax cl edx", "",
         "CF PF AF ZF SF OF", ""},
        {"shlx eax, ecx, edx", "c4e269f7c1", "", "rax", "ecx edx", "", "", ""},
        {"bt eax, ecx", "0fa3c8", "", "CF PF AF SF OF", "eax ecx", "", "PF AF SF OF", ""},
        {"bts [rax], rcx", "480fab08", "", "CF PF AF SF OF", "rcx", "rax rcx", "PF AF SF OF",
         "rw8"},
        {"adcx eax, ecx", "660f38f6c1", "", "rax CF", "eax ecx CF", "", "", ""},
        {"adox eax, ecx", "f30f38f6c1", "", "rax OF", "eax ecx OF", "", "", ""},
        {"comisd xmm0, xmm1", "660f2fc1", "", "CF PF AF ZF SF OF",
         "xmm0[0..7] xmm1[0..7] mxcsr control", "", "", ""},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void vector_registers(void **state)
{
    static const struct row row[] = {
        {"movss xmm0, xmm1", "f30f10c1", "", "xmm0[0..3]", "xmm1[0..3]", "", "", ""},
        {"movss xmm0, [rax]", "f30f1000", "", "xmm0", "", "rax", "", "r4"},
        {"cvtsi2sd xmm0, eax", "f20f2ac0", "", "xmm0[0..7]", "eax mxcsr control", "", "", ""},
        {"sqrtsd xmm0, xmm1", "f20f51c1", "", "xmm0[0..7]", "xmm1[0..7] mxcsr control", "", "", ""},
        {"addpd xmm0, xmm1", "660f58c1", "", "xmm0", "xmm0 xmm1 mxcsr control", "", "", ""},
        {"movhps xmm0, [rax]", "0f1600", "", "xmm0[8..15]", "", "rax", "", "r8"},
        {"movhps [rax], xmm0", "0f1700", "", "", "xmm0[8..15]", "rax", "", "w8"},
        {"movlhps xmm0, xmm1", "0f16c1", "", "xmm0[8..15]", "xmm1[0..7]", "", "", ""},
        {"movhlps xmm0, xmm1", "0f12c1", "", "xmm0[0..7]", "xmm1[8..15]", "", "", ""},
        {"pinsrd xmm0, eax, 1", "660f3a22c001", "", "xmm0[4..7]", "eax", "", "", ""},
        {"pextrw eax, xmm3, 7", "660fc5c307", "", "rax", "xmm3[14..15]", "", "", ""},
        {"vpextrq [rax], xmm3, 1", "c4e3f9161801", "", "", "xmm3[8..15]", "rax", "", "w8"},
        {"vpinsrb xmm0, xmm1, eax, 2", "c4e37120c002", "", "zmm0", "eax xmm1", "", "", ""},
        {"vaddps xmm0, xmm1, xmm2", "c5f058c2", "", "zmm0", "xmm1 xmm2 mxcsr control", "", "", ""},
        {"vaddps zmm0{k1}, zmm1, zmm2", "62f1744958c2", "", "zmm0", "zmm1 zmm2 k1 mxcsr control",
         "", "zmm0", ""},
        {"vaddps ymm0{k1}, ymm1, ymm2", "62f1742958c2", "", "zmm0", "ymm1 ymm2 k1 mxcsr control",
         "", "ymm0", ""},
        {"vaddps zmm0{k1}{z}, zmm1, zmm2", "62f174c958c2", "", "zmm0", "zmm1 zmm2 k1 mxcsr control",
         "", "", ""},
        {"vfmadd231ps zmm0{k1}, zmm1, zmm2", "62f27549b8c2", "", "zmm0",
         "zmm0 zmm1 zmm2 k1 mxcsr control", "", "zmm0", ""},
        {"vblendmps zmm0{k1}, zmm1, zmm2", "62f2754965c2", "", "zmm0", "zmm1 zmm2 k1", "", "", ""},
        {"vmovdqu32 [rax]{k1}, zmm3", "62f17e497f18", "", "", "zmm3 k1", "rax", "", "w64?"},
        {"vmaskmovps [rax], ymm0, ymm1", "c4e27d2e08", "", "", "ymm0 ymm1", "rax", "", "w32?"},
        {"vpgatherdd xmm0, [rax + xmm1 * 4], xmm2", "c4e269900488", "", "zmm0 zmm2", "xmm2",
         "rax xmm1", "xmm0", "r4"},
        {"vpgatherdd zmm0{k1}, [rax + zmm1 * 4]", "62f27d49900488", "", "zmm0 k1", "k1", "rax zmm1",
         "zmm0", "r4"},
        {"vextractf128 xmm0, ymm1, 1", "c4e37d19c801", "", "zmm0", "ymm1", "", "", ""},
        {"vptest xmm0, xmm1", "c4e27917c1", "", "CF PF AF ZF SF OF", "xmm0 xmm1", "", "", ""},
        {"stmxcsr [rax]", "0fae18", "", "", "mxcsr control mxcsr exceptions", "rax", "", "w4"},
        {"ldmxcsr [rax]", "0fae10", "", "mxcsr control mxcsr exceptions", "", "rax", "", "r4"},
        {"v4fmaddps zmm0, zmm4, [rax]", "62f25f489a00", "", "zmm0",
         "zmm0 zmm4 zmm5 zmm6 zmm7 mxcsr control", "rax", "", "r16"},
        {"vp2intersectd k2, zmm0, zmm1", "62f27f4868d1", "", "k2 k3", "zmm0 zmm1", "", "", ""},
        {"kmovq k1, rax", "c4e1fb92c8", "", "k1", "rax", "", "", ""},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void stack_pointer_carries_nothing(void **state)
{
    static const struct row row[] = {
        {"push rax", "50", "", "", "rax", "", "", "w8"},
        {"pop rax", "58", "", "rax", "", "", "", "r8"},
        {"push rsp", "54", "", "", "rsp", "", "", "w8"},
        {"pop rsp", "5c", "", "rsp", "", "", "", "r8"},
        {"call rax", "ffd0", "", "", "rax", "", "", "w8"},
        {"call .+5", "e800000000", "", "", "", "", "", "w8"},
        {"ret", "c3", "", "", "", "", "", "r8"},
        {"leave", "c9", "", "rbp", "", "rbp", "", "r8"},
        {"sub rsp, 24", "4883ec18", "", "CF PF AF ZF SF OF", "", "", "", ""},
        {"lea rsp, [rsp + 24]", "488d642418", "", "", "", "", "", ""},
        {"sub rsp, rax", "4829c4", "", "rsp CF PF AF ZF SF OF", "rax rsp", "", "", ""},
        {"and rsp, -16", "4883e4f0", "", "rsp CF PF AF ZF SF OF", "rsp", "", "", ""},
        {"mov rsp, rax", "4889c4", "", "rsp", "rax", "", "", ""},
        {"mov rsp, rbp", "4889ec", "", "rsp", "rbp", "", "", ""},
        {"mov rbp, rsp", "4889e5", "", "rbp", "rsp", "", "", ""},
        {"lea rax, [rsp + 8]", "488d442408", "", "rax", "rsp", "", "", ""},
        {"mov rax, [rsp + rcx * 8]", "488b04cc", "", "rax", "", "rcx", "", "r8"},
        {"mov rax, [rbp - 8]", "488b45f8", "", "rax", "", "rbp", "", "r8"},
        {"pushfq", "9c", "", "", "CF PF AF ZF SF OF DF other flags", "", "", "w8"},
        {"push rax", "50", "S", "rsp", "rax rsp", "rsp", "", "w8"},
        {"mov rax, [rsp]", "488b0424", "S", "rax", "", "rsp", "", "r8"},
        {"ret", "c3", "S", "rsp", "rsp", "rsp", "", "r8"},
        {"sub rsp, 24", "4883ec18", "S", "rsp CF PF AF ZF SF OF", "rsp", "", "", ""},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void frame_pointer_likewise(void **state)
{
    static const struct row row[] = {
        {"push rbp", "55", "F", "", "", "", "", "w8"},
        {"pop rbp", "5d", "F", "", "", "", "", "r8"},
        {"leave", "c9", "F", "", "", "", "", "r8"},
        {"enter 16, 0", "c8100000", "F", "", "", "", "", "w8"},
        {"mov rbp, rsp", "4889e5", "F", "", "", "", "", ""},
        {"mov rsp, rbp", "4889ec", "F", "", "", "", "", ""},
        {"lea rbp, [rsp + 16]", "488d6c2410", "F", "", "", "", "", ""},
        {"lea rsp, [rbp - 40]", "488d65d8", "F", "", "", "", "", ""},
        {"mov rax, [rbp - 8]", "488b45f8", "F", "rax", "", "", "", "r8"},
        {"mov rax, [rbp + rcx]", "488b440d00", "F", "rax", "", "rcx", "", "r8"},
        {"mov rax, [rcx + rbp * 2]", "488b0469", "F", "rax", "", "rcx rbp", "", "r8"},
        {"lea rax, [rbp - 16]", "488d45f0", "F", "rax", "rbp", "", "", ""},
        {"mov rbp, rax", "4889c5", "F", "rbp", "rax", "", "", ""},
        {"push rbp", "55", "", "", "rbp", "", "", "w8"},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void strings(void **state)
{
    static const struct row row[] = {
        {"rep movsb", "f3a4", "n3", "rcx rsi rdi", "", "rcx rsi rdi DF", "", "w1* r1*"},
        {"rep movsb", "f3a4", "n0", "", "", "rcx", "", "w1* r1*"},
        {"rep stosq", "f348ab", "n3", "rcx rdi", "rax", "rcx rdi DF", "", "w8*"},
        {"rep stosq", "f348ab", "", "rcx rdi", "rax", "rcx rdi DF", "rcx rdi", "w8*"},
        {"stosb", "aa", "", "rdi", "al", "rdi DF", "", "w1"},
        {"lodsd", "ad", "", "rax rsi", "", "rsi DF", "", "r4"},
        {"repne scasb", "f2ae", "n2", "rcx rdi CF PF AF ZF SF OF", "al", "rcx rdi DF", "", "r1*"},
        {"repe cmpsb", "f3a6", "n2", "rcx rsi rdi CF PF AF ZF SF OF", "", "rcx rsi rdi DF", "",
         "r1* r1*"},
        {"xlatb", "d7", "", "al", "", "al rbx", "", "r1"},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void x87_in_physical_registers(void **state)
{
    static const struct row row[] = {
        {"fld st(3)", "d9c3", "t2", "fpr1 tag1 C0 C1 C2 C3", "fpr5", "", "C0 C2 C3", ""},
        {"fld qword ptr [rax]", "dd00", "t0", "fpr7 tag7 C0 C1 C2 C3", "", "rax", "C0 C2 C3", "r8"},
        {"fadd st, st(2)", "d8c2", "t7", "fpr7 tag7 C0 C1 C2 C3", "fpr1 fpr7 x87 control", "",
         "C0 C2 C3", ""},
        {"faddp st(1), st", "dec1", "t3", "fpr4 tag3 tag4 C0 C1 C2 C3", "fpr3 fpr4 x87 control", "",
         "C0 C2 C3", ""},
        {"fstp qword ptr [rax]", "dd18", "t3", "tag3 C0 C1 C2 C3", "fpr3 x87 control", "rax",
         "C0 C2 C3", "w8"},
        {"fxch st(1)", "d9c9", "t6", "fpr6 fpr7 tag6 tag7 C0 C1 C2 C3", "fpr6 fpr7", "", "C0 C2 C3",
         ""},
        {"fcomi st, st(1)", "dbf1", "t0", "CF PF AF ZF SF OF C1", "fpr0 fpr1", "", "C1", ""},
        {"fcom st(1)", "d8d1", "t0", "C0 C1 C2 C3", "fpr0 fpr1", "", "", ""},
        {"fxam", "d9e5", "t5", "C0 C1 C2 C3", "fpr5 tag5", "", "", ""},
        {"fnstsw ax", "dfe0", "", "ax", "C0 C1 C2 C3 x87 exceptions", "", "", ""},
        {"fldcw [rax]", "d928", "", "x87 control", "", "rax", "", "r2"},
        {"fcmovb st, st(1)", "dac1", "t0", "fpr0 tag0 C0 C1 C2 C3", "fpr1 CF", "",
         "fpr0 tag0 C0 C1 C2 C3", ""},
        {"fsincos", "d9fb", "t4", "fpr3 fpr4 tag3 tag4 C0 C1 C2 C3", "fpr4 x87 control", "",
         "fpr3 fpr4 tag3 tag4 C0 C3", ""},
        {"movd mm3, eax", "0f6ed8", "", "fpr3 tag0 tag1 tag2 tag3 tag4 tag5 tag6 tag7 x87 TOP",
         "eax", "", "", ""},
        {"movd eax, mm3", "0f7ed8", "", "rax tag0 tag1 tag2 tag3 tag4 tag5 tag6 tag7 x87 TOP",
         "fpr3[0..3]", "", "", ""},
        {"fld1", "d9e8", "t1S", "fpr0 tag0 C0 C1 C2 C3 x87 TOP", "tag0", "x87 TOP", "C0 C2 C3", ""},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static void the_system(void **state)
{
    static const struct row row[] = {
        {"syscall", "0f05", "", "rax rcx r11", "rax rdx rsi rdi r8 r9 r10", "", "", ""},
        {"cpuid", "0fa2", "", "rax rcx rdx rbx", "eax ecx", "", "", ""},
        {"rdtsc", "0f31", "", "rax rdx", "", "", "", ""},
        {"rdtscp", "0f01f9", "", "rax rcx rdx", "", "", "", ""},
        {"rdrand eax", "0fc7f0", "", "rax CF PF AF ZF SF OF", "", "", "", ""},
        {"rdpid rax", "f30fc7f8", "", "rax", "", "", "", ""},
        {"rdfsbase rax", "f3480faec0", "", "rax", "fs base", "", "", ""},
        {"wrfsbase rax", "f3480faed0", "", "fs base", "rax", "", "", ""},
        {"xgetbv", "0f01d0", "", "rax rdx", "ecx", "", "", ""},
        {"popfq", "9d", "", "CF PF AF ZF SF OF DF other flags", "other flags", "", "", "r8"},
        {"nop dword ptr [rax]", "0f1f00", "", "", "", "", "", ""},
        {"prefetcht0 [rax]", "0f1808", "", "", "", "", "", ""},
        {"xsave64 [rax]", "480fae20", "c0", "", "eax edx", "rax", "", "rw576?"},
        {"xsave64 [rax]", "480fae20", "c20", "", "eax edx k0 k1 k2 k3 k4 k5 k6 k7", "rax", "",
         "rw576?"},
        {"xrstor64 [rax]", "480fae28", "c20", "k0 k1 k2 k3 k4 k5 k6 k7", "eax edx", "rax", "",
         "r576"},
    };

    (void)state;
    check(row, ARRAY_LEN(row));
}

static bool covers(const struct defuse *sets, unsigned first, unsigned count)
{
    for (unsigned l = first; l < first + count; l++) {
        bool found = false;
        for (unsigned i = 0; i < sets->defs; i++)
            found |= l - sets->def[i].first < sets->def[i].count;
        if (!found)
            return false;
    }
    return true;
}

static void zeroes_upper_halves(void **state)
{
    static const uint8_t upper[] = {0xc5, 0xf8, 0x77}, all[] = {0xc5, 0xfc, 0x77};
    struct insn in;
    struct defuse sets;
    struct insn_operands ops = decode(upper, sizeof upper, &in);

    (void)state;
    defuse_of(&in, &ops, &DEFUSE_HOW, &sets);
    assert_int_equal(sets.defs, 16);
    assert_int_equal(sets.uses, 0);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(sets.def[i].first, loc_vec(i) + 16);
        assert_int_equal(sets.def[i].count, 48);
    }
    ops = decode(all, sizeof all, &in);
    defuse_of(&in, &ops, &DEFUSE_HOW, &sets);
    assert_int_equal(sets.defs, 1);
    assert_true(covers(&sets, LOC_VEC, 16 * LOC_VEC_BYTES));
}

/* Whatever components are named: no span is lost, which would be seen as one that is too long. */
static void has_room_for_every_state(void **state)
{
    static const uint8_t save[] = {0x48, 0x0f, 0xae, 0x63, 0x40},
                         load[] = {0x48, 0x0f, 0xae, 0x6b, 0x40};
    struct insn in;
    struct defuse sets;

    (void)state;
    for (unsigned components = 0; components < 256; components++) {
        struct defuse_how how = DEFUSE_HOW;
        how.components = components;
        how.flags = DEFUSE_STACK_POINTER;
        struct insn_operands ops = decode(save, sizeof save, &in);
        defuse_of(&in, &ops, &how, &sets);
        assert_true(sets.uses < DEFUSE_MOST_USES);
        ops = decode(load, sizeof load, &in);
        defuse_of(&in, &ops, &how, &sets);
        assert_true(sets.defs < DEFUSE_MOST_DEFS);
        assert_int_equal(covers(&sets, loc_vec(15), 16), components >> 1 & 1);
        assert_int_equal(covers(&sets, loc_vec(15) + 16, 16), components >> 2 & 1);
        assert_int_equal(covers(&sets, loc_vec(15) + 32, 32), components >> 6 & 1);
        assert_int_equal(covers(&sets, LOC_MXCSR_CONTROL, 2), (components & 6) != 0);
    }
}

static void restored_state_may_be_the_old_one(void **state)
{
    static const uint8_t load[] = {0x0f, 0xae, 0x2b};
    struct insn in;
    struct defuse sets;
    struct insn_operands ops = decode(load, sizeof load, &in);
    unsigned kept = 0;

    (void)state;
    defuse_of(&in, &ops, &DEFUSE_HOW, &sets);
    assert_true(covers(&sets, LOC_VEC, LOC_VECS * LOC_VEC_BYTES));
    for (unsigned i = 0; i < sets.uses; i++)
        if (sets.use[i].kind == DEFUSE_KEPT)
            kept += sets.use[i].count;
    assert_true(kept > LOC_VECS * LOC_VEC_BYTES);
}

static void knows_where_top_goes(void **state)
{
    static const struct {
        uint8_t bytes[4], len;
        int needs, after; /* from TOP 3 */
    } row[] = {
        {{0xd9, 0xc1}, 2, 1, 2},        /* fld st1 */
        {{0xd9, 0xe8}, 2, 1, 2},        /* fld1 */
        {{0xdd, 0x18}, 2, 1, 4},        /* fstp [rax] */
        {{0xde, 0xc1}, 2, 1, 4},        /* faddp */
        {{0xda, 0xe9}, 2, 1, 5},        /* fucompp */
        {{0xd9, 0xf7}, 2, 1, 4},        /* fincstp */
        {{0xd9, 0xf6}, 2, 1, 2},        /* fdecstp */
        {{0xd8, 0xc1}, 2, 1, 3},        /* fadd */
        {{0xd9, 0xfb}, 2, 1, -1},       /* fsincos */
        {{0xdb, 0xe3}, 2, 0, 0},        /* fninit */
        {{0xdd, 0x30}, 2, 0, 0},        /* fnsave */
        {{0x0f, 0x77}, 2, 0, 0},        /* emms */
        {{0x0f, 0x6e, 0xc0}, 3, 0, 0},  /* movd mm0, eax */
        {{0xd9, 0x20}, 2, 0, -1},       /* fldenv */
        {{0xdd, 0x20}, 2, 0, -1},       /* frstor */
        {{0x0f, 0xae, 0x08}, 3, 0, -1}, /* fxrstor */
        {{0x0f, 0xae, 0x28}, 3, 0, -1}, /* xrstor */
        {{0xdf, 0xe0}, 2, 0, 3},        /* fnstsw ax */
        {{0x90}, 1, 0, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        struct insn in;
        struct insn_operands ops = decode(row[i].bytes, row[i].len, &in);
        if (defuse_needs_top(&ops) != row[i].needs || defuse_top_after(&ops, 3) != row[i].after)
            fail_msg("%s: %d, %d", insn_name(&in), defuse_needs_top(&ops),
                     defuse_top_after(&ops, 3));
    }
    struct insn in;
    struct insn_operands fld1 = decode(row[1].bytes, 2, &in);
    assert_int_equal(defuse_top_after(&fld1, 0), 7);
}

static void names_parts_of_registers(void **state)
{
    static const struct {
        unsigned first, count;
        const char *name;
    } row[] = {
        {LOC_GPR, 8, "rax"},
        {LOC_GPR, 4, "eax"},
        {LOC_GPR, 2, "ax"},
        {LOC_GPR, 1, "al"},
        {LOC_GPR + 1, 1, "ah"},
        {LOC_GPR + 4, 4, "rax[4..7]"},
        {LOC_GPR + 8 * RSP, 1, "spl"},
        {LOC_GPR + 8 * RDI, 2, "di"},
        {LOC_GPR + 8 * R9, 4, "r9d"},
        {LOC_GPR + 8 * R15, 1, "r15b"},
        {LOC_VEC + 3 * 64 + 16, 16, "ymm3[16..31]"},
        {LOC_VEC + 31 * 64, 64, "zmm31"},
        {LOC_VEC, 8, "xmm0[0..7]"},
        {LOC_MASK + 8, 8, "k1"},
        {LOC_X87 + 10, 8, "mm1"},
        {LOC_X87 + 10, 10, "fpr1"},
        {LOC_X87_TAG + 7, 1, "tag7"},
        {LOC_CF, 1, "CF"},
        {LOC_GS_BASE, 1, "gs base"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        char text[32];
        struct loc_span span = {.first = row[i].first & 0xfff, .count = row[i].count & 0xfff};
        assert_int_equal(loc_name(span, text, sizeof text), row[i].count);
        assert_string_equal(text, row[i].name);
    }
}

static void sets_give_runs_back(void **state)
{
    struct loc_set set = {{0}};

    (void)state;
    assert_int_equal(loc_set_next(&set, 0).count, 0);
    loc_set_add(&set, 60, 10);
    loc_set_add(&set, LOC_COUNT - 1, 1);
    loc_set_remove(&set, 63, 2);
    struct loc_span s = loc_set_next(&set, 0);
    assert_int_equal(s.first, 60);
    assert_int_equal(s.count, 3);
    s = loc_set_next(&set, s.first + s.count);
    assert_int_equal(s.first, 65);
    assert_int_equal(s.count, 5);
    s = loc_set_next(&set, s.first + s.count);
    assert_int_equal(s.first, LOC_COUNT - 1);
    assert_int_equal(s.count, 1);
    assert_int_equal(loc_set_next(&set, LOC_COUNT).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_of_general_registers),
        cmocka_unit_test(idioms_use_nothing),
        cmocka_unit_test(flags_one_by_one),
        cmocka_unit_test(vector_registers),
        cmocka_unit_test(stack_pointer_carries_nothing),
        cmocka_unit_test(frame_pointer_likewise),
        cmocka_unit_test(strings),
        cmocka_unit_test(x87_in_physical_registers),
        cmocka_unit_test(the_system),
        cmocka_unit_test(zeroes_upper_halves),
        cmocka_unit_test(has_room_for_every_state),
        cmocka_unit_test(restored_state_may_be_the_old_one),
        cmocka_unit_test(knows_where_top_goes),
        cmocka_unit_test(names_parts_of_registers),
        cmocka_unit_test(sets_give_runs_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
