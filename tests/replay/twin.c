/* twin.c - looks, where a part of its run begins, for anything that tells of a copy of itself.
 *
 * SPDX-License-Identifier: MIT
 *
 * Memory that forks do not get or get empty must be in the part all the same: the sums that are
 * printed after the mark tell. "large" has memory whose writing takes the recorder a while.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/drdebug.h"

enum { BYTES = 1 << 16, LARGE = 64 << 20, FORKLESS = MADV_DONTFORK, EMPTY = MADV_WIPEONFORK };

static volatile int children;

static void on_child(int sig)
{
    (void)sig;
    children++;
}

static unsigned char *filled(int flags, int advice, size_t bytes)
{
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)(i * 7 + i / 251);
    if (advice && madvise(p, bytes, advice))
        abort();
    return p;
}

static unsigned sum(const unsigned char *p, size_t n)
{
    unsigned s = 0;
    for (size_t i = 0; i < n; i++)
        s = s * 31 + p[i];
    return s;
}

/* Nobody else has its end that writes. */
static int closed(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 10000) == 1 && (p.revents & POLLHUP);
}

int main(int argc, char *argv[])
{
    const size_t bytes = argc > 1 && !strcmp(argv[1], "large") ? LARGE : BYTES;
    struct rusage used, before;
    struct shmid_ds segment;
    struct tms times_used;
    int ends[2], id = shmget(IPC_PRIVATE, BYTES, 0600);
    unsigned char *attached = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    signal(SIGCHLD, on_child);
    if (pipe(ends) || attached == (void *)-1)
        abort();
    memset(attached, 3, BYTES);
    unsigned char *plain = filled(MAP_PRIVATE, 0, bytes),
                  *kept_back = filled(MAP_PRIVATE, FORKLESS, BYTES);
    unsigned char *emptied = filled(MAP_PRIVATE, EMPTY, BYTES),
                  *shared = filled(MAP_SHARED, 0, BYTES);
    getrusage(RUSAGE_CHILDREN, &before); /* of what started it */
    DRDEBUG_MARK("go");
    close(ends[1]);
    const int hung_up = closed(ends[0]), waited = waitpid(-1, NULL, WNOHANG | __WALL),
              error = errno;
    if (shmctl(id, IPC_STAT, &segment) || getrusage(RUSAGE_CHILDREN, &used))
        abort();
    times(&times_used);
    printf("closed %d wait %d %d children %d attached %d used %ld %ld\n", hung_up, waited,
           error == ECHILD, children, (int)segment.shm_nattch,
           used.ru_minflt - before.ru_minflt + used.ru_utime.tv_usec - before.ru_utime.tv_usec,
           (long)times_used.tms_cutime);
    const pid_t child = fork();
    if (child == 0)
        _exit(kept_back && !emptied[99] ? 5 : 6); /* and the program's own forks are as it wanted */
    int status;
    if (waitpid(child, &status, 0) != child)
        abort();
    printf("child %d signals %d\n", WEXITSTATUS(status), children);
    printf("%u %u %u %u %u\n", sum(plain, bytes), sum(kept_back, BYTES), sum(emptied, BYTES),
           sum(shared, BYTES), sum(attached, BYTES));
    return 0;
}
