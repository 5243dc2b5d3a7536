/* getppid.c - the cheapest system call, over and over.
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "percall.h"

enum { CALLS = 1500000 };

int main(void)
{
    pid_t parent = getppid();
    long same = 0;
    int64_t start_ns = percall_now_ns();

    for (long i = 0; i < CALLS; i++)
        same += getppid() == parent;
    percall_report(start_ns, CALLS);
    printf("%ld\n", same);
    return 0;
}
