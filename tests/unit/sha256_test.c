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

/* RFC 4231, test case 2. */
static void macs_agree_with_the_standard(void **state)
{
    static const uint8_t expected[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
                                       0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
                                       0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
                                       0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    const struct sha256_part key = {"Jefe", 4};
    const struct sha256_part part[] = {{"what do ya want ", 16}, {"for nothing?", 12}};
    uint8_t mac[SHA256_BYTES];

    (void)state;
    sha256_mac(&key, part, 2, mac);
    assert_memory_equal(mac, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_agrees_with_the_standard),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(macs_agree_with_the_standard),
    };

    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
