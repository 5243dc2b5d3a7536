/* counter_file.c - a counter in a file: read, add, write; two threads do that at once.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "subject.h"

static int file;
static pthread_mutex_t m = MUTEX;

static void *count(void *arg)
{
    int n = 0;
    (void)m;
    FIX(LOCK(m);)
    CHECK(pread(file, &n, sizeof n, 0) == sizeof n);
    n++;
    CHECK(pwrite(file, &n, sizeof n, 0) == sizeof n); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return arg;
}

int main(void)
{
    char name[] = "/tmp/counterXXXXXX";
    int n = 0;
    file = mkstemp(name);
    unlink(name);
    CHECK(file >= 0 && pwrite(file, &n, sizeof n, 0) == sizeof n);
    RUN(2, count);
    CHECK(pread(file, &n, sizeof n, 0) == sizeof n && n == 2);
    close(file);
    return 0;
}
