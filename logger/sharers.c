/* sharers.c - who else has a process's shared memory. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "logger/sharers.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What tells an object from others in /proc/PID/maps. (stat does not say the same everywhere.) */
struct object {
    char device[32];
    unsigned long long inode;
};

struct mapping {
    unsigned long long start, end;
    char perms[8];
    struct object object;
};

static FILE *open_maps(const char *pid)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    return fopen(path, "re");
}

/* The next line that is a mapping; the rest of a line that is too long is none. */
static bool next(FILE *maps, struct mapping *m)
{
    char line[512];
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %7s %*x %31s %llu", &m->start, &m->end, m->perms,
                   m->object.device, &m->object.inode) == 5)
            return true;
    return false;
}

/* Objects that are shared; more than so many are not looked for. */
enum { OBJECTS = 256 };

struct objects {
    struct object object[OBJECTS];
    size_t count;
};

static bool known(const struct objects *o, const struct object *object)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->object[i].inode == object->inode && strcmp(o->object[i].device, object->device) == 0)
            return true;
    return false;
}

/* The one that is mapped at `at` in this process. */
static void own_object(const void *at, struct objects *o)
{
    struct mapping m;
    FILE *maps = open_maps("self");
    while (maps && !o->count && next(maps, &m))
        if (m.start <= (uintptr_t)at && (uintptr_t)at < m.end)
            o->object[o->count++] = m.object;
    if (maps)
        fclose(maps);
}

static void list(const char *pid, const struct objects *without, struct objects *o)
{
    struct mapping m;
    FILE *maps = open_maps(pid);
    while (maps && o->count < OBJECTS && next(maps, &m))
        if (m.perms[3] == 's' && !known(without, &m.object) && !known(o, &m.object))
            o->object[o->count++] = m.object;
    if (maps)
        fclose(maps);
}

static bool has_one(const char *pid, const struct objects *o)
{
    struct mapping m;
    bool found = false;
    FILE *maps = open_maps(pid);
    while (maps && !found && next(maps, &m))
        found = m.perms[1] == 'w' && m.perms[3] == 's' && known(o, &m.object);
    if (maps)
        fclose(maps);
    return found;
}

static bool same_memory(pid_t a, pid_t b)
{
    return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0;
}

bool sharers_find(pid_t pid, const void *ring)
{
    struct objects o = {.count = 0}, ours = {.count = 0};
    char name[32];
    bool found = false;
    snprintf(name, sizeof name, "%d", (int)pid);
    own_object(ring, &ours);
    list(name, &ours, &o);
    DIR *all = o.count ? opendir("/proc") : NULL;
    struct dirent *e;
    while (all && !found && (e = readdir(all))) {
        pid_t other = atoi(e->d_name);
        found = other > 0 && other != pid && has_one(e->d_name, &o) && !same_memory(pid, other);
    }
    if (all)
        closedir(all);
    return found;
}
