/* failing.c - preloaded into drdebug: makes one of its writes fail, or all from one on.
 *
 * SPDX-License-Identifier: MIT
 *
 * FAIL_AT=N      the N-th call that changes a disk fails, counted from 1; 0: none
 * FAIL_WITH=E    with this errno
 * FAIL_ON=1      and so do all that follow
 * FAIL_ROOM=1    disks say that they are full
 * FAIL_COUNT=F   when drdebug ends, the number of such calls is written to this file
 *
 * Memory (memfd) and terminals, pipes and logs on standard error are no disk. A process that
 * drdebug forks is not counted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

static long at, with, seen;
static bool on;
static pid_t victim;
static const char *report;

static long number(const char *name)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    at = number("FAIL_AT");
    with = number("FAIL_WITH");
    on = number("FAIL_ON") != 0;
    report = getenv("FAIL_COUNT");
    if (strcmp(program_invocation_short_name, "drdebug") == 0)
        victim = getpid();
}

__attribute__((destructor)) static void end(void)
{
    FILE *out = report && getpid() == victim ? fopen(report, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", seen);
        fclose(out);
    }
}

static bool fails(void)
{
    if (getpid() != victim)
        return false;
    seen++;
    if (!at || (on ? seen < at : seen != at))
        return false;
    errno = (int)with;
    return true;
}

static bool is_disk(int fd)
{
    char link[64], path[64];
    struct stat st;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return fd > 2 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && strncmp(path, "/memfd:", 7) != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwritev(int fd, const struct iovec *part, int count, off_t offset)
{
    return is_disk(fd) && fails() ? -1 : REAL(pwritev)(fd, part, count, offset);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    return is_disk(fd) && fails() ? -1 : REAL(write)(fd, data, bytes);
}

int ftruncate(int fd, off_t bytes)
{
    return is_disk(fd) && fails() ? -1 : REAL(ftruncate)(fd, bytes);
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    return is_disk(fd) && fails() ? errno : REAL(posix_fallocate)(fd, offset, bytes);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    return is_disk(fd) && fails() ? -1 : REAL(fallocate)(fd, mode, offset, bytes);
}

int fstatvfs(int fd, struct statvfs *disk)
{
    int bad = REAL(fstatvfs)(fd, disk);
    if (number("FAIL_ROOM"))
        disk->f_bavail = disk->f_bfree = 0;
    return bad;
}

int mkdir(const char *path, mode_t mode)
{
    return fails() ? -1 : REAL(mkdir)(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return fails() ? -1 : REAL(mkdirat)(dir, path, mode);
}

int renameat(int from, const char *old, int to, const char *name)
{
    return fails() ? -1 : REAL(renameat)(from, old, to, name);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return flags & O_CREAT && fails() ? -1 : REAL(openat)(dir, path, flags, mode);
}
