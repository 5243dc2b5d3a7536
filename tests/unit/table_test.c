/* table_test.c - base/table.h against a list that is searched. SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

static bool scarce; /* there is no memory */

static void *scarce_calloc(size_t count, size_t bytes)
{
    return scarce ? NULL : calloc(count, bytes);
}

#define calloc scarce_calloc
#include "base/table.h"
#undef calloc

#include "tests/unit/unit.h"

enum { KEYS = 3000, TURNS = 30000 };

struct one {
    uint64_t key;
    uint8_t value;
};

struct two {
    uint64_t first, second;
    uint32_t value;
};

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

/* Small numbers, pages, words of a stack, and such that differ in their upper bits alone. */
static uint64_t key_of(unsigned kind, uint64_t n)
{
    const uint64_t kinds[] = {n + 1, 0x7ffff7d00000 + n * 4096, 0x7fffffffe000 - n * 8,
                              (n + 1) << 40};
    return kinds[kind];
}

static void finds_what_was_put_in(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        TABLE(struct one) t = {0};
        static uint8_t model[KEYS];
        size_t there = 0;

        seed = kind;
        memset(model, 0, sizeof model);
        assert_int_equal(table_reserve(&t), 0);
        for (unsigned i = 0; i < TURNS; i++) {
            const uint64_t n = draw(KEYS), key = key_of(kind, n);
            struct one *slot = table_find(&t, key);
            assert_int_equal(slot->key, model[n] ? key : 0);
            assert_int_equal(slot->value, model[n]);
            if (draw(3))
                continue;
            assert_int_equal(table_reserve(&t), 0);
            slot = table_find(&t, key);
            there += !slot->key;
            t.used += !slot->key;
            *slot = (struct one){key, model[n] = (uint8_t)(1 + draw(255))};
        }
        assert_int_equal(t.used, there);
        assert_true(there > KEYS / 2 && 2 * t.used <= t.room && 8 * t.used > t.room);
        free(t.slot);
    }
}

static void tells_pairs_apart(void **state)
{
    TABLE(struct two) t = {0};
    static uint32_t model[64][64];

    (void)state;
    seed = 9;
    assert_int_equal(table_reserve_pair(&t), 0);
    for (unsigned i = 0; i < TURNS; i++) {
        const uint64_t a = draw(64), b = draw(64);
        assert_int_equal(table_reserve_pair(&t), 0);
        struct two *slot = table_find_pair(&t, a + 1, b); /* the second word may be 0 */
        assert_int_equal(slot->value, model[a][b]);
        if (slot->first)
            assert_true(slot->first == a + 1 && slot->second == b);
        t.used += !slot->first;
        *slot = (struct two){a + 1, b, model[a][b] = i + 1};
    }
    free(t.slot);
}

static unsigned dropped;

static bool is_odd(const void *slot)
{
    return ((const struct one *)slot)->value & 1;
}

static void drop(void *slot)
{
    assert_true(is_odd(slot));
    dropped++;
}

static void leaves_the_dead_out(void **state)
{
    TABLE(struct one) t = {0};

    (void)state;
    dropped = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        assert_int_equal(table_reserve_words(&t, 1, is_odd, drop), 0);
        *table_find(&t, i) = (struct one){i, i % 100 != 0};
        t.used++;
    }
    assert_int_equal(t.room, 4 * TABLE_FIRST); /* 200 of them live */
    assert_int_equal(dropped, 20000 - t.used);
    for (uint64_t i = 100; i <= 20000; i += 100)
        assert_int_equal(table_find(&t, i)->key, i);
    free(t.slot);
}

static void stays_as_it_is_without_memory(void **state)
{
    TABLE(struct one) t = {0};
    uint64_t i = 1;

    (void)state;
    dropped = 0;
    scarce = true;
    assert_int_equal(table_reserve(&t), -1);
    assert_null(t.slot);
    scarce = false;
    assert_int_equal(table_reserve(&t), 0);
    scarce = true;
    for (; table_reserve_words(&t, 1, is_odd, drop) == 0; i++) {
        *table_find(&t, i) = (struct one){i, 1};
        t.used++;
    }
    assert_int_equal(t.used, TABLE_FIRST / 2);
    assert_int_equal(t.room, TABLE_FIRST);
    assert_int_equal(dropped, 0);
    for (uint64_t k = 1; k < 2 * i; k++)
        assert_int_equal(table_find(&t, k)->key, k < i ? k : 0);
    scarce = false;
    free(t.slot);
}

/* Keys as they come must not end up in one heap: that would make the tables slow. */
static void spreads_keys(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        static uint8_t is[4096], pair[4096];
        unsigned used = 0, pairs = 0;
        memset(is, 0, sizeof is);
        memset(pair, 0, sizeof pair);
        for (uint64_t n = 0; n < 2048; n++) {
            is[hash_word(key_of(kind, n)) % 4096] = 1;
            pair[hash_pair(1 + n / 64, key_of(kind, n % 64)) % 4096] = 1;
        }
        for (unsigned i = 0; i < 4096; i++) {
            used += is[i];
            pairs += pair[i];
        }
        assert_true(used > 1200 && pairs > 1200); /* by chance: 1612 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put_in), cmocka_unit_test(tells_pairs_apart),
        cmocka_unit_test(leaves_the_dead_out),   cmocka_unit_test(stays_as_it_is_without_memory),
        cmocka_unit_test(spreads_keys),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
