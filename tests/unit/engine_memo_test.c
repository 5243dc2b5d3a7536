/* engine_memo_test.c - engine/x86/memo: remembered forms are what the decoder library says.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every byte string is decoded twice with memory, which by the second time knows its form, and by
 * the library alone; all fields must agree. Strings that share a head with an earlier one but have
 * other values behind it are what matters: random values follow each head. With DRDEBUG_SOAK more.
 */
#define _GNU_SOURCE
#include "engine/x86/memo.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { PC = 0x7f1234567000, VALUES = 4 };

static uint64_t seed;

static uint8_t random_byte(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint8_t)(seed >> 24);
}

static unsigned soak(unsigned usual)
{
    return getenv("DRDEBUG_SOAK") ? 100 * usual : usual;
}

static void compare_fields(const struct insn *got, const struct insn *want)
{
#define SAME(field)                                                                                \
    if (got->field != want->field)                                                                 \
    fail_msg("%s: %s is %llx, not %llx", insn_name(want), #field, (unsigned long long)got->field,  \
             (unsigned long long)want->field)
    SAME(pc);
    SAME(target);
    SAME(imm16);
    SAME(gprs_read);
    SAME(gprs_kill);
    SAME(flags_read);
    SAME(flags_kill);
    SAME(mnemonic);
    SAME(kind);
    SAME(len);
    SAME(opcode);
    SAME(modrm_at);
    SAME(prefix_at);
    SAME(value_at);
    SAME(value_len);
    SAME(encoding);
    SAME(isa);
    SAME(rip_relative);
    SAME(gs_relative);
    SAME(addr32);
    SAME(too_long);
#undef SAME
    assert_memory_equal(got->bytes, want->bytes, want->len);
}

/* Returns the length, 1 if there is no instruction. */
static size_t check(const uint8_t *bytes, size_t avail, size_t *head)
{
    struct insn want, got;
    int known = insn_ask(&want, PC, bytes, avail, head);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(insn_decode(&got, PC, bytes, avail), known);
        if (known == 0)
            compare_fields(&got, &want);
    }
    return known == 0 ? want.len : 1;
}

/* An instruction, then others with its head, then some with one byte of the head changed. */
static size_t check_around(const uint8_t *bytes)
{
    uint8_t other[INSN_MAX_BYTES];
    size_t head, unused;
    size_t len = check(bytes, INSN_MAX_BYTES, &head);
    for (int n = 0; n < VALUES; n++) {
        memcpy(other, bytes, sizeof other);
        for (size_t i = head; i < sizeof other; i++)
            other[i] = random_byte();
        check(other, sizeof other, &unused);
        if (head)
            other[random_byte() % head] = random_byte();
        check(other, sizeof other, &unused);
        check(other, random_byte() % INSN_MAX_BYTES, &unused);
    }
    return len;
}

static void random_bytes(void **state)
{
    (void)state;
    seed = 11;
    for (unsigned n = soak(30000); n; n--) {
        uint8_t bytes[INSN_MAX_BYTES];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = random_byte();
        check_around(bytes);
    }
}

/* Up to four prefixes, or a whole VEX, EVEX or XOP prefix, before every opcode of every map. */
static void every_opcode_with_prefixes(void **state)
{
    static const uint8_t prefix[] = {0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e,
                                     0x26, 0x64, 0x65, 0x40, 0x48, 0x4f, 0x41, 0x44};
    static const uint8_t map[][3] = {{0},          {0x0f},       {0x0f, 0x38}, {0x0f, 0x3a},
                                     {0x0f, 0x0f}, {0xc4, 0xe2}, {0xc5},       {0x62, 0xf1, 0x7c},
                                     {0x8f, 0xe8}};

    (void)state;
    seed = 12;
    for (unsigned n = soak(2); n; n--)
        for (size_t m = 0; m < ARRAY_LEN(map); m++)
            for (int opcode = 0; opcode < 256; opcode++) {
                uint8_t bytes[INSN_MAX_BYTES];
                size_t at = 0;
                for (size_t i = 0; i < sizeof bytes; i++)
                    bytes[i] = random_byte();
                for (int k = random_byte() % 5; k; k--)
                    bytes[at++] = prefix[random_byte() % sizeof prefix];
                for (size_t i = 0; i < 3 && map[m][i]; i++)
                    bytes[at++] = map[m][i];
                bytes[at + (map[m][0] >= 0x62 && map[m][0] != 0x0f)] = (uint8_t)opcode;
                check_around(bytes);
            }
}

/* ---- real code ---- */

/* Instruction after instruction of a page, then a page with a bit turned here and there. */
static void check_page(const uint8_t *code, size_t n)
{
    uint8_t copy[4096];
    n = n < sizeof copy ? n : sizeof copy;
    memcpy(copy, code, n);
    for (int round = 0; round < 2; round++) {
        for (size_t at = 0; at + INSN_MAX_BYTES <= n;)
            at += check_around(copy + at);
        for (size_t at = 0; at < n; at += 1 + random_byte() % 16)
            copy[at] ^= (uint8_t)(1 << random_byte() % 8);
    }
}

static int check_object(struct dl_phdr_info *info, size_t size, void *pages)
{
    size_t step = getenv("DRDEBUG_SOAK") ? 1 : 24;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
            continue;
        const uint8_t *code = (const uint8_t *)info->dlpi_addr + ph->p_vaddr;
        for (size_t at = 0; at < ph->p_filesz; at += step * 4096) {
            check_page(code + at, ph->p_filesz - at);
            ++*(size_t *)pages;
        }
    }
    return 0;
}

static void code_of_this_process(void **state)
{
    size_t pages = 0;
    (void)state;
    seed = 13;
    dl_iterate_phdr(check_object, &pages);
    assert_true(pages > 10);
}

static void code_of_another_program(void **state)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen("/usr/bin/python3", "rb");
    (void)state;
    seed = 14;
    assert_non_null(f);
    size_t step = getenv("DRDEBUG_SOAK") ? 4096 : 64 << 10;
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t at = 0; at < n; at += step)
        check_page(bytes + at, n - at);
}

/* ---- the memory itself ---- */

static void knows_a_form_after_the_first_time(void **state)
{
    const uint8_t first[] = {0x48, 0x8b, 0x85, 0x10, 0x20, 0, 0, 0x90};
    const uint8_t second[] = {0x48, 0x8b, 0x85, 0x78, 0x56, 0x34, 0x12, 0x90};
    struct insn in;
    (void)state;
    assert_int_equal(insn_decode(&in, PC, first, sizeof first), 0);
    assert_true(memo_find(&in, second, sizeof second));
    assert_int_equal(in.len, 7);
    assert_false(memo_find(&in, second, 6)); /* the instruction does not end there */
}

static void forgets_when_it_is_full(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 1 << 16; n++) { /* as many heads: shifts by an immediate */
        const uint8_t bytes[INSN_MAX_BYTES] = {0x41, 0xc1, (uint8_t)(0xc0 | n >> 8), (uint8_t)n};
        size_t head;
        check(bytes, sizeof bytes, &head);
    }
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
        cmocka_unit_test(knows_a_form_after_the_first_time),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(every_opcode_with_prefixes),
        cmocka_unit_test(code_of_this_process),
        cmocka_unit_test(code_of_another_program),
        cmocka_unit_test(forgets_when_it_is_full),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
