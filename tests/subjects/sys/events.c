/* events.c - poll, select, epoll, eventfd, timerfd, inotify and ioctl FIONREAD. */
#include "subject.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/timerfd.h>

int main(void)
{
    int p[2], ep = epoll_create1(EPOLL_CLOEXEC), ev = eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE);
    int tf = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), in = inotify_init1(IN_NONBLOCK), n = -1;
    uint64_t u = 0;
    char buf[4096];
    if (pipe(p))
        return 1;
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = 1}, got[8];
    check(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) == 0 && epoll_wait(ep, got, 8, 0) == 0);
    e.data.u64 = 2;
    check(epoll_ctl(ep, EPOLL_CTL_ADD, ev, &e) == 0 && epoll_wait(ep, got, 8, -1) == 1);
    check(got[0].data.u64 == 2);
    for (int i = 0; i < 3; i++)
        check(read(ev, &u, 8) == 8 && u == 1);
    check(read(ev, &u, 8) == -1 && errno == EAGAIN);
    struct itimerspec its = {{0, 0}, {0, 10000000}};
    check(timerfd_settime(tf, 0, &its, NULL) == 0);
    e.data.u64 = 3;
    epoll_ctl(ep, EPOLL_CTL_ADD, tf, &e);
    check(epoll_pwait(ep, got, 8, 5000, NULL) == 1 && got[0].data.u64 == 3);
    check(read(tf, &u, 8) == 8 && u == 1);
    check(write(p[1], "abc", 3) == 3 && ioctl(p[0], FIONREAD, &n) == 0 && n == 3);
    fd_set r;
    FD_ZERO(&r);
    FD_SET(p[0], &r);
    struct timeval tv = {1, 0};
    check(select(p[0] + 1, &r, NULL, NULL, &tv) == 1 && FD_ISSET(p[0], &r));
    struct pollfd pf[3] = {{p[0], POLLIN, 0}, {99, POLLIN, 0}, {-1, POLLIN, 9}};
    check(poll(pf, 3, 0) == 2 && pf[0].revents == POLLIN && pf[1].revents == POLLNVAL &&
          pf[2].revents == 0);
    check(poll(NULL, 0, 5) == 0);
    check(epoll_ctl(ep, EPOLL_CTL_DEL, 99, &e) == -1 && errno == EBADF);
    check(inotify_add_watch(in, ".", IN_CREATE | IN_DELETE) == 1);
    close(open("watched", O_CREAT | O_WRONLY, 0600));
    unlink("watched");
    long len = read(in, buf, sizeof buf);
    for (long at = 0; at < len;) {
        const struct inotify_event *i = (const void *)(buf + at);
        say("inotify %x %s\n", i->mask, i->name);
        at += (long)sizeof *i + i->len;
    }
    close(p[1]);
    check(poll(pf, 1, 0) == 1 && pf[0].revents == (POLLIN | POLLHUP));
    return 0;
}
