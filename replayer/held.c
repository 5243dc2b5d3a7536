/* held.c - how much memory do processes really hold?
 *
 * SPDX-License-Identifier: MIT
 *
 * Private memory and page tables are in /proc/PID/status, where shared pages count in full for
 * everybody who maps them, and in /proc/PID/smaps_rollup, where they are divided by their number.
 * Memory of a memfd that is mapped nowhere is in neither: the blocks of all open ones are added up,
 * each once, by inode. The larger of the two sums, of mapped and of open shared memory, counts:
 * most of it is both.
 */
#define _GNU_SOURCE
#include "replayer/held.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/memory.h"

struct file {
    ino_t inode;
    uint64_t bytes;
};

struct files {
    struct file *list;
    size_t count, room;
};

struct sum {
    uint64_t own, shared; /* bytes */
};

static void add_bound(pid_t pid, struct sum *sum)
{
    const struct memory_line lines[] = {{"RssAnon", &sum->own},
                                        {"VmSwap", &sum->own},
                                        {"VmPTE", &sum->own},
                                        {"RssShmem", &sum->shared}};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    memory_lines(path, lines, sizeof lines / sizeof *lines);
}

static void add_exact(pid_t pid, struct sum *sum)
{
    const struct memory_line tables[] = {{"VmPTE", &sum->own}};
    const struct memory_line lines[] = {
        {"Pss_Anon", &sum->own}, {"SwapPss", &sum->own}, {"Pss_Shmem", &sum->shared}};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    memory_lines(path, tables, sizeof tables / sizeof *tables);
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    memory_lines(path, lines, sizeof lines / sizeof *lines);
}

/* ---- open shared memory ---- */

/* A file that there is no memory for is not counted. */
static void add_file(struct files *f, const struct stat *s)
{
    const struct file file = {s->st_ino, (uint64_t)s->st_blocks * 512};
    (void)array_push(&f->list, &f->count, &f->room, file);
}

/* The only regular files that a replaying process has open are memfds. */
static void add_open(pid_t pid, struct files *f)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat s;
        if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &s, 0) && S_ISREG(s.st_mode))
            add_file(f, &s);
    }
    if (d)
        closedir(d);
}

static int by_inode(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static uint64_t open_bytes(const pid_t *pid, size_t count)
{
    struct files f = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        add_open(pid[i], &f);
    if (f.count)
        qsort(f.list, f.count, sizeof *f.list, by_inode);
    for (size_t i = 0; i < f.count; i++)
        if (!i || f.list[i].inode != f.list[i - 1].inode)
            bytes += f.list[i].bytes;
    free(f.list);
    return bytes;
}

/* ---- the interface ---- */

uint64_t held_bytes(const pid_t *pid, size_t count, uint64_t enough)
{
    const uint64_t open = open_bytes(pid, count);
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++)
        add_bound(pid[i], &sum);
    if (sum.own + (sum.shared > open ? sum.shared : open) > enough) {
        sum = (struct sum){0};
        for (size_t i = 0; i < count; i++)
            add_exact(pid[i], &sum);
    }
    return sum.own + (sum.shared > open ? sum.shared : open);
}
