/* times.c - sleeping and timing calls: clock_nanosleep absolute, times, adjtimex reads, getitimer.
 */
#include "subject.h"
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>

int main(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    b = a;
    b.tv_nsec += 20000000;
    if (b.tv_nsec >= 1000000000)
        b.tv_sec++, b.tv_nsec -= 1000000000;
    check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &b, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &a);
    check(a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec >= b.tv_nsec));
    b.tv_nsec = -1;
    check(clock_nanosleep(CLOCK_MONOTONIC, 0, &b, NULL) == EINVAL);
    struct tms t;
    check(times(&t) != (clock_t)-1);
    struct itimerval it;
    check(getitimer(ITIMER_REAL, &it) == 0 && it.it_value.tv_sec == 0);
    struct timex tx = {.modes = 0};
    check(adjtimex(&tx) >= 0);
    struct sysinfo si;
    check(sysinfo(&si) == 0 && si.totalram > 0 && si.procs > 0);
    clockid_t id;
    check(clock_getcpuclockid(0, &id) == 0 && clock_gettime(id, &b) == 0);
    check(usleep(1000) == 0 && sysconf(_SC_CLK_TCK) == 100);
    clock_t c = clock();
    for (volatile int i = 0; i < 3000000; i++)
        ;
    check(clock() > c);
    return 0;
}
