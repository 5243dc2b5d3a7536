/* brk.c - the break lies after the program, grows, shrinks, gives zero pages; malloc uses it. */
#include "subject.h"

extern char end[];

int main(void)
{
    /* say() may call malloc, which moves the break: look first, speak later. */
    char *start = sbrk(0), *first = sbrk(100000), *grown = sbrk(0);
    memset(start, 7, 100000);
    int back = brk(start);
    char *shrunk = sbrk(50000);
    int zero = start[8191] == 0 && start[49999] == 0;
    char *far = sbrk(64 << 20);
    start[64 << 20] = 1;
    char *m = malloc(1000), *top = sbrk(0);
    void *huge = sbrk(1L << 46);
    int error = errno;
    check(start >= end && start < end + (1UL << 36));
    check(first == start && grown == start + 100000);
    check(back == 0 && shrunk == start && zero);
    check(far == start + 50000);
    check(m >= end && m < top);
    check(huge == (void *)-1 && error == ENOMEM);
    return 0;
}
