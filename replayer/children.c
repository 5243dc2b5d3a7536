/* children.c - which children does this process have? SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Numbers with spaces between them; one may be cut in two by the end of the buffer. */
static bool read_list(int fd, bool (*fn)(void *arg, pid_t pid), void *arg)
{
    char text[4096];
    pid_t pid = 0;
    for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid && !fn(arg, pid))
                return false;
            pid = 0;
        }
    return true;
}

static bool each_listed(bool (*fn)(void *arg, pid_t pid), void *arg)
{
    bool there = false, more = true;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && more && (e = readdir(d));) {
        char path[64];
        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        there = true;
        more = read_list(fd, fn, arg);
        close(fd);
    }
    if (d)
        closedir(d);
    return there;
}

static void each_process(bool (*fn)(void *arg, pid_t pid), void *arg)
{
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && !fn(arg, atoi(e->d_name)))
            break;
    if (d)
        closedir(d);
}

bool children_each(bool lists, bool (*fn)(void *arg, pid_t pid), void *arg)
{
    if (lists)
        return each_listed(fn, arg);
    each_process(fn, arg);
    return true;
}
