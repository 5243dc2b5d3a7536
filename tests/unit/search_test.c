/* search_test.c - base/search.h. SPDX-License-Identifier: MIT */
#include "base/search.h"

#include "tests/unit/unit.h"

struct row {
    uint8_t before;
    uint64_t key;
    uint32_t behind;
};

enum { ROWS = 40 };

/* Keys 3, 3, 6, 6, ..., so that some are there twice and some are missing. */
static void make(struct row *row)
{
    for (uint32_t i = 0; i < ROWS; i++)
        row[i] = (struct row){0xff, 3 * (i / 2 + 1), ~0u};
}

static void agrees_with_counting(void **state)
{
    struct row row[ROWS];

    (void)state;
    make(row);
    for (size_t rows = 0; rows <= ROWS; rows++)
        for (uint64_t key = 0; key < 2 * ROWS; key++) {
            size_t upto = 0, below = 0;
            for (size_t i = 0; i < rows; i++) {
                upto += row[i].key <= key;
                below += row[i].key < key;
            }
            assert_int_equal(search_upto(row, rows, key, key), upto);
            assert_int_equal(search_below(row, rows, key, key), below);
        }
}

static void finds_the_largest_key(void **state)
{
    const struct row row[] = {{.key = 0}, {.key = UINT64_MAX}};

    (void)state;
    assert_int_equal(search_upto(row, 2, key, 0), 1);
    assert_int_equal(search_upto(row, 2, key, UINT64_MAX), 2);
    assert_int_equal(search_below(row, 2, key, UINT64_MAX), 1);
}

static void finds_nothing_in_nothing(void **state)
{
    const struct row *none = NULL;

    (void)state;
    assert_int_equal(search_upto(none, 0, key, 7), 0);
    assert_int_equal(search_below(none, 0, key, 7), 0);
}

static void finds_by_any_order(void **state)
{
    static const uint32_t odd[] = {9, 7, 5, 3, 1}; /* sorted downwards */

    (void)state;
    for (uint32_t key = 0; key < 10; key++)
        assert_int_equal(search_first(5, i, odd[i] > key), 5 - (key + 1) / 2);
    assert_int_equal(search_first(5, i, odd[i] > 0), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_counting),
        cmocka_unit_test(finds_the_largest_key),
        cmocka_unit_test(finds_nothing_in_nothing),
        cmocka_unit_test(finds_by_any_order),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
