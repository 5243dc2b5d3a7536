/* cage.c - what a replaying process gives up before it enters the runtime.
 *
 * SPDX-License-Identifier: MIT
 *
 * The switch. A process cannot be trusted to die with its supervisor: the signal of
 * PR_SET_PDEATHSIG is not inherited by copies, and a hostile one would not look up to its parent.
 * So the kernel is told to kill: the read end of a pipe, in O_ASYNC mode, sends SIGKILL to the
 * whole process group when the last writer, the supervisor, is gone, however that one ended. The
 * kernel does so under the lock that fork takes, so no copy slips through; and it means the group
 * itself, not a number that may be somebody else's by then. Nothing that the filter allows closes
 * the read end, or leaves the group.
 */
#define _GNU_SOURCE
#include "replayer/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"

static void need(int ok, enum cage_status status)
{
    if (!ok)
        _exit(status);
}

static void arm_switch(int read_end, int write_end)
{
    struct pollfd p = {.fd = read_end};
    close(write_end);
    need(fcntl(read_end, F_SETSIG, SIGKILL) == 0, CAGE_SWITCH);
    need(fcntl(read_end, F_SETOWN, -getpid()) == 0, CAGE_SWITCH);
    need(fcntl(read_end, F_SETFL, O_ASYNC) == 0, CAGE_SWITCH);
    need(fcntl(read_end, F_GETSIG) == SIGKILL && fcntl(read_end, F_GETFL) & O_ASYNC, CAGE_SWITCH);
    need(poll(&p, 1, 0) == 0, CAGE_SWITCH); /* the supervisor may have gone before it was armed */
}

/* Only what no honest recording needs. Address space is none of that: ASan, Go and Java reserve
 * terabytes. The warden limits the memory that is really held. */
static void limit(void)
{
    enum { OBJECTS = 4096, OTHERS = 16 }; /* pieces of shared memory: target/space.c */
    const struct {
        int what;
        rlim_t most;
    } limits[] = {
        /* Not 0: a program that core_pattern names is started all the same, but for 1. */
        {RLIMIT_CORE, 1},     {RLIMIT_NOFILE, OBJECTS + OTHERS}, {RLIMIT_MEMLOCK, 0},
        {RLIMIT_MSGQUEUE, 0}, {RLIMIT_DATA, RLIM_INFINITY}, /* the supervisor may have bound itself
                                                               (base/memory.h) */
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit l;
        need(getrlimit(limits[i].what, &l) == 0, CAGE_LIMITS);
        l.rlim_max = l.rlim_max < limits[i].most ? l.rlim_max : limits[i].most;
        l.rlim_cur = l.rlim_max;
        need(setrlimit(limits[i].what, &l) == 0, CAGE_LIMITS);
    }
}

/* If memory runs out all the same, this process is the one to go. */
static void offer_to_the_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1000", 4) != 4)
        errno = 0; /* a kernel without it: nothing is lost */
    close(fd);
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    /* What a process may not drop (it lacks CAP_SETPCAP) it cannot get either: no_new_privs. */
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, CAGE_CAPABILITIES);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS);
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
        prctl(PR_CAPBSET_DROP, cap);
    memset(caps, 0, sizeof caps);
    need(syscall(SYS_capset, &head, caps) == 0, CAGE_CAPABILITIES);
    need(syscall(SYS_capget, &head, caps) == 0, CAGE_CAPABILITIES);
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        need(!(caps[i].effective | caps[i].permitted | caps[i].inheritable), CAGE_CAPABILITIES);
}

void cage_enter(int read_end, int write_end)
{
    confine_drop_handlers();
    need(setpgid(0, 0) == 0, CAGE_GROUP);
    arm_switch(read_end, write_end);
    limit();
    offer_to_the_oom_killer();
    drop_capabilities();
}

const char *cage_text(int status)
{
    static const char *const text[] = {
        [CAGE_GROUP - CAGE_GROUP] = "it cannot have a process group of its own",
        [CAGE_SWITCH - CAGE_GROUP] = "it cannot be made to die with drdebug",
        [CAGE_LIMITS - CAGE_GROUP] = "its resources cannot be limited",
        [CAGE_CAPABILITIES - CAGE_GROUP] = "it cannot drop its capabilities",
    };
    return status >= CAGE_GROUP && status < CAGE_STATUS_END ? text[status - CAGE_GROUP] : NULL;
}
