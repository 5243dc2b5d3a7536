/* reserve.c - huge reservations as runtimes make them: 16 TiB at once, fixed ranges, then parts
 * used. */
#include "subject.h"

int main(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *big = mmap(NULL, 1UL << 44, PROT_NONE, flags, -1, 0);
    check(big != MAP_FAILED);
    check(mprotect(big + (1UL << 43), 16 * PAGE, PROT_READ | PROT_WRITE) == 0);
    big[(1UL << 43) + 5] = 9;
    check(big[(1UL << 43) + 5] == 9);
    /* Where Go's heap, Java's compressed heap and sanitizers' shadows go. */
    static const uintptr_t fixed[] = {0xc000000000, 0x700000000, 0x7fff7000, 0x10000000000,
                                      0x600000000000};
    for (unsigned i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        uint8_t *p = mmap((void *)fixed[i], 64 << 20, PROT_READ | PROT_WRITE,
                          flags | MAP_FIXED_NOREPLACE, -1, 0);
        check(p == (void *)fixed[i]);
        p[12345] = 1;
    }
    check(munmap(big, 1UL << 44) == 0);
    return 0;
}
