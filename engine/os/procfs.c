/* procfs.c - files of /proc that would show the engine. SPDX-License-Identifier: MIT */
#include "engine/os/procfs.h"

#include "engine/core/engine.h"
#include "engine/os/kernel.h"
#include "engine/os/maps.h"
#include "engine/os/syscalls.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { O_CLOEXEC_ = 02000000, O_ACCMODE_ = 3, MFD_CLOEXEC_ = 1, PATH_BYTES = 64 };

static const char *skip_number(const char *p, int32_t want)
{
    int64_t v = 0;
    const char *start = p;
    while (*p >= '0' && *p <= '9' && v < 1 << 30)
        v = v * 10 + (*p++ - '0');
    return p != start && v == want ? p : NULL;
}

/* What follows /proc/{self,thread-self,PID}[/task/TID] of this process; NULL for other paths. */
static const char *own_directory(const struct thread *t, const char *path)
{
    const char *p, *q;
    if (!rt_prefix(path, "/proc/"))
        return NULL;
    path += 6;
    if (rt_prefix(path, "self/"))
        p = path + 4;
    else if (rt_prefix(path, "thread-self/"))
        p = path + 11;
    else if (!(p = skip_number(path, t->process->pid)))
        return NULL;
    if (rt_prefix(p, "/task/") && (q = skip_number(p + 6, t->tid)))
        p = q;
    return p;
}

static bool is_own_map(const struct thread *t, const char *path)
{
    const char *p = own_directory(t, path);
    return p && (rt_streq(p, "/maps") || rt_streq(p, "/smaps") || rt_streq(p, "/numa_maps"));
}

static const char *hex(const char *p, uint64_t *v)
{
    for (*v = 0;; p++) {
        if (*p >= '0' && *p <= '9')
            *v = *v << 4 | (uint64_t)(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            *v = *v << 4 | (uint64_t)(*p - 'a' + 10);
        else
            return p;
    }
}

/* A line that begins a mapping tells whether it and the lines up to the next one are shown. The
 * kernel joins neighbours, so a line may hold a part of the target's and be cut. */
static bool shown(const char *line, bool before)
{
    uint64_t start, end;
    const char *p = hex(line, &start);
    if (p - line < 8)
        return before;
    if (*p == '-')
        hex(p + 1, &end);
    else
        end = start + PAGE_BYTES;
    return !range_overlaps(start, end);
}

static void copy_filtered(long from, long to)
{
    static char buf[8192]; /* with the baton */
    size_t have = 0;
    bool show = true;
    for (;;) {
        long n = sys3(__NR_read, from, (long)(buf + have), (long)(sizeof buf - have));
        if (n <= 0)
            break;
        have += (size_t)n;
        size_t line = 0;
        for (size_t i = 0; i < have; i++) {
            if (buf[i] != '\n')
                continue;
            show = shown(buf + line, show);
            if (show)
                sys3(__NR_write, to, (long)(buf + line), (long)(i + 1 - line));
            line = i + 1;
        }
        have -= line;
        memmove(buf, buf + line, have);
    }
}

/* ---- maps that were opened and not yet read ---- */

/* The kernel makes a map's text when it is read, so the copy is made at the first use of its
 * descriptor: what the target maps between open and read is in it. */
static struct unread {
    int fd;
    char path[PATH_BYTES];
} unread[8];
int procfs_unread;
bool procfs_memory_open;

static void fill(int i)
{
    struct unread u = unread[i];
    unread[i] = unread[--procfs_unread];
    maps_open_all(); /* protections as the target made them */
    long from = sys4(__NR_openat, -100, (long)u.path, O_CLOEXEC_, 0);
    if (SYS_FAILED(from))
        return;
    copy_filtered(from, u.fd);
    sys1(__NR_close, from);
    sys3(__NR_lseek, u.fd, 0, 0);
}

static void forget(int fd)
{
    for (int i = 0; i < procfs_unread; i++)
        if (unread[i].fd == fd)
            unread[i--] = unread[--procfs_unread];
}

/* Does the call read from or copy the descriptor in its first argument? */
static bool uses(long nr, const long *a)
{
    enum { DUPFD = 0, DUPFD_CLOEXEC = 1030 };
    switch (nr) {
    case __NR_read:
    case __NR_pread64:
    case __NR_readv:
    case __NR_preadv:
    case __NR_preadv2:
    case __NR_splice:
    case __NR_copy_file_range:
    case __NR_dup:
    case __NR_dup2:
    case __NR_dup3:
        return true;
    case __NR_fcntl:
        return a[1] == DUPFD || a[1] == DUPFD_CLOEXEC;
    default:
        return false;
    }
}

static bool copies_all(long nr)
{
    return nr == __NR_fork || nr == __NR_vfork || nr == __NR_clone || nr == __NR_clone3 ||
           nr == __NR_close_range || nr == __NR_sendmsg || nr == __NR_sendfile;
}

void procfs_touch(long nr, const long *a)
{
    if (nr == __NR_close)
        forget((int)a[0]);
    if (nr == __NR_dup2 || nr == __NR_dup3)
        forget((int)a[1]);
    for (int i = 0; i < procfs_unread; i++)
        if (copies_all(nr) || (unread[i].fd == (int)a[0] && uses(nr, a)))
            fill(i--);
}

static long open_map(const char *path, long flags)
{
    if (procfs_unread == ARRAY_LEN(unread))
        fill(0);
    long fd = sys4(__NR_openat, -100, (long)path, flags & O_CLOEXEC_, 0);
    if (SYS_FAILED(fd))
        return fd;
    long copy = sys2(__NR_memfd_create, (long)"maps", MFD_CLOEXEC_);
    if (SYS_FAILED(copy)) {
        sys1(__NR_close, fd);
        return copy;
    }
    sys3(__NR_dup3, copy, fd, flags & O_CLOEXEC_);
    sys1(__NR_close, copy);
    struct unread *u = &unread[procfs_unread++];
    u->fd = (int)fd;
    rt_format(u->path, sizeof u->path, "%s", path);
    return fd;
}

/* A write to the own memory file goes past page protections. */
static bool is_own_memory(const struct thread *t, const char *path)
{
    const char *p = own_directory(t, path);
    return p && rt_streq(p, "/mem");
}

static long open_path(struct thread *t, long *a, gaddr path_at, uint64_t flags)
{
    char path[PATH_BYTES];
    size_t got = sizeof path - engine_copy(path, (const void *)path_at, sizeof path);
    bool ended = false;
    for (size_t i = 0; i < got && !ended; i++)
        ended = !path[i];
    if (ended && !(flags & O_ACCMODE_) && is_own_map(t, path))
        return open_map(path, (long)flags);
    if (ended && (flags & O_ACCMODE_) && is_own_memory(t, path))
        procfs_memory_open = true;
    return syscalls_pass(t, (int32_t)t->cpu.gpr[RAX], a);
}

long procfs_open(struct thread *t, long *a)
{
    return open_path(t, a, (gaddr)a[0], (uint64_t)a[1]);
}

long procfs_openat(struct thread *t, long *a)
{
    uint64_t flags = (uint64_t)a[2];
    if ((int32_t)t->cpu.gpr[RAX] == __NR_openat2 && !engine_read(&flags, (gaddr)a[2], 8))
        return -EFAULT;
    return open_path(t, a, (gaddr)a[1], flags);
}
