/* warden.c - the replaying processes. SPDX-License-Identifier: MIT
 *
 * Invariants, while the lock is held:
 * 1. Every ward is a child of this process that has not been waited for, so its number is its own.
 * 2. A family's first process is waited for last, so the group's number is the family's, too.
 * 3. Without `asked`, a member of a family's group that is not in the list was not asked for.
 */
#define _GNU_SOURCE
#include "replayer/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "replayer/cage.h"
#include "replayer/children.h"
#include "replayer/held.h"
#include "replayer/jobs.h"
#include "replayer/replay.h"

struct family {
    pid_t group;
    int write_end; /* of its switch */
    unsigned wards;
};

struct ward {
    struct ward *next;
    struct family *family;
    pid_t pid;
    int fd; /* of the process */
    bool ended;
};

enum {
    LOOK_MS = 50,        /* between two looks at the list of children */
    MEASURE_MS = 1000,   /* at least, between two measurements */
    MEASURE_SHARE = 50,  /* a measurement takes at most one part in so many of the time */
    ERRNO_MOST = 4095,   /* of a failed call */
    UNLISTED_SHARE = 20, /* without lists of children: one look in so many */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static struct ward *wards; /* those that ended and are not waited for, too */
static unsigned alive;     /* not ended by us */
static unsigned asked;     /* copies that may be there and are not adopted yet */
static bool watched;       /* by the thread */
static bool unlisted;      /* this kernel has no lists of children */
static char reason[sizeof((struct err *)0)->msg]; /* they are condemned for; "": they are not */

/* ---- the limit ---- */

int warden_allow(uint64_t bytes, struct err *err)
{
    if (bytes <= memory_limit())
        return 0;
    return err_set(err,
                   "the replay holds more than %llu MB of memory and was stopped; "
                   "%s=MB allows more",
                   (unsigned long long)(memory_limit() >> 20), memory_setting);
}

/* ---- ending ---- */

/* At once and with those that are just being made: fork takes the same lock. */
static void kill_family(const struct family *f)
{
    kill(-f->group, SIGKILL);
}

static void condemn(const char *why)
{
    if (reason[0])
        return;
    snprintf(reason, sizeof reason, "%s", why);
    for (const struct ward *w = wards; w; w = w->next)
        kill_family(w->family);
}

int warden_condemn(const char *why, struct err *err)
{
    pthread_mutex_lock(&lock);
    condemn(why);
    err_set(err, "%s", reason);
    pthread_mutex_unlock(&lock);
    return -1;
}

static void forget(struct ward *ward)
{
    struct ward **at = &wards;
    while (*at != ward)
        at = &(*at)->next;
    *at = ward->next;
    close(ward->fd);
    free(ward);
}

/* Waits for those that were ended and have died; the first of a family stays. */
static void reap(void)
{
    for (struct ward *w = wards, *next; w; w = next) {
        siginfo_t how = {.si_pid = 0};
        next = w->next;
        if (!w->ended || w->pid == w->family->group)
            continue;
        if (waitid(P_PIDFD, (id_t)w->fd, &how, WEXITED | WNOHANG) || how.si_pid)
            forget(w);
    }
}

/* All of it has been ended: waits until it has died, with what nobody asked for. */
static void end_family(struct family *f)
{
    kill_family(f);
    jobs_remove(f->group);
    close(f->write_end);
    while (!waitid(P_PGID, (id_t)f->group, NULL, WEXITED) || errno == EINTR)
        ;
    for (struct ward *w = wards, *next; w; w = next) {
        next = w->next;
        if (w->family == f)
            forget(w);
    }
    free(f);
}

void warden_end(struct ward *ward)
{
    if (!ward)
        return;
    pthread_mutex_lock(&lock);
    syscall(SYS_pidfd_send_signal, ward->fd, SIGKILL, NULL, 0);
    ward->ended = true;
    if (!--ward->family->wards)
        end_family(ward->family);
    if (!--alive) {
        reason[0] = 0;
        pthread_cond_signal(&emptied);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- watching ---- */

/* Members of families that are not wards. */
struct strangers {
    unsigned count, enough;
    pid_t last;
    pid_t *list; /* room for `enough`; NULL: not wanted */
};

static bool count_stranger(void *arg, pid_t pid)
{
    struct strangers *s = arg;
    const pid_t group = getpgid(pid);
    const struct ward *w = wards, *member = NULL;
    for (; w && w->pid != pid; w = w->next)
        if (w->family->group == group)
            member = w;
    if (!w && member) {
        if (s->list)
            s->list[s->count] = pid;
        s->count++;
        s->last = pid;
    }
    return s->count < s->enough;
}

static struct strangers find_strangers(unsigned enough, pid_t *list)
{
    struct strangers s = {.enough = enough, .list = list};
    if (unlisted || !children_each(true, count_stranger, &s)) {
        unlisted = true;
        children_each(false, count_stranger, &s);
    }
    return s;
}

static void look_for_strangers(void)
{
    static unsigned looks;
    reap();
    if (unlisted && ++looks % UNLISTED_SHARE)
        return;
    if (find_strangers(asked + 1, NULL).count > asked)
        condemn("the replayed program made a process that nobody asked for; it was stopped");
}

static uint64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A copy counts before it is adopted, too: its maker may never name it. */
static size_t copy_pids(pid_t **out)
{
    size_t n = 0;
    pid_t *pid = malloc((alive + asked + 1) * sizeof *pid);
    for (const struct ward *w = wards; w && pid; w = w->next)
        if (!w->ended)
            pid[n++] = w->pid;
    if (pid && asked)
        n += find_strangers(asked, pid + n).count;
    *out = pid;
    return n;
}

/* The lock is given back for it: it may take long, and a number that is somebody else's by then
 * does no harm for once. Returns how much they held. */
static uint64_t measure(void)
{
    struct err err;
    pid_t *pid;
    size_t count = copy_pids(&pid);
    pthread_mutex_unlock(&lock);
    uint64_t bytes = held_bytes(pid, count, memory_limit());
    free(pid);
    pthread_mutex_lock(&lock);
    if (alive && warden_allow(bytes, &err))
        condemn(err.msg);
    return bytes;
}

/* When the machine could give so much less than it could, it is time to measure. */
struct watch {
    uint64_t could; /* bytes: what it can give, and what is held */
    uint64_t measured_ms, took_ms;
};

static void look_at_memory(struct watch *w)
{
    const uint64_t can = memory_available(), start = clock_ms();
    uint64_t apart =
        MEASURE_MS > w->took_ms * MEASURE_SHARE ? MEASURE_MS : w->took_ms * MEASURE_SHARE;
    w->could = can > w->could ? can : w->could;
    if (w->could - can <= memory_limit() && start - w->measured_ms < apart)
        return;
    w->could = can + measure();
    w->measured_ms = clock_ms();
    w->took_ms = w->measured_ms - start;
}

static void *watch(void *arg)
{
    struct watch w = {.could = memory_available(), .measured_ms = clock_ms()};
    struct timespec until;
    pthread_mutex_lock(&lock);
    while (alive) {
        look_for_strangers();
        look_at_memory(&w);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (alive)
            pthread_cond_timedwait(&emptied, &lock, &until);
    }
    watched = false;
    pthread_mutex_unlock(&lock);
    return arg;
}

/* Signals are for other threads. */
static int start_watch(struct err *err)
{
    pthread_t thread;
    sigset_t all, old;
    if (watched)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        return err_set(err, "the replay cannot be watched: %s", strerror(error));
    pthread_detach(thread);
    watched = true;
    return 0;
}

/* ---- making ---- */

static struct ward *add(struct family *f, pid_t pid, int fd)
{
    struct ward *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct ward){.next = wards, .family = f, .pid = pid, .fd = fd};
    wards = w;
    f->wards++;
    alive++;
    return w;
}

/* So that a child's number is its own until it is waited for. */
static void keep_ended_children(void)
{
    struct sigaction now;
    if (!sigaction(SIGCHLD, NULL, &now) &&
        (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT)))
        signal(SIGCHLD, SIG_DFL);
}

static int refuse(struct err *err)
{
    pthread_mutex_lock(&lock);
    int result = reason[0] ? err_set(err, "%s", reason) : 0;
    pthread_mutex_unlock(&lock);
    return result;
}

static struct ward *watch_first(struct family *f, struct err *err)
{
    const int fd = (int)syscall(SYS_pidfd_open, f->group, 0);
    struct ward *w = NULL;
    pthread_mutex_lock(&lock);
    if (fd < 0)
        err_set(err, "the replaying process cannot be watched: %m");
    else if (!start_watch(err) && !(w = add(f, f->group, fd)))
        err_set(err, "no memory");
    pthread_mutex_unlock(&lock);
    if (!w && fd >= 0)
        close(fd);
    return w;
}

static pid_t start(void (*run)(void *arg, int fd), void *arg, int *write_end, struct err *err)
{
    int end[2];
    if (pipe2(end, O_CLOEXEC))
        return err_set(err, "pipe: %m");
    keep_ended_children();
    pid_t pid = fork();
    if (pid == 0) {
        cage_enter(end[0], end[1]);
        run(arg, end[0]);
        _exit(1);
    }
    if (pid < 0) {
        err_set(err, "fork: %m");
        close(end[1]);
    } else
        setpgid(pid, pid); /* whoever comes first */
    close(end[0]);
    *write_end = end[1];
    return pid;
}

struct ward *warden_start(void (*run)(void *arg, int fd), void *arg, struct err *err)
{
    if (refuse(err) || memory_check_setting(err))
        return NULL;
    struct family *f = calloc(1, sizeof *f);
    if (!f) {
        err_set(err, "no memory");
        return NULL;
    }
    f->group = start(run, arg, &f->write_end, err);
    struct ward *w = f->group > 0 ? watch_first(f, err) : NULL;
    if (w)
        jobs_add(f->group);
    if (!w && f->group > 0) {
        kill(f->group, SIGKILL);
        waitpid(f->group, NULL, 0);
        close(f->write_end);
    }
    if (!w)
        free(f);
    return w;
}

void warden_expect(void)
{
    pthread_mutex_lock(&lock);
    asked++;
    pthread_mutex_unlock(&lock);
}

static bool is_member(const struct family *f, pid_t pid, int fd)
{
    siginfo_t how;
    const struct ward *w = wards;
    while (w && w->pid != pid)
        w = w->next;
    return !w && !waitid(P_PIDFD, (id_t)fd, &how, WEXITED | WNOHANG | WNOWAIT) &&
           getpgid(pid) == f->group;
}

/* The maker may have ended between making a copy and naming it: that one was asked for. */
static void end_unnamed(void)
{
    struct strangers s = find_strangers(1, NULL);
    int fd = s.count ? (int)syscall(SYS_pidfd_open, s.last, 0) : -1;
    if (fd < 0)
        return;
    if (!waitid(P_PIDFD, (id_t)fd, NULL, WEXITED | WNOHANG | WNOWAIT)) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        waitid(P_PIDFD, (id_t)fd, NULL, WEXITED);
    }
    close(fd);
}

static struct ward *adopt(struct family *f, pid_t named, struct err *err)
{
    if (named <= 0 && named >= -ERRNO_MOST) {
        err_set(err, "fork: %s", strerror(-named));
        return NULL;
    }
    const int fd = named > 0 ? (int)syscall(SYS_pidfd_open, named, 0) : -1;
    if (fd < 0 && named > 0) {
        err_set_code(err, REPLAY_GONE, "the replaying process has ended");
        return NULL;
    }
    struct ward *w = NULL;
    if (fd >= 0 && is_member(f, named, fd)) {
        w = add(f, named, fd);
        if (!w)
            err_set(err, "no memory");
    } else {
        condemn("the replayed program named a process that is not its own; it was stopped");
        err_set(err, "%s", reason);
    }
    if (!w && fd >= 0)
        close(fd);
    return w;
}

struct ward *warden_adopt(struct ward *maker, pid_t named, struct err *err)
{
    pthread_mutex_lock(&lock);
    struct ward *w = adopt(maker->family, named, err);
    if (!w)
        end_unnamed();
    asked--;
    pthread_mutex_unlock(&lock);
    return w;
}

/* ---- asking ---- */

bool warden_gone(const struct ward *ward)
{
    struct pollfd p = {.fd = ward->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1 && p.revents;
}

pid_t warden_pid(const struct ward *ward)
{
    return ward->pid;
}

int warden_why(const struct ward *ward, struct err *err)
{
    siginfo_t how = {.si_pid = 0};
    if (refuse(err))
        return -1;
    if (waitid(P_PIDFD, (id_t)ward->fd, &how, WEXITED | WNOHANG | WNOWAIT) || !how.si_pid)
        return err_set_code(err, REPLAY_GONE, "the replaying process has ended");
    if (how.si_code != CLD_EXITED && how.si_status == SIGSYS)
        return err_set(err, "the replayed program tried to leave its confinement; it was stopped");
    if (how.si_code != CLD_EXITED)
        return err_set_code(err, REPLAY_GONE, "the replaying process ended by signal %d",
                            how.si_status);
    if (cage_text(how.si_status))
        return err_set(err, "the replaying process cannot be confined: %s",
                       cage_text(how.si_status));
    return err_set_code(err, REPLAY_GONE, "the replaying process ended with status %d",
                        how.si_status);
}
