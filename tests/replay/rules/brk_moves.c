/* brk_moves.c - the break goes up and down; what comes back is zero. Prints only when the break is
 * back where malloc left it: dprintf allocates. */
#include "rule.h"

int main(void)
{
    intptr_t half = 32 * (intptr_t)PAGE;
    say("the heap is there\n");
    uint8_t *old = sbrk(0), *top = sbrk(2 * half);
    fill(top, 64 * PAGE);
    uint64_t full = digest(top, 64 * PAGE), sum = 0;
    int down = sbrk(-half) == top + 2 * half;
    int up = sbrk(half) == top + half;
    for (size_t i = 32 * PAGE; i < 64 * PAGE; i++)
        sum += top[i];
    uint64_t half_full = digest(top, 64 * PAGE);
    int home = brk(old) == 0 && sbrk(0) == old;
    say("%p: %016lx %016lx\n", (void *)top, full, half_full);
    check(old == top && down && up && home);
    check(sum == 0);
    return 0;
}
