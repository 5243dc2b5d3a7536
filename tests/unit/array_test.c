/* array_test.c - base/array.h, also where there is no memory. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>

static size_t reallocs,
    allowed = SIZE_MAX; /* how many there were, and after how many none is left */

static void *scarce_realloc(void *at, size_t bytes)
{
    return reallocs++ < allowed ? realloc(at, bytes) : NULL;
}

#define realloc scarce_realloc
#include "base/array.h"
#undef realloc

#include "tests/unit/unit.h"

struct pair {
    uint64_t a;
    uint8_t b;
};

static void setup_memory(size_t calls)
{
    reallocs = 0;
    allowed = calls;
}

static void pushes_in_order_and_doubles(void **state)
{
    struct pair *list = NULL;
    size_t room = 0;
    uint32_t count = 0; /* any type */

    (void)state;
    setup_memory(SIZE_MAX);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal(array_push(&list, &count, &room, (struct pair){i * 7ull, (uint8_t)i}), 0);
    assert_int_equal(count, 100000);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(list[i].a, i * 7ull);
        assert_int_equal(list[i].b, (uint8_t)i);
    }
    assert_int_equal(room, 131072);
    assert_int_equal(reallocs, 14); /* 16, 32, ... */
    free(list);
}

static void appends_without_a_room(void **state)
{
    uint64_t *list = NULL;
    size_t count = 0;

    (void)state;
    setup_memory(SIZE_MAX);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(array_append(&list, &count, i * 3ull), 0);
    assert_int_equal(reallocs, 11); /* 1, 2, 4, ... 1024 */
    count = 300;
    while (count < 5000)
        assert_int_equal(array_append(&list, &count, count * 3ull), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(list[i], i * 3ull);
    free(list);
}

static void reserves_what_is_needed_at_once(void **state)
{
    uint16_t *list = NULL;
    size_t room = 0;

    (void)state;
    setup_memory(SIZE_MAX);
    assert_int_equal(array_reserve(&list, &room, room), 0);
    assert_null(list);
    assert_int_equal(array_reserve(&list, &room, 1000), 0);
    assert_int_equal(room, 1000);
    memset(list, 1, room * sizeof *list);
    assert_int_equal(array_reserve(&list, &room, 1000), 0);
    assert_int_equal(reallocs, 1);
    assert_int_equal(array_reserve(&list, &room, 1001), 0);
    assert_int_equal(room, 2000);
    memset(list, 1, room * sizeof *list);
    free(list);
}

static void leaves_an_array_alone_without_memory(void **state)
{
    (void)state;
    for (size_t calls = 0; calls < 8; calls++) {
        struct pair *list = NULL, *was;
        size_t count = 0, room = 0, had;

        setup_memory(calls);
        do {
            was = list;
            had = room;
        } while (array_push(&list, &count, &room, (struct pair){count, 1}) == 0);
        assert_int_equal(count, calls ? 8u << calls : 0); /* full */
        assert_ptr_equal(list, was);
        assert_int_equal(room, had);
        setup_memory(SIZE_MAX);
        assert_int_equal(array_push(&list, &count, &room, (struct pair){count, 1}), 0);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(list[i].a, i);
        free(list);
    }
}

static void refuses_an_append_without_memory(void **state)
{
    uint64_t *list = NULL;
    size_t count = 0;

    (void)state;
    setup_memory(3);
    while (array_append(&list, &count, 5) == 0)
        ;
    assert_int_equal(count, 4);
    assert_int_equal(list[3], 5);
    free(list);
}

static void refuses_more_than_can_be_counted(void **state)
{
    struct pair *list = NULL;
    size_t room = 0, huge = SIZE_MAX / 2 + 1;

    (void)state;
    setup_memory(SIZE_MAX);
    assert_int_equal(array_reserve(&list, &room, SIZE_MAX), -1);
    assert_int_equal(array_reserve(&list, &room, SIZE_MAX / sizeof *list + 1), -1);
    assert_int_equal(room, 0);
    room = huge; /* twice as much is nothing */
    assert_int_equal(array_reserve(&list, &room, huge + 1), -1);
    assert_int_equal(room, huge);
    assert_int_equal(array_append(&list, &huge, (struct pair){0}), -1);
    assert_int_equal(reallocs, 0);
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_in_order_and_doubles),
        cmocka_unit_test(appends_without_a_room),
        cmocka_unit_test(reserves_what_is_needed_at_once),
        cmocka_unit_test(leaves_an_array_alone_without_memory),
        cmocka_unit_test(refuses_an_append_without_memory),
        cmocka_unit_test(refuses_more_than_can_be_counted),
    };
    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
