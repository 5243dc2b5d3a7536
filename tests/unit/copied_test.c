/* copied_test.c - trace/copied.h against the processor. SPDX-License-Identifier: MIT
 *
 * Each byte of a piece of memory is given a number of its own; what a rep movs makes of them tells
 * where its bytes came from.
 */
#include "trace/copied.h"

#include <string.h>

#include "tests/unit/unit.h"

enum { SOURCE = 96, SPAN = 256, FARTHEST = 40, COUNTS = 7 };

static uint8_t memory[SPAN];

#define MOVS(size)                                                                                 \
    if (c->down)                                                                                   \
        __asm__ volatile("std\n\trep movs" size "\n\tcld"                                          \
                         : "+D"(to), "+S"(from), "+c"(n)::"memory", "cc");                         \
    else                                                                                           \
        __asm__ volatile("rep movs" size : "+D"(to), "+S"(from), "+c"(n)::"memory", "cc")

static void copy(const struct copied *c)
{
    uint64_t n = c->bytes / c->element, skip = c->down ? c->bytes - c->element : 0;
    uint8_t *to = memory + c->to + skip, *from = memory + c->from + skip;
    switch (c->element) {
    case 1:
        MOVS("b");
        break;
    case 2:
        MOVS("w");
        break;
    case 4:
        MOVS("l");
        break;
    default:
        MOVS("q");
        break;
    }
}

/* Of the bytes of the source, those are used that some byte is, and copied_next() tells them. */
static void check_uses(const struct copied *c, const bool *used)
{
    bool told[SPAN] = {false};
    uint64_t at = 0, count;
    for (; copied_next(c, &at, &count); at += count) {
        assert_true(count && at + count <= c->bytes);
        memset(told + at, true, count);
    }
    for (uint64_t k = 0; k < c->bytes; k++)
        assert_int_equal(told[k], used[k]);
}

static void check(const struct copied *c)
{
    bool used[SPAN] = {false};
    for (unsigned i = 0; i < SPAN; i++)
        memory[i] = (uint8_t)i;
    copy(c);
    for (uint64_t k = 0; k < c->bytes; k++) {
        uint64_t origin = copied_origin(c, k);
        assert_true(origin < c->bytes);
        assert_int_equal(memory[c->to + k], c->from + origin);
        used[origin] = true;
        assert_true(origin == k || copied_overlaps(c));
    }
    check_uses(c, used);
}

static void is_as_executed(void **state)
{
    (void)state;
    for (unsigned element = 1; element <= 8; element *= 2)
        for (uint64_t n = 0; n <= COUNTS; n++)
            for (int distance = -FARTHEST; distance <= FARTHEST; distance++)
                for (int down = 0; down < 2; down++) {
                    struct copied c = {.to = (gaddr)(SOURCE + distance),
                                       .from = SOURCE,
                                       .bytes = n * element,
                                       .element = element,
                                       .down = down};
                    check(&c);
                }
}

/* Copies of more bytes than distances, so that a pattern is repeated often. */
static void repeats_patterns(void **state)
{
    (void)state;
    for (unsigned element = 1; element <= 8; element *= 2)
        for (int distance = -20; distance <= 20; distance++)
            for (int down = 0; down < 2; down++) {
                struct copied c = {.to = (gaddr)(SOURCE + distance),
                                   .from = SOURCE,
                                   .bytes = 120,
                                   .element = element,
                                   .down = down};
                check(&c);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_as_executed),
        cmocka_unit_test(repeats_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
