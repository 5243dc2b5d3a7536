/* static_buffer.c - a function gives its text back in a buffer that all threads share.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static pthread_mutex_t m = MUTEX;

static const char *name_of(int number, char *room)
{
    static char text[16];
    char *at = FIX(room) BUG(text);
    (void)room;
    (void)text;
    snprintf(at, sizeof text, "name-%d", number); /* ROOT CAUSE */
    return at;
}

static void *greet(void *arg)
{
    char room[16], mine[16];
    const int i = (int)(long)arg;
    (void)m;
    snprintf(mine, sizeof mine, "name-%d", i);
    const char *name = name_of(i, room);
    CHECK(strcmp(name, mine) == 0);
    return arg;
}

int main(void)
{
    RUN(2, greet);
    return 0;
}
