/* sharers.c - who else has a process's shared memory. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "logger/sharers.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/rt/maplist.h"

/* What identifies an object in /proc/PID/maps. (stat does not say the same everywhere.) */
struct object {
    uint64_t device, inode;
};

enum { LINES = 4096 }; /* bytes of the list at a time */

/* Objects that are shared; more than so many are not looked for. */
enum { OBJECTS = 256 };

struct objects {
    struct object object[OBJECTS];
    size_t count;
};

static bool known(const struct objects *o, const struct maplist_entry *e)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->object[i].inode == e->ino && o->object[i].device == e->dev)
            return true;
    return false;
}

static void add(struct objects *o, const struct maplist_entry *e)
{
    o->object[o->count++] = (struct object){e->dev, e->ino};
}

/* The one that is mapped at `at` in this process. */
static void own_object(const void *at, struct objects *o)
{
    struct maplist maps;
    struct maplist_entry e;
    char lines[LINES];
    if (maplist_open(&maps, 0, lines, sizeof lines))
        return;
    while (!o->count && maplist_next(&maps, &e))
        if (e.start <= (uintptr_t)at && (uintptr_t)at < e.end)
            add(o, &e);
    maplist_close(&maps);
}

/* The file of an entry; below 0 if its name leads to something else by now. */
static int open_mapped(const struct maplist_entry *e)
{
    struct stat st;
    if (e->path[0] != '/' || lstat(e->path, &st) || !S_ISREG(st.st_mode))
        return -1;
    int fd = open(e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) || st.st_dev != e->dev || st.st_ino != e->ino)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The kernel gives a lease for reading only if nobody has the file open for writing, nor mapped so.
 * It is given back at once. A process that opens the file in between waits for that, and this one
 * gets a signal, which is to be one that it does not pass on. */
static bool nobody_writes(const struct maplist_entry *e)
{
    int fd = open_mapped(e);
    bool given = fd >= 0 && !fcntl(fd, F_SETSIG, SIGCHLD) && !fcntl(fd, F_SETLEASE, F_RDLCK);
    if (given)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    if (fd >= 0)
        close(fd);
    return given;
}

/* What somebody may write: most files that are mapped have no writer at all. */
static void list(pid_t pid, const struct objects *without, struct objects *o)
{
    struct maplist maps;
    struct maplist_entry e;
    struct objects free = {.count = 0};
    char lines[LINES];
    if (maplist_open(&maps, pid, lines, sizeof lines))
        return;
    while (o->count < OBJECTS && maplist_next(&maps, &e)) {
        if ((!e.shared && !e.ino) || (e.prot & PROT_EXEC) || known(without, &e) || known(o, &e) ||
            known(&free, &e))
            continue;
        const bool idle = free.count < OBJECTS && nobody_writes(&e);
        add(idle ? &free : o, &e);
    }
    maplist_close(&maps);
}

static bool has_one(pid_t pid, const struct objects *o)
{
    struct maplist maps;
    struct maplist_entry e;
    char lines[LINES];
    bool found = false;
    if (maplist_open(&maps, pid, lines, sizeof lines))
        return false;
    while (!found && maplist_next(&maps, &e))
        found = (e.prot & PROT_WRITE) && e.shared && known(o, &e);
    maplist_close(&maps);
    return found;
}

/* Has it one of these files open for writing? The links' permissions say how they are open. */
static bool writes_one(pid_t pid, const struct objects *o)
{
    char name[32];
    struct stat link, st;
    struct dirent *e;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    DIR *all = opendir(name);
    while (all && !found && (e = readdir(all))) {
        const int dir = dirfd(all);
        if (fstatat(dir, e->d_name, &link, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(link.st_mode) ||
            !(link.st_mode & S_IWUSR) || fstatat(dir, e->d_name, &st, 0) || !S_ISREG(st.st_mode))
            continue;
        found = known(o, &(struct maplist_entry){.dev = st.st_dev, .ino = st.st_ino});
    }
    if (all)
        closedir(all);
    return found;
}

static bool same_memory(pid_t a, pid_t b)
{
    return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

bool sharers_find(pid_t pid, const void *ring)
{
    struct objects o = {.count = 0}, ours = {.count = 0};
    bool found = false;
    own_object(ring, &ours);
    list(pid, &ours, &o);
    DIR *all = o.count ? opendir("/proc") : NULL;
    struct dirent *e;
    while (all && !found && (e = readdir(all))) {
        pid_t other = atoi(e->d_name);
        found = other > 0 && other != pid && other != getpid() &&
                (has_one(other, &o) || writes_one(other, &o)) && !same_memory(pid, other);
    }
    if (all)
        closedir(all);
    return found;
}
