/* many_maps.c - 100,000 mmaps, 20,000 of them there at a time, some with two protections. */
#include "subject.h"

enum { ALL = 100000, LIVE = 20000 };

int main(void)
{
    static uint8_t *map[LIVE];
    uint64_t sum = 0;
    for (int i = 0; i < ALL; i++) {
        uint8_t **m = &map[i * 7919L % LIVE];
        if (*m) {
            sum = sum * 31 + **m;
            munmap(*m, 2 * PAGE);
        }
        *m = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (*m == MAP_FAILED) {
            say("mmap %d: FAIL, %s\n", i, strerror(errno));
            return 1;
        }
        **m = (uint8_t)(i % 251);
        if (i % 3 == 0)
            mprotect(*m + PAGE, PAGE, PROT_NONE);
    }
    say("%016lx\n", sum);
    return 0;
}
