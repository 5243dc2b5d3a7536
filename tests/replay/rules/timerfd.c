/* timerfd.c - expirations that were missed are counted; what is left is a time. */
#include "rule.h"
#include <sys/timerfd.h>

int main(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec its = {{0, 300000}, {0, 100000}}, left;
    uint64_t turns = 0, total = 0, order = 0;
    check(timerfd_settime(fd, 0, &its, NULL) == 0);
    while (total < 30) {
        uint64_t n;
        turns++;
        if (read(fd, &n, sizeof n) == (ssize_t)sizeof n) {
            total += n;
            order = order * 31 + turns + n;
        }
    }
    check(timerfd_gettime(fd, &left) == 0);
    say("%lu turns, %lu expirations, order %016lx, left %ld\n", turns, total, order,
        left.it_value.tv_nsec);
    return 0;
}
