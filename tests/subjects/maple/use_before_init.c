/* use_before_init.c - a thread uses a pointer that its maker sets after it has begun.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int *shared;
static int value = 7;

static void *use(void *arg)
{
    unsigned table[256], sum = 0; /* it has something to do before */
    for (unsigned i = 0; i < 256; i++)
        table[i] = i * i;
    for (unsigned i = 0; i < 20000; i++)
        sum += table[(i ^ sum) % 256];
    int *p = GET(shared); /* ROOT CAUSE */
    CHECK(p && *p + (int)(sum & 0) == 7);
    return arg;
}

int main(void)
{
    pthread_t t;
    FIX(SET(shared, &value);)
    pthread_create(&t, NULL, use, NULL);
    SET(shared, &value);
    pthread_join(t, NULL);
    return 0;
}
