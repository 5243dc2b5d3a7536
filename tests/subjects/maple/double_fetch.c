/* double_fetch.c - a length is read from shared memory to check it, and again to use it.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static struct {
    unsigned length;
    char data[64];
} message = {.length = 8};

static void *handle(void *arg)
{
    char copy[16];
    FIX(unsigned n = GET(message.length);)
    if (BUG(GET(message.length)) FIX(n) > sizeof copy)
        return arg;
    BUG(unsigned n = GET(message.length);) /* ROOT CAUSE */
    CHECK(n <= sizeof copy);
    memcpy(copy, message.data, n);
    return arg;
}

static void *attack(void *arg)
{
    SET(message.length, 60);
    return arg;
}

int main(void)
{
    RUN(2, handle, attack);
    return 0;
}
