/* engine_rt_test.c - engine/rt/rt.h: the runtime's text functions. SPDX-License-Identifier: MIT */
#include "engine/rt/rt.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char text[64];

static void formats_numbers_as_printf_does(void **state)
{
    (void)state;
    rt_format(text, sizeof text, "%d %d %u %x", 0, INT_MIN, UINT_MAX, 0xbeefu);
    assert_string_equal(text, "0 -2147483648 4294967295 beef");
    rt_format(text, sizeof text, "%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
    assert_string_equal(text, "-9223372036854775808 18446744073709551615 ffffffffffffffff");
    rt_format(text, sizeof text, "%zu", (size_t)7);
    assert_string_equal(text, "7");
}

static void pads_numbers_and_strings(void **state)
{
    (void)state;
    rt_format(text, sizeof text, "[%4d][%04x][%08lx][%2u]", 7, 0xau, 0x12ul, 1234u);
    assert_string_equal(text, "[   7][000a][00000012][1234]");
    rt_format(text, sizeof text, "[%12lu]", ULONG_MAX);
    assert_string_equal(text, "[18446744073709551615]");
}

static void formats_strings_and_characters(void **state)
{
    (void)state;
    assert_int_equal(rt_format(text, sizeof text, "%s%c%%%s", "ab", 'c', ""), 4);
    assert_string_equal(text, "abc%");
}

static void never_writes_past_the_buffer(void **state)
{
    char small[4] = {'x', 'x', 'x', 'x'};

    (void)state;
    assert_int_equal(rt_format(small, 3, "%s", "abcdef"), 2);
    assert_memory_equal(small, "ab\0x", 4);
    assert_int_equal(rt_format(small, 1, "%d", 12345), 0);
    assert_memory_equal(small, "\0b\0x", 4);
    small[0] = 'y';
    assert_int_equal(rt_format(small, 0, "%x", 1u), 0);
    assert_int_equal(small[0], 'y');
}

static void compares_strings(void **state)
{
    (void)state;
    assert_true(rt_streq("", "") && rt_streq("abc", "abc"));
    assert_false(rt_streq("abc", "abcd") || rt_streq("abcd", "abc") || rt_streq("", "a"));
    assert_true(rt_prefix("cache=1", "cache=") && rt_prefix("a", ""));
    assert_false(rt_prefix("cac", "cache=") || rt_prefix("", "c"));
}

/* What the function says, and how its process ends. */
static int output_of(void (*fn)(void), char *out, size_t size)
{
    int fd[2], status;
    assert_int_equal(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        rt_say_to(fd[1]);
        fn();
        _exit(0);
    }
    close(fd[1]);
    ssize_t n = read(fd[0], out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    close(fd[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void say_something(void)
{
    rt_say("%s: %d", "thing", 3);
}

static void says_one_line(void **state)
{
    char out[100];

    (void)state;
    assert_int_equal(output_of(say_something, out, sizeof out), 0);
    assert_string_equal(out, "drdebug: thing: 3\n");
}

static void say_too_much(void)
{
    static char much[4000];
    memset(much, 'm', sizeof much - 1);
    rt_say("%s", much);
}

static void cuts_a_long_line_and_ends_it(void **state)
{
    char out[5000];

    (void)state;
    assert_int_equal(output_of(say_too_much, out, sizeof out), 0);
    size_t n = strlen(out);
    assert_in_range(n, 1000, 1024);
    assert_int_equal(out[n - 1], '\n');
    assert_int_equal(out[n - 2], 'm');
}

static void check_something(void)
{
    rt_check(1 + 1 == 2);
    rt_check(1 + 1 == 3);
}

static void dies_of_a_failed_check_with_sigabrt(void **state)
{
    char out[200];

    (void)state;
    int status = output_of(check_something, out, sizeof out);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(out, "drdebug: internal error: "));
    assert_non_null(strstr(out, ": 1 + 1 == 3\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_numbers_as_printf_does),
        cmocka_unit_test(pads_numbers_and_strings),
        cmocka_unit_test(formats_strings_and_characters),
        cmocka_unit_test(never_writes_past_the_buffer),
        cmocka_unit_test(compares_strings),
        cmocka_unit_test(says_one_line),
        cmocka_unit_test(cuts_a_long_line_and_ends_it),
        cmocka_unit_test(dies_of_a_failed_check_with_sigabrt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
