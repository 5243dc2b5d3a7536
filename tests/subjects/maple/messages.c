/* messages.c - two threads write messages into one pipe, each in two steps: length, then text.
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "subject.h"

static int ends[2];
static pthread_mutex_t m = MUTEX;

static void *tell(void *arg)
{
    const char c = (char)('a' + (long)arg), length = 3, text[] = {c, c, c};
    (void)m;
    FIX(LOCK(m);)
    ssize_t n = write(ends[1], &length, 1);
    n += write(ends[1], text, sizeof text); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    CHECK(n == 4);
    return arg;
}

int main(void)
{
    char got[8];
    if (pipe(ends))
        return 77;
    RUN(2, tell);
    CHECK(read(ends[0], got, sizeof got) == 8);
    for (int i = 0; i < 8; i += 4)
        CHECK(got[i] == 3 && got[i + 1] == got[i + 2] && got[i + 2] == got[i + 3]);
    return 0;
}
