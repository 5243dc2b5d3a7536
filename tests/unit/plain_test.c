/* plain_test.c - base/plain: what is from outside cannot deceive. SPDX-License-Identifier: MIT
 *
 * With an argument it is a filter for plain_twin.py: texts that end in NUL, read and made safe.
 */
#define _GNU_SOURCE /* getdelim */
#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static const char *as(enum plain_form form, const char *text)
{
    static char *out;
    size_t bytes;
    free(out);
    FILE *f = open_memstream(&out, &bytes);
    plain_put(f, form, text);
    fclose(f);
    return out;
}

static void shows_controls_as_escapes(void **state)
{
    (void)state;
    assert_string_equal(as(PLAIN_TEXT, "a\033[31mb"), "a\\x1b[31mb");
    assert_string_equal(as(PLAIN_TEXT, "a\nb\tc\rd\177\b"), "a\\nb\\tc\\rd\\x7f\\x08");
    assert_string_equal(as(PLAIN_TEXT, "\xc2\x9b"
                                       "31m"),
                        "\\u009b31m");
}

static void shows_what_turns_or_hides_text(void **state)
{
    (void)state;
    assert_string_equal(as(PLAIN_TEXT, "\xe2\x80\xae"
                                       "c.exe\xe2\x80\xac"),
                        "\\u202ec.exe\\u202c");
    assert_string_equal(as(PLAIN_TEXT, "\xd8\x9c\xe2\x80\x8e\xe2\x81\xa6"),
                        "\\u061c\\u200e\\u2066");
    assert_string_equal(as(PLAIN_TEXT, "\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
    assert_string_equal(as(PLAIN_TEXT, "a\xe2\x80\x8b"
                                       "b\xef\xbb\xbf\xc2\xad"),
                        "a\\u200bb\\ufeff\\u00ad");
    assert_string_equal(as(PLAIN_TEXT, "\xf3\xa0\x81\x81"), "\\U000e0041");
}

static void shows_bytes_that_are_no_utf8(void **state)
{
    (void)state;
    assert_string_equal(as(PLAIN_TEXT, "\x9b\x80\xff"), "\\x9b\\x80\\xff");
    assert_string_equal(as(PLAIN_TEXT, "\xc0\x9b"), "\\xc0\\x9b");          /* too long a form */
    assert_string_equal(as(PLAIN_TEXT, "\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* a surrogate */
    assert_string_equal(as(PLAIN_TEXT, "\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
    assert_string_equal(as(PLAIN_TEXT, "\xe2\x80"), "\\xe2\\x80"); /* cut off */
}

static void leaves_other_text_alone(void **state)
{
    static const char text[] = "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80 \"a\\n\" <b> & 'c'";
    (void)state;
    assert_string_equal(as(PLAIN_TEXT, text), text);
}

static void is_idempotent(void **state)
{
    char once[100];
    (void)state;
    plain_copy("\033\xe2\x80\xae\xff\n", once, sizeof once);
    assert_string_equal(as(PLAIN_TEXT, once), once);
}

static void json_is_valid_whatever_it_was(void **state)
{
    (void)state;
    assert_string_equal(as(PLAIN_JSON, "\"\\\n\033\xff\xc2\x9b\xe2\x80\xae"),
                        "\\\"\\\\\\u000a\\u001b\\ufffd\\u009b\\u202e");
    assert_string_equal(as(PLAIN_JSON, "\xf3\xa0\x81\x81"), "\\udb40\\udc41");
}

static void html_and_dot_are_quoted_and_safe(void **state)
{
    (void)state;
    assert_string_equal(as(PLAIN_HTML, "<&\">\t\033\xe2\x80\xae"),
                        "&lt;&amp;&quot;&gt;\t\\x1b\\u202e");
    assert_string_equal(as(PLAIN_DOT, "a\"\\\n\xff"), "a\\\"\\\\\\\\n\\\\xff");
}

static void copies_whole_characters_only(void **state)
{
    char out[6];
    (void)state;
    plain_copy("ab\033cd", out, sizeof out);
    assert_string_equal(out, "ab");
    plain_copy("abc\xc3\xa9\xc3\xa9", out, sizeof out);
    assert_string_equal(out, "abc\xc3\xa9");
    assert_int_equal(plain_width("a\xc3\xa9\033"), 6);
}

static void formats_one_line(void **state)
{
    char *out;
    size_t bytes;
    (void)state;
    FILE *f = open_memstream(&out, &bytes);
    plain_printf(f, "%s: %d\n", "a\nb", 7);
    plain_printf(f, "%s", "c\n");
    fclose(f);
    assert_string_equal(out, "a\\nb: 7\nc\\n");
    free(out);
}

static int filter(void)
{
    char *text = NULL;
    size_t room = 0;
    while (getdelim(&text, &room, 0, stdin) > 0) {
        plain_put(stdout, PLAIN_TEXT, text);
        putchar(0);
    }
    free(text);
    return 0;
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_controls_as_escapes),
        cmocka_unit_test(shows_what_turns_or_hides_text),
        cmocka_unit_test(shows_bytes_that_are_no_utf8),
        cmocka_unit_test(leaves_other_text_alone),
        cmocka_unit_test(is_idempotent),
        cmocka_unit_test(json_is_valid_whatever_it_was),
        cmocka_unit_test(html_and_dot_are_quoted_and_safe),
        cmocka_unit_test(copies_whole_characters_only),
        cmocka_unit_test(formats_one_line),
    };
    (void)argv;
    return argc > 1 ? filter() : cmocka_run_group_tests(tests, NULL, NULL);
}
