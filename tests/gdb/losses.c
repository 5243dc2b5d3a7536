/* losses.c - end or stop the processes of a replay behind its back. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "losses.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4096, LEAST_US = 50000, MOST_US = 400000 };

static struct process {
    pid_t pid, parent;
} all[PROCESSES];
static size_t count;
static pid_t root, helper;
static struct {
    pthread_mutex_t lock;
    int allowed; /* losses until the next losses_allow() */
} * held;        /* shared with the helper */

static void read_process(const char *name)
{
    char path[64];
    char state;
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *f = fopen(path, "re");
    struct process *p = &all[count];
    if (f && fscanf(f, "%d (%*[^)]) %c %d", &p->pid, &state, &p->parent) == 3 && state != 'Z')
        count++;
    if (f)
        fclose(f);
}

static int is_ours(pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].pid == pid)
            return all[i].parent == root || is_ours(all[i].parent);
    return 0;
}

/* Those of the replay; the others go. */
static void look(void)
{
    DIR *d = opendir("/proc");
    count = 0;
    for (struct dirent *e; d && (e = readdir(d)) && count < PROCESSES;)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            read_process(e->d_name);
    if (d)
        closedir(d);
    static struct process ours[PROCESSES];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].pid != helper && is_ours(all[i].pid))
            ours[n++] = all[i];
    for (size_t i = 0; i < n; i++)
        all[i] = ours[i];
    count = n;
}

static void end(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
    poll(&p, 1, -1);
    close(fd);
}

void losses_one(uint64_t draw)
{
    root = helper ? root : getpid();
    look();
    if (count)
        end(all[draw % count].pid);
}

void losses_all(void)
{
    root = getpid();
    look();
    for (size_t i = 0; i < count; i++)
        end(all[i].pid);
}

void losses_pause(void)
{
    root = getpid();
    look();
    for (size_t i = 0; i < count; i++)
        kill(all[i].pid, SIGSTOP);
    usleep(1000);
    for (size_t i = 0; i < count; i++)
        kill(all[i].pid, SIGCONT);
}

void losses_begin(unsigned seed)
{
    pthread_mutexattr_t attr;
    held = mmap(NULL, sizeof *held, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (held == MAP_FAILED)
        abort();
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&held->lock, &attr);
    root = getpid();
    helper = fork();
    if (helper)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    helper = getpid();
    for (srandom(seed);;) {
        usleep(LEAST_US + (unsigned)random() % (MOST_US - LEAST_US));
        losses_hold();
        if (held->allowed-- > 0)
            losses_one((uint64_t)random());
        losses_release();
    }
}

void losses_hold(void)
{
    if (held)
        pthread_mutex_lock(&held->lock);
}

void losses_release(void)
{
    if (held)
        pthread_mutex_unlock(&held->lock);
}

void losses_allow(int losses)
{
    losses_hold();
    if (held)
        held->allowed = losses;
    losses_release();
}

void losses_end(void)
{
    if (!helper)
        return;
    losses_hold();
    end(helper);
    waitpid(helper, NULL, 0);
    helper = 0;
    losses_release();
}
