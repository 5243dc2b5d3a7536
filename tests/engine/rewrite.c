/* rewrite.c - writes functions, runs them, and writes others over them, as a JIT compiler does.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 64, SLOT_BYTES = 256, ROUNDS = 40 };

/* lea eax, [rdi + n] after `pad` no-ops, so that functions differ in length. */
static size_t write_function(uint8_t *out, uint32_t n, size_t pad)
{
    memset(out, 0x90, pad);
    uint8_t code[] = {0x8d, 0x87, 0, 0, 0, 0, 0xc3};
    memcpy(code + 2, &n, 4);
    memcpy(out + pad, code, sizeof code);
    return pad + sizeof code;
}

int main(void)
{
    uint8_t *area = mmap(NULL, SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t sum = 0, want = 0;
    if (area == MAP_FAILED)
        return 1;
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < SLOTS; i++) {
            uint32_t slot = i * 7 % SLOTS, other = (slot + round) % SLOTS;
            write_function(area + slot * SLOT_BYTES, round * i, (round + i) % 120);
            sum = ((uint32_t(*)(uint32_t))(uintptr_t)(area + slot * SLOT_BYTES))(sum);
            want += round * i;
            if (area[other * SLOT_BYTES]) /* an old one, if there is one */
                sum ^= ((uint32_t(*)(uint32_t))(uintptr_t)(area + other * SLOT_BYTES))(0) & 0;
        }
    printf("%u %s\n", sum, sum == want ? "right" : "WRONG");
    return sum != want;
}
