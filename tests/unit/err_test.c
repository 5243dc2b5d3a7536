/* err_test.c - base/err.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/err.h"

#include <string.h>

#include "tests/unit/unit.h"

static void sets_message_and_clears_code(void **state)
{
    struct err err = {.code = 9};

    (void)state;
    assert_int_equal(err_set(&err, "%s: %d of %d", "a.log", 3, 4), -1);
    assert_string_equal(err.msg, "a.log: 3 of 4");
    assert_int_equal(err.code, 0);
}

static void sets_code(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(err_set_code(&err, 127, "gone"), -1);
    assert_string_equal(err.msg, "gone");
    assert_int_equal(err.code, 127);
}

static void wraps_its_own_message(void **state)
{
    struct err err;

    (void)state;
    err_set_code(&err, 3, "no space");
    err_set_code(&err, err.code, "%s: %s", "a.log", err.msg);
    assert_string_equal(err.msg, "a.log: no space");
    assert_int_equal(err.code, 3);
}

static void marks_where_a_message_was_cut(void **state)
{
    char text[2000];
    struct err err;

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof err.msg - 1] = '\0';
    err_set(&err, "%s", text);
    assert_string_equal(err.msg, text);

    text[sizeof err.msg - 1] = 'x';
    text[sizeof text - 1] = '\0';
    err_set(&err, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_string_equal(err.msg + sizeof err.msg - 5, "x...");
}

static void allows_null(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, "lost"), -1);
    assert_int_equal(err_set_code(NULL, 1, "lost"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_message_and_clears_code),
        cmocka_unit_test(sets_code),
        cmocka_unit_test(wraps_its_own_message),
        cmocka_unit_test(marks_where_a_message_was_cut),
        cmocka_unit_test(allows_null),
    };

    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
