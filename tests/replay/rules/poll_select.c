/* poll_select.c - poll, ppoll, select, pselect: bits, counts and the time select leaves. */
#include "rule.h"
#include <poll.h>
#include <sys/select.h>

static int fds[2];

static void *writer(void *arg)
{
    sleep_ms(3);
    if (write(fds[1], "x", 1) != 1)
        say("write FAIL\n");
    return arg;
}

int main(void)
{
    char c;
    for (int i = 0; i < 8; i++) {
        check(pipe(fds) == 0);
        pthread_t t = start(writer, NULL);
        uint64_t before = now_ns();
        struct pollfd p[3] = {{fds[0], POLLIN, 0}, {-1, POLLIN, 7}, {fds[1], POLLOUT * (i % 2), 0}};
        struct timeval tv = {1, 0};
        struct timespec ts = {1, 0};
        fd_set r, w;
        FD_ZERO(&r);
        FD_ZERO(&w);
        FD_SET(fds[0], &r);
        int n = i < 2   ? poll(p, 3, 1000)
                : i < 4 ? ppoll(p, 3, &ts, NULL)
                : i < 6 ? select(fds[0] + 1, &r, &w, NULL, &tv)
                        : pselect(fds[0] + 1, &r, NULL, NULL, &ts, NULL);
        say("%d: %d ready, %x %x %x, set %d, left %ld, after %lu\n", i, n, (unsigned)p[0].revents,
            (unsigned)p[1].revents, (unsigned)p[2].revents, FD_ISSET(fds[0], &r) != 0, tv.tv_usec,
            now_ns() - before);
        check(read(fds[0], &c, 1) == 1);
        pthread_join(t, NULL);
        close(fds[0]);
        close(fds[1]);
    }
    check(poll(NULL, 0, 2) == 0);
    return 0;
}
