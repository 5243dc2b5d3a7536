/* group.c - the recorder among the processes of the program's group.
 *
 * SPDX-License-Identifier: MIT
 *
 * A signal does not say whether it was sent to a process or to its group. So there is a witness: a
 * process of the same group that does nothing but hold all signals back. A signal that the witness
 * has, too, was sent to the group. kill(2) goes through a group with the lock of the process list
 * held, and setpgid(2) takes that lock: after it, the witness has what the recorder has.
 *
 * The witness shares this process's memory and descriptors. It ends with this process. While this
 * process is stopped with the program, the witness looks whether the program goes on or was killed:
 * the process that stopped only the program may continue or kill only the program. (A program that
 * goes on and needs its recorder at once does not wait for that: ring.h, `paused`.)
 */
#define _GNU_SOURCE
#include "logger/group.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/rt/sys.h"

enum { SIGNALS = 64, NOTED = 64, RESERVED_FIRST = 32, RESERVED_LAST = 33 };

static uint32_t nobody; /* bell while there is no ring */

#define BIT(sig) (1ull << ((sig)-1))

/* The kernel's own, for signals that the C library keeps for itself. */
struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

static struct {
    uint32_t *bell;
    sigset_t mask; /* as found, as are the actions */
    struct sigaction action[SIGNALS + 1];
    struct kernel_action reserved[SIGNALS + 1];
    struct note {
        int sig, code;
        pid_t from;
        union sigval value;
    } noted[NOTED];
    volatile unsigned written, read; /* of noted, counting up */
    uint64_t of_group;               /* what the witness had more than was noted */
    bool taken;                      /* the actions are this file's */
    pid_t program;
    volatile int interrupted; /* group_interrupted() */
    int key;                  /* group_key() */
    volatile unsigned keys;
} g;

static struct {
    pid_t pid, parent;
    uint32_t bell;            /* futex: there is something to do */
    uint32_t asked, answered; /* the second is a futex; both count up */
    uint64_t has;
    uint32_t guards; /* this process is stopped with the program, whose state is in: */
    char stat[64];
    char stack[8192] __attribute__((aligned(16)));
} witness;

/* ---- the witness ---- */

/* Field 3 of /proc/PID/stat is the first thread's state, field 20 the number of threads. */
static bool still_stopped(void)
{
    char text[512];
    long fd = sys4(__NR_openat, AT_FDCWD, (long)witness.stat, O_RDONLY | O_CLOEXEC, 0);
    long n = fd < 0 ? 0 : sys3(__NR_read, fd, (long)text, sizeof text - 1);
    if (fd >= 0)
        sys1(__NR_close, fd);
    text[n > 0 ? n : 0] = 0;
    const char *state = strrchr(text, ')');
    if (!state || !state[1])
        return false;
    state += 2;
    const char *threads = state;
    for (int field = 3; field < 20 && threads; field++)
        threads = (threads = strchr(threads, ' ')) ? threads + 1 : NULL;
    bool others = threads && memcmp(threads, "1 ", 2) != 0;
    return *state == 'T' || (*state == 'Z' && others);
}

/* Without errno, which it would share. */
static int watch(void *arg)
{
    const uint64_t all = ~0ull;
    const int64_t now[2] = {0, 0}, soon[2] = {0, 20000000};
    (void)arg;
    sys3(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
    for (uint32_t done = 0; sys0(__NR_getppid) == witness.parent;) {
        uint32_t bell = __atomic_load_n(&witness.bell, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&witness.asked, __ATOMIC_ACQUIRE) == done) {
            bool guards = __atomic_load_n(&witness.guards, __ATOMIC_ACQUIRE);
            if (guards && !still_stopped())
                sys2(__NR_kill, witness.parent, SIGCONT);
            sys4(__NR_futex, (long)&witness.bell, FUTEX_WAIT, (long)bell, guards ? (long)soon : 0);
            continue;
        }
        siginfo_t info;
        long sig;
        while ((sig = sys4(__NR_rt_sigtimedwait, (long)&all, (long)&info, (long)now, 8)) > 0)
            if (info.si_code > 0 || info.si_pid != witness.parent)
                witness.has |= BIT(sig);
        done++;
        __atomic_store_n(&witness.answered, done, __ATOMIC_RELEASE);
        sys3(__NR_futex, (long)&witness.answered, FUTEX_WAKE, 1);
    }
    sys1(__NR_exit_group, 0);
    return 0;
}

static void witness_start(void)
{
    memset(&witness, 0, sizeof witness);
    witness.parent = getpid();
    witness.pid =
        clone(watch, witness.stack + sizeof witness.stack, CLONE_VM | CLONE_FILES | CLONE_FS, NULL);
}

static void witness_wake(void)
{
    __atomic_add_fetch(&witness.bell, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &witness.bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void witness_end(void)
{
    if (witness.pid <= 0)
        return;
    kill(witness.pid, SIGKILL);
    while (waitpid(witness.pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    witness.pid = 0;
}

/* The signals it got since it was last asked. It may have been stopped with the group. */
static uint64_t witness_ask(void)
{
    uint32_t seen = witness.answered;
    if (witness.pid <= 0)
        return 0;
    setpgid(0, getpgrp()); /* for the lock: see above */
    witness.has = 0;
    __atomic_add_fetch(&witness.asked, 1, __ATOMIC_RELEASE);
    witness_wake();
    while (__atomic_load_n(&witness.answered, __ATOMIC_ACQUIRE) == seen) {
        const struct timespec while_it_lives = {0, 20000000};
        syscall(SYS_futex, &witness.answered, FUTEX_WAIT, seen, &while_it_lives, NULL, 0);
        int status;
        if (waitpid(witness.pid, &status, WNOHANG | WUNTRACED | __WALL) != witness.pid)
            continue;
        if (!WIFSTOPPED(status)) {
            witness.pid = 0;
            return 0;
        }
        kill(witness.pid, SIGCONT); /* only now: it takes away stops that wait */
    }
    return witness.has;
}

/* ---- signals ---- */

static bool is_fault(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE || sig == SIGTRAP ||
           sig == SIGSYS;
}

static bool is_stop(int sig)
{
    return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* SIGXFSZ and SIGXCPU are about this process's own limits; its writes fail instead. */
static bool is_own(int sig)
{
    return sig == SIGXFSZ || sig == SIGXCPU;
}

static bool is_taken(int sig)
{
    return sig != SIGKILL && sig != SIGSTOP && (sig < RESERVED_FIRST || sig > RESERVED_LAST);
}

static bool is_request(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (sig == g.key && info->si_pid != g.program) {
        g.keys++;
        __atomic_add_fetch(g.bell, 1, __ATOMIC_RELEASE);
        return;
    }
    if (is_request(sig) && g.action[sig].sa_handler != SIG_IGN &&
        (info->si_code > 0 || info->si_pid != g.program))
        g.interrupted = sig;
    if ((is_fault(sig) && info->si_code > 0) || (sig == SIGABRT && info->si_pid == getpid())) {
        signal(sig, SIG_DFL); /* a mistake of ours: it happens again, and ends us */
        return;
    }
    for (unsigned i = g.read; sig == SIGCONT && i != g.written; i++)
        if (is_stop(g.noted[i % NOTED].sig))
            g.noted[i % NOTED].sig = 0; /* over, and gone from the witness, too */
    if (sig != SIGCHLD && g.written - g.read < NOTED) {
        g.noted[g.written % NOTED] =
            (struct note){sig, info->si_code, info->si_pid, info->si_value};
        g.written++;
    }
    __atomic_add_fetch(g.bell, 1, __ATOMIC_RELEASE);
}

static void set_action(int sig)
{
    struct sigaction taken = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigfillset(&taken.sa_mask);
    sigaction(sig, is_own(sig) ? &ignored : &taken, NULL);
}

/* The C library keeps these for itself, so sigaction() does not take them. */
static void reserved_actions(bool take)
{
    const struct kernel_action ignored = {.handler = 1};
    for (long sig = RESERVED_FIRST; sig <= RESERVED_LAST; sig++)
        syscall(SYS_rt_sigaction, sig, take ? &ignored : &g.reserved[sig],
                take ? &g.reserved[sig] : NULL, 8);
}

void group_bell(uint32_t *bell)
{
    g.bell = bell;
}

void group_take(void)
{
    sigset_t all;
    g.bell = &nobody;
    g.read = g.written;
    g.of_group = 0;
    sigfillset(&all);
    for (int sig = 1; sig <= SIGNALS; sig++)
        if (is_own(sig))
            sigdelset(&all, sig); /* blocked, it would wait for group_give_back() */
    sigprocmask(SIG_SETMASK, &all, g.taken ? NULL : &g.mask);
    if (g.taken)
        return;
    witness_start();
    for (int sig = 1; sig <= SIGNALS; sig++)
        if (is_taken(sig)) {
            sigaction(sig, NULL, &g.action[sig]);
            set_action(sig);
        }
    reserved_actions(true);
    g.taken = true;
}

void group_give_back(void)
{
    for (int sig = 1; sig <= SIGNALS; sig++)
        if (is_taken(sig))
            sigaction(sig, &g.action[sig], NULL);
    reserved_actions(false);
    sigprocmask(SIG_SETMASK, &g.mask, NULL);
}

void group_begin(pid_t program)
{
    sigset_t none;
    g.program = program;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void group_leave(bool ended)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
    witness_end();
    g.bell = &nobody; /* the ring goes */
    g.taken = false;
    if (!ended) {
        group_give_back();
        return;
    }
    for (int sig = 1; sig <= SIGNALS; sig++)
        if (is_taken(sig))
            sigaction(sig, sig == SIGCHLD ? &usual : &ignore, NULL);
}

void group_pause(void)
{
    g.bell = &nobody; /* the ring goes */
}

int group_interrupted(void)
{
    return g.interrupted;
}

/* ---- what comes ---- */

static void send(pid_t program, const struct note *n)
{
    if (n->code == SI_QUEUE)
        sigqueue(program, n->sig, n->value);
    else
        kill(program, n->sig);
}

void group_key(int sig)
{
    g.key = sig;
    g.keys = 0;
}

unsigned group_keys(void)
{
    return g.keys;
}

void group_pass_on(pid_t program)
{
    const unsigned end = g.written;
    if (g.read == end)
        return;
    uint64_t has = g.of_group | witness_ask(), matched = 0;
    for (; g.read != end; g.read++) {
        const struct note n = g.noted[g.read % NOTED];
        if (!n.sig)
            continue;
        bool of_group = witness.pid > 0 ? has & BIT(n.sig) : n.code > 0;
        matched |= BIT(n.sig);
        if (!of_group && n.from != program && n.from != witness.pid)
            send(program, &n);
    }
    g.of_group = has & ~g.of_group & ~matched; /* what is noted right now, and not an old one */
}

void group_stop(pid_t program, int sig, uint32_t *paused)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    __atomic_store_n(paused, 1, __ATOMIC_RELEASE);
    snprintf(witness.stat, sizeof witness.stat, "/proc/%d/stat", (int)program);
    __atomic_store_n(&witness.guards, 1, __ATOMIC_RELEASE);
    witness_wake();
    if (sig != SIGSTOP)
        sigaction(sig, &usual, NULL);
    raise(sig);
    __atomic_store_n(&witness.guards, 0, __ATOMIC_RELEASE);
    if (sig != SIGSTOP)
        set_action(sig);
    __atomic_store_n(paused, 0, __ATOMIC_RELEASE);
}
