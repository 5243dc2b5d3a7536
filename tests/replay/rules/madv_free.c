/* madv_free.c - MADV_FREE acts as MADV_DONTNEED: whether the kernel was short of memory cannot
 * show. */
#include "rule.h"

int main(void)
{
    size_t bytes = 256 * PAGE;
    uint8_t *p = map_anon(bytes, PROT_READ | PROT_WRITE);
    int left = 0;
    fill(p, bytes);
    say("before %016lx\n", digest(p, bytes));
    check(madvise(p, bytes, MADV_FREE) == 0);
    for (size_t i = 0; i < bytes; i += PAGE)
        left += p[i + i / PAGE] != 0;
    check(left == 0);
    fill(p, bytes / 2);
    check(madvise(p + PAGE, PAGE, MADV_FREE) == 0);
    p[PAGE + 5] = 7;
    say("after %016lx\n", digest(p, bytes));
    check(madvise(p, PAGE, MADV_DONTNEED) == 0 && p[0] == 0);
    check(madvise(p + 1, PAGE, MADV_FREE) == -1 && errno == EINVAL);
    return 0;
}
