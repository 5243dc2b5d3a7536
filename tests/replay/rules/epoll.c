/* epoll.c - which descriptors are ready, in which order, with which data; edge and level. */
#include "rule.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int fds[8];

static void *writer(void *arg)
{
    for (int i = 0; i < 200; i++) {
        uint64_t one = 1;
        unsigned which;
        fill(&which, sizeof which);
        if (write(fds[which % 8], &one, sizeof one) != (ssize_t)sizeof one)
            say("write FAIL\n");
        if (i % 20 == 0)
            sleep_ms(1);
    }
    return arg;
}

int main(void)
{
    int ep = epoll_create1(EPOLL_CLOEXEC);
    uint64_t order = 0, total = 0, waits = 0;
    for (int i = 0; i < 8; i++) {
        struct epoll_event ev = {.events = EPOLLIN | (i % 2 ? EPOLLET : 0)};
        fds[i] = eventfd(0, EFD_NONBLOCK);
        ev.data.u64 = (uint64_t)i * 1000003;
        check(epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &ev) == 0);
    }
    pthread_t t = start(writer, NULL);
    while (total < 200) {
        struct epoll_event got[3];
        int n = epoll_wait(ep, got, 3, 1000);
        waits++;
        for (int i = 0; i < n; i++) {
            uint64_t value = 0;
            if (read(fds[got[i].data.u64 / 1000003], &value, sizeof value) == (ssize_t)sizeof value)
                total += value;
            order = order * 31 + got[i].data.u64 + value + got[i].events;
        }
    }
    pthread_join(t, NULL);
    say("%lu waits, order %016lx\n", waits, order);
    check(total == 200);
    check(epoll_wait(ep, (struct epoll_event[1]){{0}}, 1, 1) == 0);
    return 0;
}
