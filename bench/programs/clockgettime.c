/* clockgettime.c - reading the clock, over and over; it must never go back.
 * SPDX-License-Identifier: MIT */
#include "percall.h"

enum { CALLS = 10000000 };

int main(void)
{
    int64_t start_ns = percall_now_ns(), last_ns = start_ns;
    long backwards = 0;

    for (long i = 0; i < CALLS; i++) {
        int64_t now_ns = percall_now_ns();

        backwards += now_ns < last_ns;
        last_ns = now_ns;
    }
    percall_report(start_ns, CALLS);
    printf("%ld\n", backwards);
    return 0;
}
