/* gdbstub_registers_test.c - registers and signals as GDB numbers them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "debug/gdbstub/registers.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "debug/gdbstub/signals.h"
#include "tests/unit/unit.h"

/* As on AMD's CPUs with AVX-512. */
static const struct registers_layout wide = {
    .avx = 576, .opmask = 832, .zmm_high = 896, .high16 = 1408};

static void prepare(struct registers *r, uint64_t bv)
{
    memset(r, 0, sizeof *r);
    r->layout = wide;
    r->r.xsave_bytes = 2432;
    memcpy(r->r.xsave + 512, &bv, sizeof bv);
}

static uint64_t get(const struct registers *r, int number)
{
    uint8_t value[REG_MAX_BYTES] = {0};
    uint64_t word;

    registers_get(r, number, value);
    memcpy(&word, value, sizeof word);
    return word;
}

static void set(struct registers *r, int number, uint64_t word)
{
    uint8_t value[REG_MAX_BYTES] = {0};

    memcpy(value, &word, sizeof word);
    registers_set(r, number, value);
}

static void has_gdbs_order_of_general_registers(void **state)
{
    /* rax rbx rcx rdx rsi rdi rbp rsp, by the CPU's numbers. */
    static const int cpu[8] = {0, 3, 1, 2, 6, 7, 5, 4};
    struct registers r;

    (void)state;
    prepare(&r, 3);
    for (int i = 0; i < 16; i++)
        r.r.gpr[i] = 0x1000 + (uint64_t)i;
    for (int i = 0; i < 16; i++)
        assert_int_equal(get(&r, i), 0x1000 + (i < 8 ? cpu[i] : i));
}

static void keeps_all_that_is_written(void **state)
{
    struct registers r;
    uint8_t in[REG_MAX_BYTES], out[REG_MAX_BYTES];

    (void)state;
    prepare(&r, 0xe7);
    for (int n = 0; n < REG_COUNT; n++) {
        if (n >= REG_CS && n < REG_ST0)
            continue;
        bool control = n >= REG_FCTRL && n < REG_XMM0;
        for (size_t i = 0; i < REG_MAX_BYTES; i++)
            in[i] = control ? 0 : (uint8_t)(n + 3 * (int)i);
        registers_set(&r, n, in);
    }
    for (int n = 0; n < REG_COUNT; n++) {
        if (n >= REG_CS && n < REG_XMM0)
            continue;
        registers_get(&r, n, out);
        for (size_t i = 0; i < registers_bytes(n); i++)
            assert_int_equal(out[i], (uint8_t)(n + 3 * (int)i));
    }
}

static void gives_first_values_to_what_is_not_saved(void **state)
{
    struct registers r;

    (void)state;
    prepare(&r, 0);
    memset(r.r.xsave, 0xee, 512);
    memset(r.r.xsave + 576, 0xee, 2432 - 576);
    registers_complete(&r);
    assert_int_equal(get(&r, REG_FCTRL), 0x37f);
    assert_int_equal(get(&r, REG_FCTRL + 1), 0);
    assert_int_equal(get(&r, REG_FCTRL + 2), 0xffff); /* all empty */
    assert_int_equal(get(&r, REG_MXCSR), 0x1f80);
    for (int n = REG_XMM0; n < REG_COUNT; n++)
        if (n < REG_MXCSR || n >= REG_YMM0H)
            assert_int_equal(get(&r, n), 0);
    uint64_t bv;
    memcpy(&bv, r.r.xsave + 512, sizeof bv);
    assert_int_equal(bv, 0xe7); /* so that what is written now is loaded */
}

static void leaves_what_is_saved(void **state)
{
    struct registers r;

    (void)state;
    prepare(&r, 0xe7);
    memset(r.r.xsave + 576, 0x11, 256);
    r.r.xsave[0] = 0x7f;
    registers_complete(&r);
    assert_int_equal(get(&r, REG_YMM0H + 15), 0x1111111111111111);
    assert_int_equal(get(&r, REG_FCTRL), 0x7f);
}

static void works_out_x87_tags(void **state)
{
    struct registers r;
    uint8_t one[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};

    (void)state;
    prepare(&r, 1);
    r.r.xsave[3] = 6 << 3; /* top is 6: st0 is physical register 6 */
    r.r.xsave[4] = 0xc0;   /* 6 and 7 are used */
    memcpy(r.r.xsave + 32, one, 10);
    assert_int_equal(get(&r, REG_FCTRL + 2), 0x4fff); /* 7: zero, 6: valid */
    set(&r, REG_FCTRL + 2, 0xfffc);
    assert_int_equal(r.r.xsave[4], 1);
}

static void shows_segments_and_does_not_change_them(void **state)
{
    struct registers r;

    (void)state;
    prepare(&r, 3);
    set(&r, REG_CS, 7);
    assert_int_equal(get(&r, REG_CS), 0x33);
    assert_int_equal(get(&r, REG_CS + 1), 0x2b);
}

static void describes_what_there_is(void **state)
{
    const struct registers_layout narrow = {0}, avx = {.avx = 576};
    struct reply xml = {0};
    char reg[64];

    (void)state;
    registers_xml(&wide, &xml);
    for (int n = 0; n < REG_COUNT; n++) {
        snprintf(reg, sizeof reg, "bitsize=\"%zu\"", 8 * registers_bytes(n));
        assert_non_null(strstr(xml.data, reg));
        snprintf(reg, sizeof reg, "regnum=\"%d\"", n);
        assert_non_null(strstr(xml.data, reg));
    }
    assert_non_null(
        strstr(xml.data, "<reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\" regnum=\"16\"/>"));
    assert_non_null(
        strstr(xml.data, "<reg name=\"zmm31h\" bitsize=\"256\" type=\"v2ui128\" regnum=\"147\"/>"));
    assert_non_null(strstr(xml.data, "<field name=\"\" start=\"1\" end=\"1\" type=\"bool\"/>"));
    reply_clear(&xml);
    registers_xml(&avx, &xml);
    assert_non_null(strstr(xml.data, "i386.avx\""));
    assert_null(strstr(xml.data, "avx512"));
    reply_clear(&xml);
    registers_xml(&narrow, &xml);
    assert_null(strstr(xml.data, "avx"));
    assert_int_equal(registers_count(&narrow), 60);
    assert_int_equal(registers_count(&avx), 76);
    reply_deinit(&xml);
}

static void layout_needs_room(void **state)
{
    struct registers_layout layout;

    (void)state;
    registers_layout(&layout, 512);
    assert_int_equal(registers_count(&layout), REG_YMM0H);
    registers_layout(&layout, 8192);
    assert_true(layout.avx == 0 || layout.avx == 576);
}

static void signals_have_gdbs_numbers(void **state)
{
    (void)state;
    assert_int_equal(signals_to_gdb(SIGINT), SIGNALS_INT);
    assert_int_equal(signals_to_gdb(SIGTRAP), SIGNALS_TRAP);
    assert_int_equal(signals_to_gdb(SIGSEGV), 11);
    assert_int_equal(signals_to_gdb(SIGBUS), 10);
    assert_int_equal(signals_to_gdb(SIGUSR1), 30);
    assert_int_equal(signals_to_gdb(SIGCHLD), 20);
    assert_int_equal(signals_to_gdb(SIGSYS), 12);
    assert_int_equal(signals_to_gdb(32), 77);
    assert_int_equal(signals_to_gdb(33), 45);
    assert_int_equal(signals_to_gdb(63), 75);
    assert_int_equal(signals_to_gdb(64), 78);
    assert_int_equal(signals_to_gdb(65), SIGNALS_UNKNOWN);
    assert_int_equal(signals_to_gdb(-1), SIGNALS_UNKNOWN);
    for (int i = 1; i <= 64; i++)
        assert_int_equal(signals_from_gdb(signals_to_gdb(i)), i == SIGSTKFLT ? 0 : i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_gdbs_order_of_general_registers),
        cmocka_unit_test(keeps_all_that_is_written),
        cmocka_unit_test(gives_first_values_to_what_is_not_saved),
        cmocka_unit_test(leaves_what_is_saved),
        cmocka_unit_test(works_out_x87_tags),
        cmocka_unit_test(shows_segments_and_does_not_change_them),
        cmocka_unit_test(describes_what_there_is),
        cmocka_unit_test(layout_needs_room),
        cmocka_unit_test(signals_have_gdbs_numbers),
    };

    return cmocka_run_group_tests_name("gdbstub_registers", tests, NULL, NULL);
}
