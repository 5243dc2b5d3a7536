/* order_pattern_test.c - kinds and sentences of patterns. SPDX-License-Identifier: MIT */
#include "facts/order/pattern.h"

#include <string.h>

#include "tests/unit/unit.h"

#define R(number, place)                                                                           \
    {                                                                                              \
        .thread = (number), .line = (place)                                                        \
    }
#define W(number, place)                                                                           \
    {                                                                                              \
        .thread = (number), .line = (place), .write = true                                         \
    }

static struct pattern_case of(struct pattern_access a, struct pattern_access b,
                              struct pattern_access c)
{
    return (struct pattern_case){.access = {a, b, c},
                                 .accesses = 3,
                                 .variable = "total",
                                 .unordered = true,
                                 .one_frame = true};
}

static void an_update_is_lost_if_it_was_made_from_the_value_before(void **state)
{
    struct pattern_access r = R(2, "a.c:1"), w1 = W(3, "a.c:2"), w2 = W(2, "a.c:3");
    struct pattern_case c = of(r, w1, w2);
    char text[256];
    (void)state;
    c.updates = true;
    assert_int_equal(pattern_find(&c, text, sizeof text), PATTERN_LOST_UPDATE);
    assert_string_equal(text, "T2 read total at a.c:1, T3 wrote it at a.c:2, and T2 wrote it at "
                              "a.c:3, made from what it had read: what T3 wrote is lost");
    c.updates = false;
    assert_int_equal(pattern_find(&c, text, sizeof text), PATTERN_RWW);
    assert_string_equal(pattern_name(PATTERN_RWW), "atomicity violation");
}

static void values_are_named_where_they_are_known(void **state)
{
    struct pattern_access r = {.thread = 2, .value = "4"}, w1 = W(3, NULL), w2 = W(2, NULL);
    struct pattern_case c = of(r, w1, w2);
    char text[256];
    (void)state;
    c.updates = true;
    w2.value = "5";
    c.access[2] = w2;
    pattern_find(&c, text, sizeof text);
    assert_memory_equal(text, "T2 read 4 from total, T3 wrote it, and T2 wrote 5 to it, ", 57);
}

static void accesses_of_one_frame_are_not_atomic(void **state)
{
    struct pattern_access r = R(2, NULL), w = W(2, NULL), other_r = R(3, NULL),
                          other_w = W(3, NULL);
    struct pattern_case rwr = of(r, other_w, r), wwr = of(w, other_w, r), wrw = of(w, other_r, w);
    (void)state;
    assert_int_equal(pattern_find(&rwr, NULL, 0), PATTERN_RWR);
    assert_int_equal(pattern_find(&wwr, NULL, 0), PATTERN_WWR);
    assert_int_equal(pattern_find(&wrw, NULL, 0), PATTERN_WRW);
    rwr.one_frame = wwr.unordered = false;
    assert_int_equal(pattern_find(&rwr, NULL, 0), PATTERN_NONE);
    assert_int_equal(pattern_find(&wwr, NULL, 0), PATTERN_NONE);
    struct pattern_case one_thread = of(r, w, r), readers = of(r, other_r, r);
    assert_int_equal(pattern_find(&one_thread, NULL, 0), PATTERN_NONE);
    assert_int_equal(pattern_find(&readers, NULL, 0), PATTERN_NONE);
}

static void two_variables_belong_together(void **state)
{
    struct pattern_access x = {.thread = 2, .value = "3"}, y = {.thread = 2, .other = true};
    struct pattern_access new_x = W(3, "a.c:7"),
                          new_y = {.thread = 3, .write = true, .other = true};
    struct pattern_case c = {.access = {x, new_x, new_y, y},
                             .accesses = 4,
                             .variable = "length",
                             .other = "words",
                             .unordered = true,
                             .one_frame = true};
    char text[256];
    (void)state;
    assert_int_equal(pattern_find(&c, text, sizeof text), PATTERN_TOGETHER);
    assert_string_equal(text, "T2 read 3 from length, T3 wrote length at a.c:7 and T3 wrote words, "
                              "and T2 read words: it put an old length and a new words together");
    c.access[1].write = false; /* each writes one of them: something was handed over */
    c.access[0].write = true;
    assert_int_equal(pattern_find(&c, NULL, 0), PATTERN_NONE);
    c.access[3].write = true;
    c.access[2].write = false;
    assert_int_equal(pattern_find(&c, NULL, 0), PATTERN_TOGETHER);
    c.access[3].other = false;
    assert_int_equal(pattern_find(&c, NULL, 0), PATTERN_NONE);
}

static void order_and_fetches(void **state)
{
    struct pattern_access r = R(2, "a.c:1"), w = W(3, "a.c:2");
    struct pattern_case early = {
        .access = {r, w}, .accesses = 2, .variable = "p", .unordered = true, .unset = true};
    struct pattern_case twice = of(w, r, r);
    char text[256];
    (void)state;
    assert_int_equal(pattern_find(&early, text, sizeof text), PATTERN_UNSET);
    assert_string_equal(text, "T2 read p at a.c:1 before it was set: T3 wrote it at a.c:2");
    early.unset = false;
    assert_int_equal(pattern_find(&early, text, sizeof text), PATTERN_NONE);
    assert_string_equal(text, "");
    assert_int_equal(pattern_find(&twice, NULL, 0), PATTERN_DOUBLE_FETCH);
}

static void long_sentences_are_cut(void **state)
{
    struct pattern_access r = R(2, "a.c:1"), w = W(3, "a.c:2");
    struct pattern_case c = of(r, w, r);
    char text[12];
    (void)state;
    pattern_find(&c, text, sizeof text);
    assert_string_equal(text, "T2 read tot");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_is_lost_if_it_was_made_from_the_value_before),
        cmocka_unit_test(values_are_named_where_they_are_known),
        cmocka_unit_test(accesses_of_one_frame_are_not_atomic),
        cmocka_unit_test(two_variables_belong_together),
        cmocka_unit_test(order_and_fetches),
        cmocka_unit_test(long_sentences_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
