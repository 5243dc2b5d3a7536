/* heap_2g.c - 2 GB of heap, every eighth page of it written and read again. */
#include "subject.h"

enum { BLOCKS = 2048, BLOCK = 1 << 20, STEP = 8 * PAGE };

int main(void)
{
    static uint8_t *block[BLOCKS];
    uint64_t sum = 0;
    if ((uint64_t)sysconf(_SC_PHYS_PAGES) * PAGE < 4ull << 30)
        skip("the machine has less than 4 GB");
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(BLOCK);
        if (!block[i])
            return 1;
        for (size_t at = 0; at < BLOCK; at += STEP)
            memcpy(block[i] + at, &(uint64_t){(uint64_t)i * BLOCK + at}, 8);
    }
    for (int i = BLOCKS; i-- > 0;) {
        for (size_t at = 0; at < BLOCK; at += STEP) {
            uint64_t word;
            memcpy(&word, block[i] + at, 8);
            sum = sum * 31 + word;
        }
        free(block[i]);
    }
    say("%016lx\n", sum);
    return 0;
}
