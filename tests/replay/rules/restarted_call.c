/* restarted_call.c - calls that a signal interrupts: restarted with the time that remains, or
 * EINTR. */
#include "rule.h"
#include <poll.h>
#include <sys/time.h>

static volatile int hits;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    hits++;
}

static void arm(void)
{
    struct itimerval itv = {{0, 0}, {0, 4000}};
    setitimer(ITIMER_REAL, &itv, NULL);
}

int main(void)
{
    struct timespec ts = {0, 30000000}, left = {0, 0};
    struct pollfd none;
    int fds[2];
    char c;
    check(pipe(fds) == 0);
    on_signal(SIGALRM, on_alarm, 0);
    arm();
    check(nanosleep(&ts, &left) == -1 && errno == EINTR);
    say("left %ld ns\n", left.tv_nsec);
    arm();
    check(poll(&none, 0, 1000) == -1 && errno == EINTR);
    arm();
    check(read(fds[0], &c, 1) == -1 && errno == EINTR);
    on_signal(SIGALRM, on_alarm, SA_RESTART);
    arm();
    pid_t child = fork();
    if (child == 0) {
        sleep_ms(20);
        if (write(fds[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    check(read(fds[0], &c, 1) == 1 && c == 'x' && hits == 4);
    reap("child", child);
    uint64_t before = now_ns();
    send_self(SIGALRM); /* outside any call */
    say("%d hits, %lu ns\n", hits, now_ns() - before);
    return 0;
}
