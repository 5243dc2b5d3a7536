/* circular_buffer.c - a sender and a receiver of a ring; the sender announces a slot before it
 * fills it. SPDX-License-Identifier: MIT */
#include "subject.h"

enum { ROOM = 4, ITEMS = 3 };
static int slot[ROOM], sent;

static void *send(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        FIX(SET(slot[i % ROOM], i + 1);)
        SET(sent, i + 1); /* ROOT CAUSE */
        BUG(SET(slot[i % ROOM], i + 1);)
    }
    return arg;
}

static void *receive(void *arg)
{
    int n = GET(sent);
    for (int i = 0; i < n; i++)
        CHECK(GET(slot[i % ROOM]) == i + 1);
    return arg;
}

int main(void)
{
    RUN(2, send, receive);
    return 0;
}
