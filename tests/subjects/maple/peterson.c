/* peterson.c - Peterson's lock, with the turn given away before the flag is raised.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int wants[2], turn, inside;

static void *work(void *arg)
{
    const int me = (int)(long)arg;
    BUG(SET(turn, !me);) /* ROOT CAUSE */
    SET(wants[me], 1);   /* ROOT CAUSE */
    FIX(SET(turn, !me);)
    __sync_synchronize();
    while (GET(wants[!me]) && GET(turn) == !me)
        ;
    CHECK(GET(inside) == 0);
    SET(inside, 1);
    SET(inside, 0);
    __sync_synchronize();
    SET(wants[me], 0);
    return arg;
}

int main(void)
{
    RUN(2, work);
    return 0;
}
