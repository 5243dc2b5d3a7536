/* warden_test.c - replaying processes that attack: none gets away, none takes others with it.
 *
 * SPDX-License-Identifier: MIT
 *
 * warden_test HOSTILE ESCAPER DIR [CASE ...]: pinballs are made in DIR by HOSTILE, with ESCAPER
 * (escaper.c) as their program. Each case is a process of its own, since a process has one limit of
 * memory; run by root, each runs once more as nobody.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escaper.h"
#include "pinball/pinball.h"
#include "replayer/replay_private.h"

enum {
    COPIES = 5,
    NOBODY = 65534,
    LIMIT_MB = 200,
    MUCH_MB = 1000,
    TABLES_MB = 190,
    TABLES_LIMIT_MB = 90
};

static const char *hostile, *escaper, *top;

_Noreturn static void fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("FAILED: ", stdout);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    fflush(stdout);
    _exit(1);
}

/* ---- pinballs ---- */

static struct pinball *attack(enum escape how, const long arg[5])
{
    char text[4096], dir[2048];
    struct err err;
    static int number;
    snprintf(dir, sizeof dir, "%s/%d.%d", top, (int)getpid(), number++);
    snprintf(text, sizeof text, "'%s' '%s' talk '%s' %d %ld %ld %ld %ld %ld", hostile, dir, escaper,
             (int)how, arg[0], arg[1], arg[2], arg[3], arg[4]);
    if (system(text))
        fail("%s", text);
    struct pinball *p = pinball_open(dir, &err);
    if (!p)
        fail("%s", err.msg);
    return p;
}

static struct replay *start(enum escape how, bool copies, long a, struct pinball **pinball)
{
    struct err err;
    struct replay_options options = {.copies = copies};
    *pinball = attack(how, (const long[5]){a});
    struct replay *r = replay_new(*pinball, &options, &err);
    if (!r)
        fail("replay_new: %s", err.msg);
    return r;
}

static void finish(struct replay *r, struct pinball *p)
{
    replay_free(r);
    pinball_close(p);
}

static void run(struct replay *r)
{
    struct replay_stop stop;
    struct err err;
    if (replay_run(r, NULL, &stop, &err))
        fail("it did not stop: %s", err.msg);
}

/* It is ended, now or soon, and every use of it says why. */
static void expect_end(struct replay *r, const char *why)
{
    struct program_registers regs;
    struct replay_stop stop;
    struct err err = {.code = 0};
    bool ran = !replay_run(r, NULL, &stop, &err);
    while (ran && !replay_gone(r))
        usleep(1000);
    if (ran && !replay_registers(r, 0, &regs, &err))
        fail("a process that is gone answers");
    if (err.code || !strstr(err.msg, why))
        fail("expected '%s', got '%s'", why, err.msg);
}

static void expect_no_children(void)
{
    pid_t pid = waitpid(-1, NULL, WNOHANG);
    if (pid != -1 || errno != ECHILD)
        fail("there is a child left (%d)", (int)pid);
}

/* ---- others ---- */

struct victim {
    pid_t pid;
    int fd;
};

static pid_t sleeper(void)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

/* A child, or a child's child. */
static struct victim make_victim(bool near)
{
    int end[2];
    struct victim v;
    if (pipe(end))
        fail("pipe");
    pid_t pid = near ? sleeper() : fork();
    if (!pid) {
        pid = sleeper();
        if (write(end[1], &pid, sizeof pid) != sizeof pid)
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    v.pid = pid;
    if (!near && read(end[0], &v.pid, sizeof v.pid) != sizeof v.pid)
        fail("read");
    v.fd = (int)syscall(SYS_pidfd_open, v.pid, 0);
    if (v.fd < 0)
        fail("pidfd_open");
    return v;
}

static bool has_ended(int fd, int wait_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, wait_ms) == 1;
}

/* ---- cases ---- */

static void names_others(void)
{
    for (int near = 0; near < 2; near++) {
        struct victim v = make_victim(near);
        struct pinball *p;
        struct err err;
        struct replay *r = start(ESCAPE_NAME, true, v.pid, &p);
        run(r);
        struct replay *c = replay_copy(r, &err);
        replay_free(c);
        if (has_ended(v.fd, c ? 1000 : 0))
            fail("it had a process killed that is not its own");
        if (c || !strstr(err.msg, "not its own"))
            fail("it named another process, and that was believed");
        finish(r, p);
        if (has_ended(v.fd, 100))
            fail("it had a process killed that is not its own, in the end");
    }
}

/* Numbers that are neither a process nor a failed call's. */
static void names_nobody(void)
{
    static const long number[] = {INT_MIN, -4096, -1000000};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct pinball *p;
        struct err err;
        struct replay *r = start(ESCAPE_NAME, true, number[i], &p);
        run(r);
        if (replay_copy(r, &err) || !strstr(err.msg, "not its own"))
            fail("it named %ld: %s", number[i], err.msg);
        finish(r, p);
        expect_no_children();
    }
}

static void names_itself(void)
{
    struct pinball *p;
    struct err err;
    struct replay *r = start(ESCAPE_OBEY, true, 0, &p), *first;
    run(r);
    if (!(first = replay_copy(r, &err)))
        fail("%s", err.msg);
    struct pinball *q;
    struct replay *other = start(ESCAPE_NAME, true, replay_pid(first), &q);
    run(other);
    if (replay_copy(other, &err) || !strstr(err.msg, "not its own"))
        fail("it named a process that is known, and that was believed");
    finish(other, q);
    replay_free(first);
    finish(r, p);
    expect_no_children();
}

static void makes_processes(void)
{
    static const enum escape how[] = {ESCAPE_MAKE, ESCAPE_MAKE_IDLE};
    for (int i = 0; i < 2; i++) {
        struct pinball *p;
        struct replay *r = start(how[i], true, 8, &p);
        expect_end(r, "nobody asked for");
        finish(r, p);
        expect_no_children();
    }
}

/* The process that is killed, with copies. */
static void supervise(int out, bool leave)
{
    struct pinball *p;
    struct err err;
    struct replay *r[COPIES + 1] = {start(ESCAPE_OBEY, true, 0, &p)};
    run(r[0]);
    for (int i = 1; i <= COPIES; i++)
        if (!(r[i] = replay_copy(r[0], &err)))
            fail("%s", err.msg);
    for (int i = 0; i <= COPIES; i++) {
        pid_t pid = replay_pid(r[i]);
        if (write(out, &pid, sizeof pid) != sizeof pid)
            _exit(1);
    }
    while (!leave)
        pause();
    usleep(100000); /* so that the other side has seen them */
    _exit(0);
}

static void outlives(void)
{
    for (int leave = 0; leave < 2; leave++) {
        int end[2], fd[COPIES + 1], left = 0;
        pid_t pid, supervisor;
        if (pipe(end))
            fail("pipe");
        if (!(supervisor = fork()))
            supervise(end[1], leave);
        for (int i = 0; i <= COPIES; i++) {
            if (read(end[0], &pid, sizeof pid) != sizeof pid)
                fail("read");
            fd[i] = (int)syscall(SYS_pidfd_open, pid, 0);
        }
        if (!leave)
            kill(supervisor, SIGKILL);
        waitpid(supervisor, NULL, 0);
        for (int i = 0; i <= COPIES; i++)
            if (fd[i] >= 0 && !has_ended(fd[i], 10000)) {
                left++;
                syscall(SYS_pidfd_send_signal, fd[i], SIGKILL, NULL, 0);
            }
        if (left)
            fail("%d of %d processes live on after their supervisor", left, COPIES + 1);
    }
}

static void eats(void)
{
    static const struct {
        enum escape how;
        int limit, bytes; /* MB */
    } kinds[] = {{ESCAPE_EAT, LIMIT_MB, MUCH_MB},
                 {ESCAPE_EAT_UNMAPPED, LIMIT_MB, MUCH_MB},
                 {ESCAPE_EAT_TABLES, TABLES_LIMIT_MB, TABLES_MB}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[32];
        struct pinball *p;
        pid_t pid = fork(); /* each has a limit of its own */
        if (pid) {
            int status;
            waitpid(pid, &status, 0);
            if (status)
                _exit(1);
            continue;
        }
        snprintf(text, sizeof text, "%d", kinds[i].limit);
        setenv("DRDEBUG_REPLAY_MEMORY", text, 1);
        struct replay *r = start(kinds[i].how, false, (long)kinds[i].bytes << 20, &p);
        snprintf(text, sizeof text, "more than %d MB", kinds[i].limit);
        expect_end(r, text);
        finish(r, p);
        _exit(0);
    }
}

/* So that nothing is lost on the machine if it is not noticed, it does not eat all there is. */
static void eats_unseen(void)
{
    char text[32];
    struct pinball *p;
    struct err err;
    snprintf(text, sizeof text, "%d", LIMIT_MB);
    setenv("DRDEBUG_REPLAY_MEMORY", text, 1);
    struct replay *r = start(ESCAPE_EAT_COPY, true, (long)MUCH_MB << 20, &p);
    run(r);
    snprintf(text, sizeof text, "more than %d MB", LIMIT_MB);
    if (replay_copy(r, &err) || !strstr(err.msg, text))
        fail("%s", err.msg);
    finish(r, p);
    expect_no_children();
}

static void calls(void)
{
    enum { CLONE = 56, MADVISE = 28, MMAP = 9, FUTEX = 202, COPY = 0x8011, X32 = 0x40000000 };
    static const struct {
        long arg[5]; /* number, arguments */
        bool copies;
    } bad[] = {
        {{2}, false},                             /* open */
        {{41, 2, 1}, false},                      /* socket */
        {{62, 1, 9}, false},                      /* kill */
        {{57}, true},                             /* fork */
        {{58}, true},                             /* vfork */
        {{435}, true},                            /* clone3 */
        {{CLONE, COPY}, false},                   /* no copies were wanted */
        {{CLONE, 17}, true},                      /* SIGCHLD alone: a child of its own */
        {{CLONE, COPY | 0x100}, true},            /* CLONE_VM */
        {{CLONE, 0x8000}, true},                  /* without SIGCHLD */
        {{MADVISE, 0, 4096, 100}, false},         /* MADV_HWPOISON */
        {{MADVISE, 0, 4096, 101}, false},         /* MADV_SOFT_OFFLINE */
        {{MADVISE, 0, 4096, 10}, false},          /* MADV_DONTFORK */
        {{MADVISE, 0, 4096, 12}, false},          /* MADV_MERGEABLE */
        {{3, 0}, false},                          /* close: files */
        {{3, 1}, false},                          /* mailboxes */
        {{3, 2}, false},                          /* the switch */
        {{319, 0x400000, 4}, false},              /* memfd_create: MFD_HUGETLB */
        {{77, 1, 0}, false},                      /* ftruncate: mailboxes */
        {{FUTEX, 0x400000, 6}, false},            /* FUTEX_LOCK_PI */
        {{FUTEX, 0x400000, 4}, false},            /* FUTEX_CMP_REQUEUE */
        {{MMAP, 0, 4096, 3, 0x40022}, false},     /* MAP_HUGETLB */
        {{MMAP, 0, 4096, 3, 0x2022}, false},      /* MAP_LOCKED */
        {{10, 0x400000, 4096, 0x1000007}, false}, /* mprotect: PROT_GROWSDOWN */
        {{25, 0x400000, 4096, 4096, 8}, false},   /* mremap: an unknown flag */
        {{228, -10, 0x400000}, false},            /* clock_gettime: a process's */
        {{110}, false},                           /* getppid */
        {{218, 0x400000}, false},                 /* set_tid_address */
        {{109, 0, 0}, false},                     /* setpgid */
        {{112}, false},                           /* setsid */
        {{157, 1, 0}, false},                     /* prctl: PR_SET_PDEATHSIG */
        {{72, 2, 4, 0}, false},                   /* fcntl: F_SETFL of the switch */
        {{33, 0, 2}, false},                      /* dup2 */
        {{436, 0, -1}, false},                    /* close_range */
        {{16, 2, 0x5452}, false},                 /* ioctl: FIOASYNC */
        {{302, 0, 1}, false},                     /* prlimit64 */
        {{126}, false},                           /* capset */
        {{101}, false},                           /* ptrace */
        {{310}, false},                           /* process_vm_readv */
        {{29}, false},                            /* shmget */
        {{X32 | 9, 0, 4096, 3, 0x22}, false},     /* mmap, by another ABI */
    };
    static const long good[][5] = {{158, 0x9999}, {9, 0, 4096, 3, 0x4022}, {28, 0, 4096, 4}};
    struct replay_options options = {.copies = false};
    struct err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pinball *p = attack(ESCAPE_CALL, bad[i].arg);
        struct replay_stop stop;
        options.copies = bad[i].copies;
        struct replay *r = replay_new(p, &options, &err);
        if (!r || !replay_run(r, NULL, &stop, &err) || !strstr(err.msg, "confinement"))
            fail("call %ld (%ld, %ld, %ld, %ld) was allowed: %s", bad[i].arg[0], bad[i].arg[1],
                 bad[i].arg[2], bad[i].arg[3], bad[i].arg[4], r ? "" : err.msg);
        finish(r, p);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct pinball *p = attack(ESCAPE_CALL, good[i]);
        struct replay *r = replay_new(p, &options, &err);
        if (!r)
            fail("%s", err.msg);
        run(r);
        finish(r, p);
    }
}

static void expect_line(pid_t pid, const char *file, const char *line)
{
    char path[64], text[4096];
    size_t length = strlen(line);
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(text, sizeof text, f))
        found = !strncmp(text, line, length);
    if (f)
        fclose(f);
    if (!found)
        fail("%s: no line '%s'", path, line);
}

/* It has nothing that it could use, and a group of its own; so have its copies. */
static void has_nothing(void)
{
    struct pinball *p;
    struct err err;
    struct replay *r = start(ESCAPE_OBEY, true, 0, &p);
    run(r);
    struct replay *c = replay_copy(r, &err);
    if (!c)
        fail("%s", err.msg);
    const pid_t pids[] = {replay_pid(r), replay_pid(c)};
    for (int i = 0; i < 2; i++) {
        static const char *const none[] = {"CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd"};
        for (int k = 0; k < (geteuid() ? 4 : 5); k++) {
            char line[64];
            snprintf(line, sizeof line, "%s:\t0000000000000000", none[k]);
            expect_line(pids[i], "status", line);
        }
        expect_line(pids[i], "status", "NoNewPrivs:\t1");
        expect_line(pids[i], "status", "Seccomp:\t2");
        expect_line(pids[i], "oom_score_adj", "1000");
        expect_line(pids[i], "limits", "Max core file size        1   ");
        if (getpgid(pids[i]) != pids[0] || pids[0] == getpgrp())
            fail("it is in a group that is not its own");
    }
    replay_free(c);
    finish(r, p);
    expect_no_children();
}

static char state_of(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(text, sizeof text, f))
        fail("%s", path);
    fclose(f);
    return strrchr(text, ')')[2];
}

static void wait_for_state(pid_t pid, bool stopped)
{
    enum { TRIES = 60000 };
    for (int i = 0; i < TRIES; i++) {
        if ((state_of(pid) == 'T') == stopped)
            return;
        usleep(1000);
    }
    fail("the replaying process %s", stopped ? "runs on" : "stays stopped");
}

/* Ctrl-Z means the processes that only the supervisor watches, too. */
static void stops_too(void)
{
    int end[2], how;
    pid_t pid[COPIES + 1];
    if (pipe(end))
        fail("pipe");
    pid_t supervisor = fork();
    if (!supervisor) {
        setpgid(0, 0); /* its parent is in the session: it can be stopped */
        supervise(end[1], false);
    }
    for (int i = 0; i <= COPIES; i++)
        if (read(end[0], &pid[i], sizeof pid[i]) != sizeof pid[i])
            fail("read");
    for (int round = 0; round < 2; round++) {
        kill(supervisor, SIGTSTP);
        if (waitpid(supervisor, &how, WUNTRACED) != supervisor || !WIFSTOPPED(how))
            fail("it did not stop");
        for (int i = 0; i <= COPIES; i++)
            wait_for_state(pid[i], true);
        kill(supervisor, SIGCONT);
        for (int i = 0; i <= COPIES; i++)
            wait_for_state(pid[i], false);
    }
    kill(supervisor, SIGKILL);
    waitpid(supervisor, &how, 0);
    close(end[0]);
    close(end[1]);
}

/* ---- main ---- */

static const struct {
    const char *name;
    void (*fn)(void);
} cases[] = {{"names_others", names_others}, {"names_nobody", names_nobody},
             {"names_itself", names_itself}, {"makes_processes", makes_processes},
             {"outlives", outlives},         {"eats", eats},
             {"eats_unseen", eats_unseen},   {"calls", calls},
             {"has_nothing", has_nothing},   {"stops_too", stops_too}};

/* Files belong to whom a process was started as: that it may open its own again is said here. */
static void become_nobody(void)
{
    if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
        setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1))
        fail("cannot become nobody: %m");
}

static int run_case(int i, bool nobody)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        if (nobody)
            become_nobody();
        cases[i].fn();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    printf("%s%s: %s\n", cases[i].name, nobody ? ", as nobody" : "", status ? "FAILED" : "good");
    return status != 0;
}

static bool is_wanted(int i, char **names)
{
    bool wanted = !*names;
    for (; *names && !wanted; names++)
        wanted = !strcmp(*names, cases[i].name);
    return wanted;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc < 4)
        return 2;
    hostile = argv[1];
    escaper = argv[2];
    top = argv[3];
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        if (!is_wanted(i, argv + 4))
            continue;
        failed += run_case(i, false);
        if (!geteuid())
            failed += run_case(i, true);
    }
    return failed != 0;
}
