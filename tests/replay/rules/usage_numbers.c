/* usage_numbers.c - numbers the kernel keeps: rusage, times, sysinfo, clocks, limits, scheduling.
 */
#include "rule.h"
#include <sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>

int main(void)
{
    struct rusage ru;
    struct tms tms;
    struct sysinfo si;
    struct utsname un;
    struct rlimit rl;
    cpu_set_t cpus;
    struct timespec ts;
    for (volatile int i = 0; i < 3000000; i++)
        ;
    check(getrusage(RUSAGE_SELF, &ru) == 0 && sysinfo(&si) == 0 && uname(&un) == 0);
    say("used %ld us, faults %ld, switches %ld %ld\n", ru.ru_utime.tv_usec, ru.ru_minflt,
        ru.ru_nvcsw, ru.ru_nivcsw);
    say("times %ld, user %ld\n", times(&tms), tms.tms_utime);
    say("up %ld, free %lu, processes %d\n", si.uptime, si.freeram, si.procs);
    say("on %s %s\n", un.nodename, un.release);
    for (clockid_t id = 0; id < 12; id++)
        if (clock_gettime(id, &ts) == 0)
            say("clock %d: %ld.%09ld\n", id, ts.tv_sec, ts.tv_nsec);
    check(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && getrlimit(RLIMIT_STACK, &rl) == 0);
    say("cpus %d, stack %lu, pid %d, session %d, group %d\n", CPU_COUNT(&cpus), rl.rlim_cur,
        getpid(), getsid(0), getpgrp());
    return 0;
}
