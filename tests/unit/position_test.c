/* position_test.c - tokens of positions. SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/position.h"

static void prints_and_reads(void **state)
{
    static const struct {
        struct position at;
        const char *token;
    } good[] = {
        {{.thread = 1, .count = 2045, .pc = 0x401136}, "T1:2045:401136"},
        {{.thread = 4, .count = 451350, .pc = 0x5570a4d4422f, .process = 2},
         "P2.T4:451350:5570a4d4422f"},
        {{.thread = 1, .count = 0, .pc = 0}, "T1:0:0"},
        {{.thread = UINT32_MAX, .count = UINT64_MAX, .pc = UINT64_MAX, .process = UINT32_MAX},
         "P4294967295.T4294967295:18446744073709551615:ffffffffffffffff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const struct position *want = &good[i].at;
        struct position at = {.thread = 7, .process = 7};
        char text[POSITION_TEXT];
        struct err err;
        position_format(want, text);
        assert_string_equal(text, good[i].token);
        assert_int_equal(position_parse(text, &at, &err), 0);
        assert_true(at.thread == want->thread && at.count == want->count && at.pc == want->pc);
        assert_int_equal(at.process, want->process);
    }
}

/* The first process may be named; tokens that are printed leave it out. */
static void first_process_is_left_out(void **state)
{
    struct position at = {.process = 9};
    char text[POSITION_TEXT];
    struct err err;
    (void)state;
    assert_int_equal(position_parse("P1.T3:5:4010", &at, &err), 0);
    assert_int_equal(at.process, 0);
    position_format(&at, text);
    assert_string_equal(text, "T3:5:4010");
}

static void refuses_garbage(void **state)
{
    static const char *const bad[] = {
        "",
        "T",
        "P",
        "P2",
        "P2.",
        "P2.T",
        "T1",
        "T1:",
        "T1:2",
        "T1:2:",
        "T1:2:4010 ",
        " T1:2:4010",
        "t1:2:4010",
        "p2.T1:2:4010",
        "T0:2:4010",
        "P0.T1:2:4010",
        "P.T1:2:4010",
        "P2T1:2:4010",
        "P2:T1:2:4010",
        "P2..T1:2:4010",
        "P2.P2.T1:2:4010",
        "P-2.T1:2:4010",
        "P2.1:2:4010",
        "T1.P2:2:4010",
        "T1:2:401G",
        "T1:2:0x4010",
        "T1:2:4010:1",
        "T1:-2:4010",
        "T4294967296:2:4010",
        "P4294967296.T1:2:4010",
        "P99999999999999999999999.T1:2:4010",
        "T1:18446744073709551616:4010",
        "T1:2:10000000000000000",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct position at = {.thread = 7, .count = 8, .pc = 9, .process = 10};
        struct err err;
        assert_int_equal(position_parse(bad[i], &at, &err), -1);
        assert_non_null(strstr(err.msg, "is not a position"));
        assert_true(at.thread == 7 && at.count == 8 && at.pc == 9 && at.process == 10);
    }
}

static void names_a_process_that_is_not_there(void **state)
{
    struct position at = {.thread = 4, .count = 5, .pc = 0x10};
    struct err err;
    (void)state;
    assert_int_equal(position_check(&at, &err), 0);
    at.process = 3;
    assert_int_equal(position_check(&at, &err), -1);
    assert_string_equal(err.msg, "P3.T4:5:10: there is no process 3 in this recording");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_and_reads),
        cmocka_unit_test(first_process_is_left_out),
        cmocka_unit_test(refuses_garbage),
        cmocka_unit_test(names_a_process_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
