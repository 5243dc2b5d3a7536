/* bakery.c - Lamport's bakery lock, without the flag that says that a number is being drawn.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int number[2], inside;
FIX(static int draws[2];)

static void *work(void *arg)
{
    const int me = (int)(long)arg;
    FIX(SET(draws[me], 1); __sync_synchronize();)
    SET(number[me], GET(number[!me]) + 1); /* ROOT CAUSE */
    __sync_synchronize();
    FIX(SET(draws[me], 0); while (GET(draws[!me]));)
    for (int other = GET(number[!me]); other; other = GET(number[!me]))
        if (other > GET(number[me]) || (other == GET(number[me]) && me == 0))
            break;
    CHECK(GET(inside) == 0);
    SET(inside, 1);
    SET(inside, 0);
    __sync_synchronize();
    SET(number[me], 0);
    return arg;
}

int main(void)
{
    RUN(2, work);
    return 0;
}
