/* log_processed.c - a worker marks an item as done before it is; the collector throws it away.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static struct {
    int used, value;
} item[2];

static void *work(void *arg)
{
    int i = (int)(long)arg;
    FIX(SET(item[i].value, 5);)
    SET(item[i].used, 1); /* ROOT CAUSE */
    BUG(SET(item[i].value, 5);)
    return arg;
}

static void *collect(void *arg)
{
    for (int i = 0; i < 2; i++)
        if (GET(item[i].used))
            CHECK(GET(item[i].value) == 5);
    return arg;
}

int main(void)
{
    RUN(3, work, work, collect);
    return 0;
}
