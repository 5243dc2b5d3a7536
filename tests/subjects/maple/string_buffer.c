/* string_buffer.c - append() asks another buffer for its length, then for its characters; each is
 * locked. SPDX-License-Identifier: MIT */
#include "subject.h"

static char text[16] = "hello";
static int length = 5;
static pthread_mutex_t m = MUTEX;

static int get_length(void)
{
    BUG(LOCK(m);)
    int n = length;
    BUG(UNLOCK(m);)
    return n;
}

static void get_chars(char *to, int n)
{
    BUG(LOCK(m);)
    CHECK(n <= length);
    memcpy(to, text, (size_t)n);
    BUG(UNLOCK(m);)
}

static void *append(void *arg)
{
    char to[16];
    FIX(LOCK(m);)
    int n = get_length();
    get_chars(to, n); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return arg;
}

static void *erase(void *arg)
{
    LOCK(m);
    length = 0;
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(2, append, erase);
    return 0;
}
