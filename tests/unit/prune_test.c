/* prune_test.c - slicer/walk/prune.c: what is left of a use, against asking for each byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include "slicer/walk/prune.h"

#include "tests/unit/unit.h"

enum { ITEMS = 12, ROUNDS = 3000, USES = 20, CODE = 40, MEMORY = 64, CFA = 32 };

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

static struct slice_prune draw_item(void)
{
    struct slice_prune x = {
        .kind = (enum slice_prune_kind)draw(3), .addr = draw(MEMORY), .bytes = 1 + draw(12)};
    if (x.kind == SLICE_PRUNE_FRAME)
        x.addr -= CFA; /* below it, too */
    if (x.kind == SLICE_PRUNE_FRAME || draw(2)) {
        x.from = 1 + draw(CODE);
        x.to = x.from + 1 + draw(12);
    }
    return x;
}

/* The definition. */
static bool is_pruned(const struct slice_prune *item, size_t items, const struct prune_user *by,
                      bool memory, uint64_t at)
{
    for (size_t i = 0; i < items; i++) {
        const struct slice_prune *x = &item[i];
        bool frame = x->kind == SLICE_PRUNE_FRAME;
        bool here = (!x->from && !x->to) || (by->pc >= x->from && by->pc < x->to);
        if (here && memory == (x->kind != SLICE_PRUNE_REGISTER) && (!frame || by->cfa) &&
            at - (x->addr + (frame ? by->cfa : 0)) < x->bytes)
            return true;
    }
    return false;
}

static void leaves_what_no_item_names(void **state)
{
    struct slice_prune item[ITEMS];
    struct err err;
    struct prune p;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct slice_options o = {.prune = item, .prunes = draw(ITEMS + 1)};
        for (size_t i = 0; i < o.prunes; i++)
            item[i] = draw_item();
        assert_int_equal(prune_init(&p, &o, &err), 0);
        for (int use = 0; use < USES; use++) {
            struct prune_user by = {1 + draw(CODE + 12), draw(3) ? 1000 + CFA : 0};
            bool memory = draw(2);
            uint64_t begin = draw(MEMORY) + (memory && by.cfa && draw(2) ? 1000 : 0), count;
            uint64_t end = begin + 1 + draw(MEMORY), done = begin, at = begin;
            for (; prune_next(&p, &by, memory, &at, end, &count); at += count) {
                assert_true(count && at + count <= end);
                for (; done < at; done++)
                    assert_true(is_pruned(item, o.prunes, &by, memory, done));
                for (; done < at + count; done++)
                    assert_false(is_pruned(item, o.prunes, &by, memory, done));
            }
            for (; done < end; done++)
                assert_true(is_pruned(item, o.prunes, &by, memory, done));
        }
        prune_deinit(&p);
    }
}

static void nothing_is_pruned_without_items(void **state)
{
    struct slice_options o = {.prunes = 0};
    struct prune_user by = {1, 0};
    struct err err;
    struct prune p;
    uint64_t at = 5, count;

    (void)state;
    assert_int_equal(prune_init(&p, &o, &err), 0);
    assert_true(prune_next(&p, &by, true, &at, 9, &count));
    assert_int_equal(at, 5);
    assert_int_equal(count, 4);
    at = 9;
    assert_false(prune_next(&p, &by, true, &at, 9, &count));
    prune_deinit(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_what_no_item_names),
        cmocka_unit_test(nothing_is_pruned_without_items),
    };

    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
