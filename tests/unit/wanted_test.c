/* wanted_test.c - slicer/walk/wanted.h against an array of bytes. SPDX-License-Identifier: MIT */
#include "slicer/walk/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

enum { SPAN = 5 << WANTED_SHIFT, TURNS = 20000 };

static const gaddr base = 0x7ffffff7d000; /* of the array */
static bool model[SPAN];
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

/* Mostly a few bytes, sometimes pages, sometimes all. */
static void draw_range(uint64_t *at, uint64_t *bytes)
{
    static const uint64_t most[] = {8, 8, 8, 64, 300, 3 << WANTED_SHIFT};
    *at = draw(SPAN);
    *bytes = draw(most[draw(sizeof most / sizeof *most)] + 1);
    if (*bytes > SPAN - *at)
        *bytes = SPAN - *at;
}

static bool model_any(uint64_t at, uint64_t bytes)
{
    return bytes && memchr(&model[at], true, bytes);
}

static void move(struct wanted *w, uint64_t at, uint64_t bytes)
{
    bool ok = true, was[SPAN];
    uint64_t to = draw(SPAN - bytes + 1);
    assert_int_equal(wanted_move(w, base + at, bytes, base + to, &ok), model_any(at, bytes));
    assert_true(ok);
    memcpy(was, &model[at], bytes);
    memset(&model[at], 0, bytes);
    for (uint64_t i = 0; i < bytes; i++)
        model[to + i] |= was[i];
}

static void agrees_with_an_array(void **state)
{
    (void)state;
    for (seed = 1; seed < 6; seed++) {
        struct wanted w = {0};
        uint64_t start = seed, at, bytes;
        memset(model, 0, sizeof model);
        for (int i = 0; i < TURNS; i++) {
            draw_range(&at, &bytes);
            switch (draw(6)) {
            case 0:
            case 1:
                assert_true(wanted_add(&w, base + at, bytes));
                memset(&model[at], true, bytes);
                break;
            case 2:
            case 3:
                assert_int_equal(wanted_take(&w, base + at, bytes), model_any(at, bytes));
                memset(&model[at], 0, bytes);
                break;
            case 4:
                move(&w, at, bytes);
                break;
            default:
                assert_int_equal(wanted_any(&w, base + at, bytes), model_any(at, bytes));
            }
            assert_int_equal(w.live != 0, model_any(0, SPAN));
        }
        for (uint64_t i = 0; i < SPAN; i++)
            assert_int_equal(wanted_any(&w, base + i, 1), model[i]);
        wanted_deinit(&w);
        seed = start;
    }
}

/* More pages than anything was ever wanted in. */
static void large_ranges(void **state)
{
    struct wanted w = {0};
    const uint64_t huge = 1ull << 46;
    (void)state;
    assert_true(wanted_add(&w, base + 5, 70));
    assert_false(wanted_any(&w, base + 75, huge));
    assert_false(wanted_any(&w, base - huge, huge + 5));
    assert_true(wanted_any(&w, base - huge, huge + 6));
    assert_true(wanted_any(&w, base + 74, huge));
    assert_true(wanted_take(&w, base + 10, huge));
    assert_true(wanted_any(&w, base + 9, 1));
    assert_false(wanted_any(&w, base + 10, huge));
    bool ok = true;
    assert_true(wanted_move(&w, base - huge, 2 * huge, 0x1000, &ok));
    assert_true(ok && wanted_any(&w, 0x1000 + huge + 5, 1) && !wanted_any(&w, base, 4096));
    assert_true(wanted_take(&w, 0, 2 * huge));
    assert_int_equal(w.live, 0);
    wanted_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(large_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
