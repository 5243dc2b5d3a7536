/* foreign_ranges.c - the program cannot reach what is not its own: probing finds no unknown memory.
 */
#include "subject.h"

/* mincore tells whether a page is mapped without touching it; maps must tell the same. */
static int mapped(uintptr_t a)
{
    unsigned char v;
    return mincore((void *)a, PAGE, &v) == 0;
}

int main(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    unsigned long lo, hi, last = 0x10000;
    char line[400];
    int gaps = 0, ghosts = 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo < 0x800000000000) {
            if (lo > last) {
                gaps++;
                ghosts += mapped(last) && last != 0x10000 ? strstr(line, "[stack]") == NULL : 0;
                ghosts += mapped((last + lo) / 2 & -PAGE);
            }
            last = hi;
        }
    check(gaps > 2);
    say("ghosts %d\n", ghosts);
    check(mmap((void *)0x7ffffffff000, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == MAP_FAILED);
    return 0;
}
