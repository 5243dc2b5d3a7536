/* process_attributes.c - personality, prctl, capabilities of naming: what is set can be read back.
 */
#include "subject.h"
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

int main(void)
{
    int start = personality(0xffffffff);
    say("personality %x\n", start);
    check(personality(ADDR_NO_RANDOMIZE) == start);
    check(personality(0xffffffff) == ADDR_NO_RANDOMIZE);
    char name[17] = {0};
    prctl(PR_SET_NAME, "a name of twenty characters");
    prctl(PR_GET_NAME, name);
    say("name <%s>\n", name);
    check(prctl(PR_GET_DUMPABLE) == 1);
    check(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_GET_DUMPABLE) == 0);
    check(prctl(PR_SET_DUMPABLE, 1) == 0);
    check(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    check(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    int sig = -1;
    check(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
    check(prctl(PR_GET_PDEATHSIG, &sig) == 0 && sig == SIGUSR1);
    check(prctl(PR_SET_TIMERSLACK, 50001) == 0 && prctl(PR_GET_TIMERSLACK) == 50001);
    check(prctl(PR_GET_TSC, &sig) == 0 && sig == PR_TSC_ENABLE);
    check(prctl(9999) == -1 && errno == EINVAL);
    cpu_set_t set;
    check(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    int n = getpriority(PRIO_PROCESS, 0);
    check(setpriority(PRIO_PROCESS, 0, n + 1) == 0 && getpriority(PRIO_PROCESS, 0) == n + 1);
    check(sched_getscheduler(0) == SCHED_OTHER);
    struct utsname u;
    check(uname(&u) == 0 && strcmp(u.machine, "x86_64") == 0);
    check(umask(027) != 027 && umask(022) == 027);
    check(syscall(9999) == -1 && errno == ENOSYS);
    check(syscall(-1) == -1 && errno == ENOSYS);
    return 0;
}
