/* gui_link_test.c - gui/link: what GDB and drdebug say, read. SPDX-License-Identifier: MIT */
#include "answer_text.h"
#include "gui/link/json.h"
#include "gui/link/mi.h"
#include "unit.h"

static void reads_results(void **state)
{
    struct mi_record *r = mi_parse(
        "12^done,stack=[frame={level=\"0\",func=\"main\"},frame={level=\"1\"}],empty=[],none={}");
    (void)state;
    assert_int_equal(r->kind, MI_RESULT);
    assert_int_equal(r->token, 12);
    assert_string_equal(r->name, "done");
    assert_int_equal(value_count(value_get(r->results, "stack")), 2);
    assert_string_equal(value_say(value_at(value_get(r->results, "stack"), 0), "func"), "main");
    assert_int_equal(value_number(value_at(value_get(r->results, "stack"), 1), "level", 9), 1);
    assert_int_equal(value_count(value_get(r->results, "empty")), 0);
    mi_free(r);
}

static void reads_streams_and_escapes(void **state)
{
    struct mi_record *r = mi_parse("~\"a\\tb\\n\\\"c\\\" \\303\\251 \\\\ \\\xc3\xa9\"");
    (void)state;
    assert_int_equal(r->kind, MI_CONSOLE);
    assert_string_equal(r->text, "a\tb\n\"c\" \xc3\xa9 \\ \xc3\xa9");
    mi_free(r);
    r = mi_parse("(gdb) ");
    assert_int_equal(r->kind, MI_PROMPT);
    mi_free(r);
}

static void what_is_none_of_mi_is_text(void **state)
{
    static const char *const lines[] = {
        "hello",        "",   "^done,x",        "^done,x=\"", "*stopped,frame={a=\"b\"",
        "~hello",       "12", "^done,a=\"b\"c", "~\"a\"b",    "=x,a=[\"b\",",
        "^done,[[[[[[["};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct mi_record *r = mi_parse(lines[i]);
        assert_int_equal(r->kind, MI_OTHER);
        assert_string_equal(r->text, lines[i]);
        mi_free(r);
    }
}

static void nesting_has_an_end(void **state)
{
    GString *deep = g_string_new("^done,a=");
    (void)state;
    for (int i = 0; i < 100000; i++)
        g_string_append_c(deep, '[');
    struct mi_record *r = mi_parse(deep->str);
    assert_int_equal(r->kind, MI_OTHER);
    mi_free(r);
    assert_null(json_parse(deep->str + 8));
    g_string_free(deep, TRUE);
}

static void a_word_cannot_end_a_command(void **state)
{
    char *quoted = mi_quote("a\"b\\c\nd");
    (void)state;
    assert_string_equal(quoted, "\"a\\\"b\\\\c d\"");
    g_free(quoted);
}

static void reads_json(void **state)
{
    struct value *v = json_parse(
        " {\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\ud83d\\ude00\\ud800\\n\"], \"b\": {}} ");
    (void)state;
    const struct value *a = value_get(v, "a");
    assert_int_equal(value_count(a), 5);
    assert_string_equal(value_at(a, 1)->text, "-2.5e3");
    assert_int_equal(value_at(a, 3)->kind, VALUE_NULL);
    assert_string_equal(value_at(a, 4)->text, "x\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\n");
    assert_int_equal(value_get(v, "b")->kind, VALUE_TUPLE);
    value_free(v);
    assert_null(json_parse("{\"a\": }"));
    assert_null(json_parse("[1,]"));
    assert_null(json_parse("\"\\u12\""));
    assert_null(json_parse("1 2"));
    assert_null(json_parse(""));
}

static void reads_answers_of_ask(void **state)
{
    struct value *v = answer_of(
        "{\"version\": 1, \"columns\": [\"at\", \"place\", \"same\"]}\n"
        "{\"row\": 1, \"at\": \"T1:2:3\", \"place\": {\"text\": \"a.c:5\", \"line\": 5}, \"same\": true}\n"
        "{\"row\": 2, \"at\": null, \"place\": null, \"same\": false}\n"
        "{\"rows\": 2, \"complete\": true, \"notes\": [\"n\"]}\n");
    (void)state;
    const struct value *rows = value_get(v, "rows");
    static const char *const expected[2][3] = {{"T1:2:3", "a.c:5", "same"}, {"", "", ""}};
    static const char *const columns[] = {"at", "place", "same"};
    assert_int_equal(value_count(rows), 2);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 3; k++) {
            char *cell = answer_cell(value_at(rows, i), columns[k]);
            assert_string_equal(cell, expected[i][k]);
            g_free(cell);
        }
    value_free(v);
    assert_null(answer_of("{\"version\": 1, \"columns\": []}\n")); /* it was cut off */
    assert_null(answer_of(""));
}

static void add_up(void *arg, const struct value *row)
{
    *(uint64_t *)arg += value_number(row, "n", 0);
}

static void tells_rows_as_they_come(void **state)
{
    uint64_t sum = 0;
    struct answer *a = answer_new(add_up, &sum);
    (void)state;
    answer_take_line(a, "{\"version\": 1, \"columns\": [\"n\"]}");
    answer_take_line(a, "{\"row\": 1, \"n\": 40}");
    assert_int_equal(sum, 40);
    answer_take_line(a, "{\"row\": 2, \"n\": 2}");
    answer_take_line(a, "{\"rows\": 2, \"complete\": false, \"notes\": []}");
    struct value *v = answer_end(a);
    assert_int_equal(sum, 42);
    assert_int_equal(value_count(value_get(v, "rows")), 0);
    assert_false(value_is_true(v, "complete"));
    value_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_results),
        cmocka_unit_test(reads_streams_and_escapes),
        cmocka_unit_test(what_is_none_of_mi_is_text),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(a_word_cannot_end_a_command),
        cmocka_unit_test(reads_json),
        cmocka_unit_test(reads_answers_of_ask),
        cmocka_unit_test(tells_rows_as_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
