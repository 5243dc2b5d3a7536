/* sha256_test.c - pinball/sha256.c: the CPU's instructions and plain C give the same sums.
 *
 * SPDX-License-Identifier: MIT
 *
 * Known sums are in pinball_parts_test.c; there only one of the two ways is taken.
 */
#include "pinball/sha256.c"

#include "tests/unit/unit.h"

/* FIPS 180-4's example "abc", padded to its one block. */
static void plain_agrees_with_the_standard(void **state)
{
    uint8_t block[64] = {'a', 'b', 'c', 0x80, [63] = 24};
    struct sha256 sha;

    (void)state;
    sha256_init(&sha);
    compress_plain(sha.state, block, 1);
    assert_int_equal(sha.state[0], 0xba7816bf);
    assert_int_equal(sha.state[7], 0xf20015ad);
}

static void both_ways_agree(void **state)
{
    uint8_t data[17 * 64];
    uint32_t seed = 1;
    struct sha256 plain, fast;

    (void)state;
    if (!has_sha()) {
        print_message("skipped: this CPU has no SHA instructions\n");
        skip();
    }
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
    for (size_t blocks = 0; blocks <= 17; blocks++) {
        sha256_init(&plain);
        sha256_init(&fast);
        compress_plain(plain.state, data, blocks);
        compress_sha(fast.state, data, blocks);
        assert_memory_equal(plain.state, fast.state, sizeof plain.state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_agrees_with_the_standard),
        cmocka_unit_test(both_ways_agree),
    };

    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
