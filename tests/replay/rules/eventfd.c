/* eventfd.c - two threads hand numbers over through eventfds, counting and semaphore ones. */
#include "rule.h"
#include <sys/eventfd.h>

static int there, back;

static void *partner(void *arg)
{
    eventfd_t v;
    for (int i = 0; i < 500; i++) {
        eventfd_read(there, &v);
        eventfd_write(back, v % 1000 + 1);
    }
    return arg;
}

int main(void)
{
    uint64_t sum = 0;
    eventfd_t v;
    there = eventfd(0, 0);
    back = eventfd(0, 0);
    pthread_t t = start(partner, NULL);
    for (int i = 0; i < 500; i++) {
        eventfd_write(there, now_ns() % 100000 + 1);
        eventfd_read(back, &v);
        sum = sum * 31 + v;
    }
    pthread_join(t, NULL);
    int sem = eventfd(3, EFD_SEMAPHORE | EFD_NONBLOCK);
    check(eventfd_read(sem, &v) == 0 && v == 1);
    check(eventfd_read(sem, &v) == 0 && eventfd_read(sem, &v) == 0);
    check(eventfd_read(sem, &v) == -1 && errno == EAGAIN);
    say("sum %016lx\n", sum);
    return 0;
}
