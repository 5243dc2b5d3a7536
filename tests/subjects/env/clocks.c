/* clocks.c - the vDSO's functions through libc: sane, monotonic, and agreeing with the system call.
 */
#include "subject.h"
#include <sched.h>
#include <sys/time.h>

static int64_t ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int monotonic(clockid_t id)
{
    int64_t last = ns(id);
    for (int i = 0; i < 20000; i++) {
        int64_t now = ns(id);
        if (now < last)
            return 0;
        last = now;
    }
    return 1;
}

static int close_to_syscall(clockid_t id)
{
    struct timespec ts;
    int64_t before = ns(id);
    syscall(SYS_clock_gettime, id, &ts);
    int64_t sys = ts.tv_sec * 1000000000L + ts.tv_nsec;
    return sys >= before - 20000000 && sys < before + 2000000000;
}

int main(void)
{
    check(monotonic(CLOCK_MONOTONIC));
    check(monotonic(CLOCK_BOOTTIME));
    check(monotonic(CLOCK_MONOTONIC_COARSE));
    check(monotonic(CLOCK_PROCESS_CPUTIME_ID));
    check(monotonic(CLOCK_THREAD_CPUTIME_ID));
    check(close_to_syscall(CLOCK_REALTIME));
    check(close_to_syscall(CLOCK_MONOTONIC));
    check(close_to_syscall(CLOCK_TAI));
    struct timeval tv;
    gettimeofday(&tv, NULL);
    time_t t = time(NULL);
    check(t - tv.tv_sec <= 2 && tv.tv_sec - t <= 1 && t > 1600000000);
    struct timespec res;
    check(clock_getres(CLOCK_MONOTONIC, &res) == 0 && res.tv_nsec > 0);
    check(clock_gettime(999, &res) == -1 && errno == EINVAL);
    check(sched_getcpu() >= 0 && sched_getcpu() < 4096);
    unsigned cpu = ~0U, node = ~0U;
    check(getcpu(&cpu, &node) == 0 && cpu < 4096 && node < 1024);
    int64_t a = ns(CLOCK_MONOTONIC);
    sleep_ms(30);
    int64_t d = ns(CLOCK_MONOTONIC) - a;
    check(d >= 30000000 && d < 5000000000);
    return 0;
}
