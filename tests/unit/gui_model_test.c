/* gui_model_test.c - gui/model: what the window knows. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "gui/link/json.h"
#include "gui/link/mi.h"
#include "gui/model/breakpoints.h"
#include "gui/model/expression.h"
#include "gui/model/memory.h"
#include "gui/model/session.h"
#include "gui/model/slices.h"
#include "gui/model/text.h"
#include "gui/model/timeline.h"
#include "gui/model/variables.h"
#include "unit.h"

static struct value *json(const char *text)
{
    struct value *v = json_parse(text);
    assert_non_null(v);
    return v;
}

/* ---- expressions ---- */

static void check_expression(const char *line, const char *at, const char *expected)
{
    char *found = expression_at(line, (unsigned)(strstr(line, at) - line));
    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
    g_free(found);
}

static void finds_what_leads_to_a_name(void **state)
{
    (void)state;
    check_expression("x = list->head[i].key;", "key", "list->head[i].key");
    check_expression("x = list->head[i].key;", "head", "list->head");
    check_expression("x = list->head[i].key;", "i]", "i");
    check_expression("x = std::max;", "max", "std::max");
    check_expression("a[b[c]].d = 1;", "d =", "a[b[c]].d");
    check_expression("a[b[c]].d = 1;", "c]", "c");
}

static void leaves_out_words_numbers_and_calls(void **state)
{
    (void)state;
    check_expression("return total;", "return", NULL);
    check_expression("return total;", "total", "total");
    check_expression("f (x) + 12", "f", NULL);
    check_expression("f (x) + 12", "12", NULL);
    check_expression("f(x)->y", "y", NULL); /* evaluating it would call f */
    check_expression("a + b", " ", NULL);
    assert_null(expression_at("", 0));
    assert_null(expression_at("ab", 2));
}

/* ---- the timeline ---- */

static struct timeline *two_threads(void)
{
    struct timeline *t = timeline_new();
    timeline_add_turn(t, 1, 0, 100, 0);
    timeline_add_turn(t, 2, 100, 150, 0);
    timeline_add_turn(t, 1, 150, 250, 100);
    timeline_add_turn(t, 2, 250, 1000, 50);
    return t;
}

static void turns_positions_into_ticks(void **state)
{
    struct timeline *t = two_threads();
    uint64_t ticks = 0;
    (void)state;
    assert_true(timeline_when_position(t, "T1:99:401136", &ticks));
    assert_int_equal(ticks, 99);
    assert_true(timeline_when_position(t, "T1:120:401136", &ticks));
    assert_int_equal(ticks, 170);
    assert_true(timeline_when_position(t, "T2:20:0", &ticks));
    assert_int_equal(ticks, 120);
    assert_true(timeline_when(t, 2, 60, &ticks));
    assert_int_equal(ticks, 260);
    assert_false(timeline_when_position(t, "T3:0:0", &ticks));
    assert_false(timeline_when_position(t, "end", &ticks));
    assert_false(timeline_when_position(t, NULL, &ticks));
    timeline_free(t);
}

/* Each tick belongs to one thread: the shares of a column never exceed one, and whole columns are
 * full. */
static void draws_each_tick_once(void **state)
{
    struct timeline *t = timeline_new();
    uint64_t now = 0, count[5] = {0};
    unsigned seed = 20261118;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        unsigned thread = 1 + (unsigned)rand_r(&seed) % 4, ticks = (unsigned)rand_r(&seed) % 50;
        timeline_add_turn(t, thread, now, now + ticks, count[thread]);
        count[thread] += ticks;
        now += ticks;
    }
    for (int round = 0; round < 50; round++) {
        uint64_t from = (uint64_t)rand_r(&seed) % now,
                 to = from + 1 + (uint64_t)rand_r(&seed) % now;
        double width = 10 + rand_r(&seed) % 800, covered = 0;
        GArray *rects = timeline_draw(t, from, MIN(to, now), width, 60);
        for (unsigned i = 0; i < rects->len; i++) {
            const struct timeline_rect *r = &g_array_index(rects, struct timeline_rect, i);
            assert_true(r->x >= 0 && r->x + r->width <= width + 1e-6);
            assert_true(r->y == r->lane * 15.0 && r->height == 15.0);
            assert_true(r->share > 0 && r->share <= 1);
            covered += r->share * r->width;
        }
        assert_true(covered >= (double)(unsigned)width * 0.99); /* shades are rounded up */
        g_array_unref(rects);
    }
    for (uint64_t at = 0; at < now;
         at += now / 1000) /* and who runs agrees with where counts are */
        assert_in_range(timeline_running(t, at), 1, 4);
    timeline_free(t);
}

static void marks_are_rectangles_with_words(void **state)
{
    struct timeline *t = two_threads();
    bool seen = false;
    (void)state;
    timeline_add_mark(t, TIMELINE_OUTPUT, 2, 500, "hello");
    timeline_add_mark(t, TIMELINE_FAILURE, 0, 1000, "SIGABRT");
    GArray *rects = timeline_draw(t, 0, 1000, 100, 30);
    for (unsigned i = 0; i < rects->len; i++) {
        const struct timeline_rect *r = &g_array_index(rects, struct timeline_rect, i);
        if (r->kind == TIMELINE_OUTPUT) {
            assert_string_equal(r->label, "hello");
            assert_true(r->x == 49 && r->y == 15);
            seen = true;
        } else if (r->kind == TIMELINE_FAILURE) {
            assert_true(r->y == 0 && r->height == 30); /* it concerns all */
        }
    }
    assert_true(seen);
    g_array_unref(rects);
    timeline_clear_marks(t, TIMELINE_OUTPUT);
    rects = timeline_draw(t, 400, 600, 100, 30);
    for (unsigned i = 0; i < rects->len; i++)
        assert_int_equal(g_array_index(rects, struct timeline_rect, i).kind, TIMELINE_RUN);
    g_array_unref(rects);
    timeline_free(t);
}

/* ---- the session ---- */

static char *words_of(const char *line)
{
    struct mi_record *r = mi_parse(line);
    struct session s = {0};
    session_take_stop(&s, r->results);
    char *words = session_words(&s);
    session_deinit(&s);
    mi_free(r);
    return words;
}

static void tells_where_it_stopped(void **state)
{
    char *words = words_of(
        "*stopped,reason=\"breakpoint-hit\",disp=\"keep\",bkptno=\"2\",frame={addr=\"0x55\",func=\"door\","
        "args=[],file=\"a/racy.c\",fullname=\"/a/racy.c\",line=\"32\"},thread-id=\"2\"");
    (void)state;
    assert_string_equal(words, "door () at racy.c:32, breakpoint 2");
    g_free(words);
    words = words_of(
        "*stopped,reason=\"signal-received\",signal-name=\"SIGABRT\",signal-meaning=\"Aborted\","
        "frame={addr=\"0x7f\",func=\"raise\",from=\"/lib/libc.so.6\"}");
    assert_string_equal(words, "raise () of libc.so.6, without source, SIGABRT, Aborted");
    g_free(words);
    words = words_of(
        "*stopped,reason=\"signal-received\",signal-name=\"0\",frame={addr=\"0x7f\"}"); /* a jump */
    assert_string_equal(words, "0x7f");
    g_free(words);
}

static void text_of_a_stranger_is_made_safe(void **state)
{
    char *words = words_of("*stopped,frame={addr=\"0x1\",func=\"a\\033[31m\\342\\200\\256b\"}");
    (void)state;
    assert_string_equal(words, "a\\x1b[31m\\u202eb ()");
    g_free(words);
    words = text_lines("a\tb\nc\rd");
    assert_string_equal(words, "a\tb\nc\\rd");
    g_free(words);
}

/* ---- slices, variables, breakpoints, memory ---- */

static void a_slice_knows_its_lines_and_dependences(void **state)
{
    struct value *v = json(
        "{\"number\":1,\"kind\":\"backward\",\"criterion\":{\"what\":\"sum\",\"file\":\"/p/w.c\",\"line\":28},"
        "\"instructions\":12345,\"total\":9,\"executed_lines\":2,\"threads\":2,\"lines\":["
        "{\"position\":\"T1:2:3\",\"thread\":1,\"file\":\"/p/w.c\",\"line\":18,\"text\":\"sum += x;\","
        "\"kind\":\"data\",\"what\":\"sum\"},"
        "{\"position\":\"T2:2:3\",\"thread\":2,\"file\":\"/p/w.c\",\"line\":18,\"rank\":1}],"
        "\"findings\":[{\"kind\":\"stale\",\"text\":\"a\"},{\"kind\":\"lost\",\"text\":\"b\\u001b\"}],"
        "\"story\":[{\"position\":\"T2:2:3\",\"thread\":2,\"file\":\"/p/w.c\",\"line\":18}],"
        "\"dependences\":[{\"of\":1,\"position\":\"T1:1:1\",\"thread\":1,\"file\":\"/p/w.c\",\"line\":11,"
        "\"kind\":\"data\",\"what\":\"x\",\"race\":\"race\",\"count\":8},{\"of\":7}]}");
    struct slice *s = slice_new(v);
    (void)state;
    assert_string_equal(s->title, "sum at w.c:28");
    GPtrArray *rows = slice_at(s, "/p/w.c", 18);
    assert_int_equal(rows->len, 2);
    const struct slice_row *second = g_ptr_array_index(rows, 1);
    assert_int_equal(second->dependences->len, 1);
    assert_int_equal(second->rank, 1);
    assert_int_equal(((const struct slice_row *)g_ptr_array_index(rows, 0))->rank, 0);
    assert_int_equal(s->story->len, 1);
    assert_int_equal(((const struct slice_row *)g_ptr_array_index(s->story, 0))->rank, 1);
    assert_true(g_str_has_prefix(s->findings, "stale: a\nlost: b"));
    assert_null(strchr(s->findings, '\033'));
    char *words = slice_dependence_words(g_ptr_array_index(second->dependences, 0));
    assert_string_equal(words, "T1 w.c:11, x: data, race, 8 times");
    g_free(words);
    g_ptr_array_unref(rows);
    rows = slice_at(s, "/q/w.c", 18); /* another file of that name */
    assert_int_equal(rows->len, 0);
    g_ptr_array_unref(rows);
    slice_free(s);
    value_free(v);
    v = json("{\"lines\":[]}");
    assert_null(slice_new(v));
    value_free(v);
}

static void knows_how_many_elements_an_array_has(void **state)
{
    (void)state;
    assert_int_equal(variables_elements("char [100001]"), 100001);
    assert_int_equal(variables_elements("int *[300][2]"), 300);
    assert_int_equal(variables_elements("int (*)[300]"), 0);
    assert_int_equal(variables_elements("std::array<int [9], 2>"), 0);
    assert_int_equal(variables_elements("int"), 0);
    assert_int_equal(variables_elements(NULL), 0);
}

static void marks_variables_that_changed(void **state)
{
    struct value *a =
        json("{\"variables\":[{\"name\":\"i\",\"value\":\"1\"},{\"name\":\"j\",\"value\":\"1\"},"
             "{\"name\":\"__func__\",\"value\":\"x\"}]}");
    struct value *b =
        json("{\"variables\":[{\"name\":\"i\",\"value\":\"2\"},{\"name\":\"j\",\"value\":\"1\"}]}");
    struct value *types = json(
        "{\"variables\":[{\"name\":\"i\",\"type\":\"int\"},{\"name\":\"j\",\"type\":\"struct s *\"}]}");
    struct variables v;
    (void)state;
    variables_init(&v);
    variables_take(&v, "f 1", a, NULL);
    assert_int_equal(v.list->len, 2);
    variables_take(&v, "f 1", b, types);
    assert_true(((struct variable *)g_ptr_array_index(v.list, 0))->changed);
    assert_false(((struct variable *)g_ptr_array_index(v.list, 0))->has_parts);
    assert_false(((struct variable *)g_ptr_array_index(v.list, 1))->changed);
    assert_true(((struct variable *)g_ptr_array_index(v.list, 1))->has_parts);
    variables_take(&v, "g 1", a, NULL); /* another function's */
    assert_false(((struct variable *)g_ptr_array_index(v.list, 0))->changed);
    variables_deinit(&v);
    value_free(a);
    value_free(b);
    value_free(types);
}

static void breakpoints_can_be_made_again(void **state)
{
    struct mi_record *r = mi_parse(
        "^done,BreakpointTable={nr_rows=\"1\",hdr=[],body=[bkpt={number=\"1\",type=\"breakpoint\",disp=\"keep\",enabled=\"n\","
        "func=\"f\",file=\"a.c\",fullname=\"/p/a b.c\",line=\"7\",cond=\"x == \\\"y\\\"\",times=\"3\"}]}");
    GPtrArray *all = breakpoints_new(r->results);
    (void)state;
    assert_int_equal(all->len, 1);
    const struct breakpoint *b = breakpoints_at(all, "/p/a b.c", 7);
    assert_ptr_equal(b, g_ptr_array_index(all, 0));
    assert_null(breakpoints_at(all, "/p/a b.c", 8));
    assert_false(b->enabled);
    assert_int_equal(b->hits, 3);
    char *command = breakpoint_command(b);
    assert_string_equal(command,
                        "-break-insert -d -c \"x == \\\"y\\\"\" --source \"/p/a b.c\" --line 7");
    g_free(command);
    g_ptr_array_unref(all);
    mi_free(r);
}

static void memory_is_rows_of_bytes(void **state)
{
    struct value *a = json(
        "{\"memory\":[{\"begin\":\"0x1000\",\"contents\":\"48656c6c6f0a000102030405060708094a\"}]}");
    struct value *b = json(
        "{\"memory\":[{\"begin\":\"0x1000\",\"contents\":\"48656c6c6f0a000102030405060708094b\"}]}");
    GArray *rows = memory_rows(a, NULL), *again = memory_rows(b, rows);
    const struct memory_row *first = &g_array_index(rows, struct memory_row, 0);
    (void)state;
    assert_int_equal(rows->len, 2);
    assert_string_equal(first->hex, "48 65 6c 6c 6f 0a 00 01  02 03 04 05 06 07 08 09");
    assert_string_equal(first->text, "Hello...........");
    assert_false(g_array_index(again, struct memory_row, 0).changed);
    assert_true(g_array_index(again, struct memory_row, 1).changed);
    assert_int_equal(g_array_index(again, struct memory_row, 1).address, 0x1010);
    g_array_unref(rows);
    g_array_unref(again);
    value_free(a);
    value_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_leads_to_a_name),
        cmocka_unit_test(leaves_out_words_numbers_and_calls),
        cmocka_unit_test(turns_positions_into_ticks),
        cmocka_unit_test(draws_each_tick_once),
        cmocka_unit_test(marks_are_rectangles_with_words),
        cmocka_unit_test(tells_where_it_stopped),
        cmocka_unit_test(text_of_a_stranger_is_made_safe),
        cmocka_unit_test(a_slice_knows_its_lines_and_dependences),
        cmocka_unit_test(marks_variables_that_changed),
        cmocka_unit_test(knows_how_many_elements_an_array_has),
        cmocka_unit_test(breakpoints_can_be_made_again),
        cmocka_unit_test(memory_is_rows_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
