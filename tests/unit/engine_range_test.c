/* engine_range_test.c - engine/rt/range.h, with real mappings. SPDX-License-Identifier: MIT
 *
 * The ranges are global and only grow, so the tests run in order, in one process.
 */
#define _GNU_SOURCE
#include "engine/rt/range.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/unit/unit.h"

enum { HOLE = 256 << 20 };

static gaddr base; /* "the runtime": one page at the upper end of a hole */

static int make_base(void **state)
{
    (void)state;
    uint8_t *p = mmap(NULL, HOLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -1;
    munmap(p, HOLE);
    base = (gaddr)p + HOLE - (1 << 20);
    range_init(base, PAGE_BYTES);
    return 0;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

static void knows_its_own_range_first(void **state)
{
    const struct range *r;

    (void)state;
    assert_int_equal(range_list(&r), 1);
    assert_int_equal(r->start, base);
    assert_int_equal(r->end, base + PAGE_BYTES);
    assert_true(range_overlaps(base, base + 1));
    assert_true(range_overlaps(base + PAGE_BYTES - 1, base + 2 * PAGE_BYTES));
    assert_false(range_overlaps(base + PAGE_BYTES, base + 2 * PAGE_BYTES));
    assert_false(range_overlaps(base - 1, base));
}

static void allocates_zeroed_memory_near_the_runtime(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        size_t n = (size_t)i * 5000 + 1;
        uint8_t *p = range_alloc(n);
        assert_true(is_zero(p, n));
        memset(p, 0xaa, n);
        assert_int_equal((gaddr)p % PAGE_BYTES, 0);
        assert_true((gaddr)p < base && base - (gaddr)p < 1ull << 31);
        assert_true(range_overlaps((gaddr)p, (gaddr)p + n));
    }
}

static void does_not_take_mapped_addresses(void **state)
{
    const size_t n = 1 << 20;

    (void)state;
    uint8_t *first = range_alloc(n), *in_the_way = first - 8 * n;
    void *p = mmap(in_the_way, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(p, in_the_way);
    in_the_way[5] = 1;
    for (int i = 0; i < 16; i++) {
        uint8_t *q = range_alloc(n);
        assert_true(q + n <= in_the_way || q >= in_the_way + n);
    }
    assert_int_equal(in_the_way[5], 1);
    assert_false(range_overlaps((gaddr)in_the_way, (gaddr)in_the_way + n));
    munmap(in_the_way, n);
}

static void forgets_what_is_freed(void **state)
{
    const size_t n = 64 << 10;

    (void)state;
    uint8_t *a = range_alloc(n), *b = range_alloc(n), *c = range_alloc(n);
    range_free(b, n);
    assert_false(range_overlaps((gaddr)b, (gaddr)b + n));
    assert_true(range_overlaps((gaddr)a, (gaddr)a + n));
    assert_true(range_overlaps((gaddr)c, (gaddr)c + n));
    assert_int_equal(mincore(b, n, (unsigned char[16]){0}), -1); /* not mapped any more */
    range_free(c, n);
    range_free(a, n);
    assert_false(range_overlaps((gaddr)c, (gaddr)a + n));
}

static void frees_the_middle_of_a_range(void **state)
{
    const size_t n = 64 << 10;

    (void)state;
    uint8_t *p = range_alloc(3 * n);
    range_free(p + n, n);
    assert_true(range_overlaps((gaddr)p, (gaddr)p + n));
    assert_false(range_overlaps((gaddr)p + n, (gaddr)p + 2 * n));
    assert_true(range_overlaps((gaddr)p + 2 * n, (gaddr)p + 3 * n));
    p[0] = p[3 * n - 1] = 1;
}

static void places_code_close_below_an_address(void **state)
{
    const size_t n = 1 << 20;

    (void)state;
    gaddr near = base - (128 << 20);
    uint8_t *p = range_alloc_near(near, n, true);
    assert_non_null(p);
    assert_true((gaddr)p < near && near - (gaddr)p < 1800ull << 20);
    p[0] = 0xc3;
    ((void (*)(void))(uintptr_t)p)(); /* it is executable */
    assert_null(range_alloc_near(0x400000, n, true));
}

static void heap_objects_are_zeroed_and_aligned(void **state)
{
    uint8_t *before = NULL;

    (void)state;
    for (size_t n = 1; n < 3000; n += 7) {
        uint8_t *p = range_heap(n);
        assert_int_equal((gaddr)p % 16, 0);
        assert_true(is_zero(p, n));
        memset(p, 0xff, n);
        assert_ptr_not_equal(p, before);
        before = p;
    }
    assert_true(is_zero(range_heap(3 << 20), 3 << 20));
}

static void keeps_few_ranges_for_many_allocations(void **state)
{
    const struct range *r;
    size_t before = range_list(&r);

    (void)state;
    for (int i = 0; i < 300; i++)
        range_alloc(64 << 10);
    assert_true(range_list(&r) <= before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_own_range_first),
        cmocka_unit_test(allocates_zeroed_memory_near_the_runtime),
        cmocka_unit_test(does_not_take_mapped_addresses),
        cmocka_unit_test(forgets_what_is_freed),
        cmocka_unit_test(frees_the_middle_of_a_range),
        cmocka_unit_test(places_code_close_below_an_address),
        cmocka_unit_test(heap_objects_are_zeroed_and_aligned),
        cmocka_unit_test(keeps_few_ranges_for_many_allocations),
    };
    return cmocka_run_group_tests(tests, make_base, NULL);
}
