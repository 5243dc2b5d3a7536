/* gui_model_test.c - gui/model: what the window knows. SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "gui/link/json.h"
#include "gui/link/mi.h"
#include "gui/model/breakpoints.h"
#include "gui/model/code.h"
#include "gui/model/expression.h"
#include "gui/model/memory.h"
#include "gui/model/program.h"
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

static void finds_functions_that_are_called_or_defined(void **state)
{
    static const char *const cases[][3] = {{"x = shop.sell(name, 1);", "sell", "sell"},
                                           {"double Shop::sell (int count)", "sell", "Shop::sell"},
                                           {"a::b::c(1)", "c(", "a::b::c"},
                                           {"::c(1)", "c(", "c"},
                                           {"x[1]::c(1)", "c(", "c"},
                                           {"if (x)", "if", NULL},
                                           {"total = 1;", "total", NULL},
                                           {"12(", "12", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *line = cases[i][0];
        char *found = function_at(line, (unsigned)(strstr(line, cases[i][1]) - line));
        if (cases[i][2])
            assert_string_equal(found, cases[i][2]);
        else
            assert_null(found);
        g_free(found);
    }
    assert_null(function_at("", 0));
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
    timeline_free(t);
}

enum { TICKS = 3000, LANES = 3 };

/* What each thread does in each tick, counted. */
struct counted {
    bool runs[LANES][TICKS], waits[LANES][TICKS];
};

static struct timeline *random_turns(struct counted *c, unsigned *seed)
{
    struct timeline *t = timeline_new();
    uint64_t now = 0, count[LANES] = {0}, waits_since[LANES] = {0};
    bool waits[LANES] = {false};
    while (now + 40 < TICKS) {
        unsigned lane = (unsigned)rand_r(seed) % LANES, ticks = 1 + (unsigned)rand_r(seed) % 30;
        for (uint64_t i = waits_since[lane]; waits[lane] && i < now; i++)
            c->waits[lane][i] = true;
        for (uint64_t i = now; i < now + ticks; i++)
            c->runs[lane][i] = true;
        timeline_add_turn(t, lane + 1, now, now + ticks, count[lane]);
        count[lane] += ticks;
        now += ticks;
        waits_since[lane] = now;
        if ((waits[lane] = rand_r(seed) % 2))
            timeline_add_wait(t);
    }
    return t;
}

/* The shade of the lane at a column, of the rectangles; 0: there is none. */
static double share_at(const GArray *rects, enum timeline_kind kind, int lane, double x)
{
    for (unsigned i = 0; i < rects->len; i++) {
        const struct timeline_rect *r = &g_array_index(rects, struct timeline_rect, i);
        if (r->kind == kind && r->lane == lane && r->x <= x && x < r->x + r->width)
            return r->share;
    }
    return 0;
}

static double rounded_up(unsigned ticks, unsigned of)
{
    return (double)((ticks * 6 + of - 1) / of) / 6;
}

static void shades_are_the_counted_ticks(void **state)
{
    static struct counted c;
    unsigned seed = 20261119;
    struct timeline *t = random_turns(&c, &seed);
    (void)state;
    for (int round = 0; round < 30; round++) {
        unsigned wide = 1 + (unsigned)rand_r(&seed) % 12, columns = 40;
        unsigned from = (unsigned)rand_r(&seed) % (TICKS - wide * columns);
        GArray *rects = timeline_draw(t, from, from + wide * columns, columns, 60);
        for (unsigned i = 0; i < columns * LANES; i++) {
            unsigned lane = i % LANES, column = i / LANES, runs = 0, waits = 0;
            for (unsigned k = 0; k < wide; k++) {
                runs += c.runs[lane][from + column * wide + k];
                waits += c.waits[lane][from + column * wide + k];
            }
            assert_float_equal(share_at(rects, TIMELINE_RUN, (int)lane, column + 0.5),
                               rounded_up(runs, wide), 1e-9);
            assert_float_equal(share_at(rects, TIMELINE_WAIT, (int)lane, column + 0.5),
                               rounded_up(waits, wide), 1e-9);
        }
        g_array_unref(rects);
    }
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
    for (int i = 0; i < 1000; i++) /* of what falls on one place, one is drawn */
        timeline_add_mark(t, TIMELINE_OUTPUT, 2, 500, "hello again");
    rects = timeline_draw(t, 490, 510, 20, 30);
    unsigned drawn = 0;
    for (unsigned i = 0; i < rects->len; i++)
        drawn += g_array_index(rects, struct timeline_rect, i).kind == TIMELINE_OUTPUT;
    assert_int_equal(drawn, 1);
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
        "func=\"Shop::f(std::vector<int (*)(int)>, int)\",file=\"a\\033.c\",fullname=\"/p/a b.c\",line=\"7\",cond=\"x == \\\"y\\\"\",times=\"3\"}]}");
    GPtrArray *all = breakpoints_new(r->results);
    (void)state;
    assert_int_equal(all->len, 1);
    const struct breakpoint *b = breakpoints_at(all, "/p/a b.c", 7);
    assert_ptr_equal(b, g_ptr_array_index(all, 0));
    assert_null(breakpoints_at(all, "/p/a b.c", 8));
    assert_false(b->enabled);
    assert_int_equal(b->hits, 3);
    assert_string_equal(b->where, "Shop::f () at a\\x1b.c:7");
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

static void memory_is_an_array_of_numbers(void **state)
{
    static const struct {
        const char *type, *first, *second;
        uint64_t at;
    } cases[] = {{"int8", "-1", "-1", 0x1001},
                 {"int16", "-1", "-1", 0x1002},
                 {"int32", "-1", "2143289343", 0x1004},
                 {"int64", "9205357638345293823", "1", 0x1008},
                 {"uint8", "255", "255", 0x1001},
                 {"float", "-nan", "nan", 0x1004},
                 {"double", "2.2471164185778946e+307", "4.9406564584124654e-324", 0x1008},
                 {"pointer", "0x7fbfffffffffffff", "0x1", 0x1008}};
    struct value *v = json("{\"memory\":[{\"begin\":\"0x1000\",\"contents\":"
                           "\"ffffffffffffbf7f0100000000000000ff\"}]}");
    (void)state;
    assert_int_equal(sizeof cases / sizeof *cases, MEMORY_TYPES);
    for (unsigned i = 0; i < MEMORY_TYPES; i++) {
        GArray *numbers = memory_numbers(v, &memory_types[i]);
        const struct memory_number *first = &g_array_index(numbers, struct memory_number, 0),
                                   *second = &g_array_index(numbers, struct memory_number, 1);
        assert_string_equal(memory_types[i].name, cases[i].type);
        assert_int_equal(numbers->len, 17 / memory_types[i].bytes);
        assert_string_equal(first->text, cases[i].first);
        assert_string_equal(second->text, cases[i].second);
        assert_int_equal(second->address, cases[i].at);
        g_array_unref(numbers);
    }
    value_free(v);
}

/* ---- programs that are started ---- */

static void check_argv(const char *command, const char *folder, const char *environment,
                       const char *expected)
{
    struct program p = {g_strdup(command), g_strdup(folder), g_strdup(environment)};
    const char *const verb[] = {"drdebug", "record", "--", NULL};
    struct err err = {0};
    char **argv = program_argv(&p, verb, &err);
    char *joined = argv ? g_strjoinv("|", argv) : g_strdup(err.msg);
    assert_string_equal(joined, expected);
    g_free(joined);
    g_strfreev(argv);
    program_deinit(&p);
}

static void folder_and_environment_are_set_before_the_verb(void **state)
{
    (void)state;
    check_argv("./a 'b c' \"d\\\"e\"", "", "", "drdebug|record|--|./a|b c|d\"e");
    check_argv("./a", "/tmp/x y", "", "env|-C|/tmp/x y|drdebug|record|--|./a");
    check_argv("./a", NULL, "A=1 B='2 3' C=", "env|A=1|B=2 3|C=|drdebug|record|--|./a");
    check_argv("./a -C --", "/", "A=-i", "env|-C|/|A=-i|drdebug|record|--|./a|-C|--");
}

/* No word of it becomes an option of env, or a program. */
static void an_environment_that_is_none_is_refused(void **state)
{
    (void)state;
    check_argv("./a", "", "rm", "rm: the environment is NAME=VALUE, with spaces between");
    check_argv("./a", "", "-S=x", "-S=x: the environment is NAME=VALUE, with spaces between");
    check_argv("./a", "", "=x", "=x: the environment is NAME=VALUE, with spaces between");
    check_argv("  ", "/", "A=1", "No program is named");
    check_argv(NULL, NULL, NULL, "No program is named");
}

static void words_of_a_shell_stay_the_same(void **state)
{
    char *words[] = {"./prog", "", "a b", "it's", "$HOME", "*", "-x=1", NULL};
    const char *const nothing[] = {NULL};
    struct program p = {0};
    struct err err;
    (void)state;
    program_take_words(&p, words);
    assert_non_null(strstr(p.command, "./prog '' 'a b'"));
    g_clear_pointer(&p.folder, g_free);
    char **again = program_argv(&p, nothing, &err);
    assert_true(g_strv_equal((const char *const *)again, (const char *const *)words));
    g_strfreev(again);
    program_deinit(&p);
}

static void recordings_do_not_overwrite_each_other(void **state)
{
    char folder[] = "/tmp/gui_model_XXXXXX";
    (void)state;
    assert_non_null(g_mkdtemp(folder));
    struct program p = {g_strdup("some/where/prog -x"), g_strdup(folder), NULL};
    static const char *const names[] = {"prog.maple.pinball", "prog.maple.1.pinball",
                                        "prog.maple.2.pinball"};
    char *made[3];
    for (int i = 0; i < 3; i++) {
        char *name, *path = made[i] = program_recording(&p, ".maple");
        name = g_path_get_basename(path);
        assert_string_equal(name, names[i]);
        assert_true(g_str_has_prefix(path, folder));
        assert_int_equal(g_mkdir(path, 0700), 0);
        g_free(name);
    }
    for (int i = 0; i < 3; i++) {
        g_rmdir(made[i]);
        g_free(made[i]);
    }
    g_rmdir(folder);
    program_deinit(&p);
    assert_null(program_recording(&p, ""));
}

/* ---- instructions ---- */

static void instructions_are_sorted_and_of_one_line_if_asked(void **state)
{
    struct mi_record *r = mi_parse(
        "1^done,asm_insns=[src_and_asm_line={line=\"7\",line_asm_insn=[{address=\"0x401010\","
        "func-name=\"f\",offset=\"16\",inst=\"ret\\t\"},{address=\"0x401002\",inst=\"nop\"}]},"
        "src_and_asm_line={line=\"8\",line_asm_insn=[{address=\"0x401008\",inst=\"mov\\t%rsp,%rbp\"}]},"
        "src_and_asm_line={line=\"9\",line_asm_insn=[]}]");
    GPtrArray *all = code_new(r->results, 0), *one = code_new(r->results, 7),
              *none = code_new(r->results, 9);
    (void)state;
    const struct instruction *last = g_ptr_array_index(all, 2);
    assert_int_equal(all->len, 3);
    assert_int_equal(((struct instruction *)g_ptr_array_index(all, 1))->address, 0x401008);
    assert_int_equal(((struct instruction *)g_ptr_array_index(all, 1))->line, 8);
    assert_int_equal(last->address, 0x401010);
    assert_string_equal(last->where, "f+16");
    assert_int_equal(one->len, 2);
    assert_int_equal(none->len, 0);
    g_ptr_array_unref(all);
    g_ptr_array_unref(one);
    g_ptr_array_unref(none);
    mi_free(r);
    r = mi_parse(
        "1^done,asm_insns=[{address=\"0x2\",inst=\"hlt\"},{address=\"0x1\",inst=\"nop\"}]");
    all = code_new(r->results, 0); /* without source */
    assert_int_equal(all->len, 2);
    assert_string_equal(((struct instruction *)g_ptr_array_index(all, 0))->text, "nop");
    g_ptr_array_unref(all);
    mi_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_leads_to_a_name),
        cmocka_unit_test(leaves_out_words_numbers_and_calls),
        cmocka_unit_test(finds_functions_that_are_called_or_defined),
        cmocka_unit_test(turns_positions_into_ticks),
        cmocka_unit_test(draws_each_tick_once),
        cmocka_unit_test(shades_are_the_counted_ticks),
        cmocka_unit_test(marks_are_rectangles_with_words),
        cmocka_unit_test(tells_where_it_stopped),
        cmocka_unit_test(text_of_a_stranger_is_made_safe),
        cmocka_unit_test(a_slice_knows_its_lines_and_dependences),
        cmocka_unit_test(marks_variables_that_changed),
        cmocka_unit_test(knows_how_many_elements_an_array_has),
        cmocka_unit_test(breakpoints_can_be_made_again),
        cmocka_unit_test(memory_is_rows_of_bytes),
        cmocka_unit_test(memory_is_an_array_of_numbers),
        cmocka_unit_test(folder_and_environment_are_set_before_the_verb),
        cmocka_unit_test(an_environment_that_is_none_is_refused),
        cmocka_unit_test(words_of_a_shell_stay_the_same),
        cmocka_unit_test(recordings_do_not_overwrite_each_other),
        cmocka_unit_test(instructions_are_sorted_and_of_one_line_if_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
