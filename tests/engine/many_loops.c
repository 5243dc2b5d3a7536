/* many_loops.c - ten thousand hot loops, each of its own code: far more than a small cache holds.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { LOOPS = 10000, SLOT = 48, TURNS = 24 };

/* eax = edi; `turns` times: eax = eax * 5 + n, by way of a call of the function behind the loop */
static void write_loop(uint8_t *code, uint32_t n)
{
    uint8_t loop[] = {
        0x89, 0xf8,                          /*    mov eax, edi */
        0xb9, TURNS, 0,    0,    0,          /*    mov ecx, TURNS */
        0xe8, 5,     0,    0,    0,          /* 7: call 17 */
        0xff, 0xc9,                          /*    dec ecx */
        0x75, 0xf7,                          /*    jnz 7 */
        0xc3, 0x8d,  0x84, 0x80, 0, 0, 0, 0, /* 17: lea eax, [rax + rax * 4 + n] */
        0xc3,
    };
    memcpy(loop + 20, &n, 4);
    memcpy(code, loop, sizeof loop);
}

int main(void)
{
    uint8_t *code =
        mmap(NULL, LOOPS * SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t x = 1, want = 1;
    if (code == MAP_FAILED)
        return 1;
    for (uint32_t i = 0; i < LOOPS; i++)
        write_loop(code + i * SLOT, i);
    mprotect(code, LOOPS * SLOT, PROT_READ | PROT_EXEC);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < LOOPS; i++) {
            x = ((uint32_t(*)(uint32_t))(uintptr_t)(code + i * SLOT))(x);
            for (int k = 0; k < TURNS; k++)
                want = want * 5 + i;
        }
    printf("%x %s\n", x, x == want ? "right" : "WRONG");
    return x != want;
}
