/* brk.c - the break lies after the program, grows, shrinks, gives zero pages; malloc uses it. */
#include "subject.h"

extern char end[];

int main(void)
{
    char *start = sbrk(0);
    check(start >= end && start < end + (1UL << 36));
    check(sbrk(100000) == start);
    memset(start, 7, 100000);
    check(sbrk(0) == start + 100000);
    check(brk(start) == 0 && sbrk(0) == start);
    check(sbrk(50000) == start && start[8191] == 0 && start[49999] == 0);
    check(sbrk(64 << 20) == start + 50000);
    start[(64 << 20)] = 1;
    check(brk((void *)8) == -1 && errno == ENOMEM);
    char *m = malloc(1000);
    check(m > start && m < (char *)sbrk(0));
    free(m);
    check(sbrk(1L << 46) == (void *)-1 && errno == ENOMEM);
    return 0;
}
