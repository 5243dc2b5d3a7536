/* heap_2g.c - 2 GB of heap, every page of it written and read again. */
#include "subject.h"

enum { BLOCKS = 2048, BLOCK = 1 << 20 };

int main(void)
{
    static uint8_t *block[BLOCKS];
    uint64_t sum = 0;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(BLOCK);
        if (!block[i])
            skip("there is no memory for 2 GB");
        for (size_t at = 0; at < BLOCK; at += PAGE)
            memcpy(block[i] + at, &(uint64_t){(uint64_t)i * BLOCK + at}, 8);
    }
    for (int i = BLOCKS; i-- > 0;) {
        for (size_t at = 0; at < BLOCK; at += PAGE) {
            uint64_t word;
            memcpy(&word, block[i] + at, 8);
            sum = sum * 31 + word;
        }
        free(block[i]);
    }
    say("%016lx\n", sum);
    return 0;
}
