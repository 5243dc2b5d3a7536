/* procfs.c - files of /proc that would show the engine. SPDX-License-Identifier: MIT */
#include "engine/os/procfs.h"

#include "engine/core/engine.h"
#include "engine/os/kernel.h"
#include "engine/os/kinds.h"
#include "engine/os/maps.h"
#include "engine/os/seccomp.h"
#include "engine/os/syscalls.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { O_CLOEXEC_ = 02000000, O_ACCMODE_ = 3, PATH_BYTES = 64 };

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

/* Files whose text is made here. */
static bool is_ours(const struct thread *t, const char *path)
{
    static const char *const name[] = {"/maps", "/smaps", "/numa_maps", "/status"};
    const char *p = own_directory(t, path);
    for (size_t i = 0; p && i < ARRAY_LEN(name); i++)
        if (rt_streq(p, name[i]))
            return true;
    return false;
}

/* Could a path, however written, lead to one of them? */
static bool may_be_ours(const char *path)
{
    const char *last = path;
    for (const char *p = path; *p; p++)
        if (*p == '/')
            last = p + 1;
    return rt_streq(last, "maps") || rt_streq(last, "smaps") || rt_streq(last, "numa_maps") ||
           rt_streq(last, "status");
}

/* A line that begins a mapping tells whether it and the lines up to the next one are shown. The
 * kernel joins neighbours, so a line may hold a part of the target's and be cut. */
static bool shown(const char *line, bool before)
{
    uint64_t start, end;
    const char *p = rt_hex(line, &start);
    if (p - line < 8)
        return before;
    if (*p == '-')
        rt_hex(p + 1, &end);
    else
        end = start + PAGE_BYTES;
    return !range_overlaps(start, end);
}

/* ---- maps that are open ---- */

/* The descriptor stays the kernel's own: its status, name and offset are native. What is read from
 * it is made here, at the moment of a read from the beginning, as the kernel does it. */
static struct open_map {
    int fd;
    char path[PATH_BYTES];
    char *text;
    size_t bytes, room;
} map[16];
int procfs_maps;
bool procfs_memory_open;

static void append(struct open_map *m, const char *line, size_t n)
{
    if (m->room - m->bytes < n) {
        size_t room = m->room ? 2 * m->room : 64 << 10;
        char *text = range_alloc(room);
        memcpy(text, m->text, m->bytes);
        if (m->room)
            range_free(m->text, m->room);
        m->text = text;
        m->room = room;
    }
    memcpy(m->text + m->bytes, line, n);
    m->bytes += n;
}

/* Lines of the status file that would tell of the runtime's own signal handling. */
static bool append_status(const struct thread *t, struct open_map *m, const char *line)
{
    char out[64];
    uint64_t caught = 0;
    for (int sig = 1; sig <= SIG_MAX; sig++)
        caught |= t->process->action[sig].handler > HANDLER_IGNORE ? SIG_BIT(sig) : 0;
    if (rt_prefix(line, "SigCgt:"))
        append(m, out, rt_format(out, sizeof out, "SigCgt:\t%016lx\n", caught));
    else if (rt_prefix(line, "SigBlk:"))
        append(m, out, rt_format(out, sizeof out, "SigBlk:\t%016lx\n", t->mask));
    else if (rt_prefix(line, "Seccomp:"))
        append(m, out, rt_format(out, sizeof out, "Seccomp:\t%d\n", seccomp_mode(t)));
    else
        return false;
    return true;
}

static void make_text(const struct thread *t, struct open_map *m)
{
    static char buf[8192]; /* with the baton */
    size_t have = 0;
    bool show = true;
    m->bytes = 0;
    maps_open_all(); /* protections as the target made them */
    long from = sys4(__NR_openat, -100, (long)m->path, O_CLOEXEC_, 0);
    while (from >= 0) {
        long n = sys3(__NR_read, from, (long)(buf + have), (long)(sizeof buf - have));
        if (n <= 0)
            break;
        have += (size_t)n;
        size_t line = 0;
        for (size_t i = 0; i < have; i++) {
            if (buf[i] != '\n')
                continue;
            show = shown(buf + line, show);
            if (show && !append_status(t, m, buf + line))
                append(m, buf + line, i + 1 - line);
            line = i + 1;
        }
        have -= line;
        memmove(buf, buf + line, have);
    }
    if (from >= 0)
        sys1(__NR_close, from);
}

static struct open_map *find(long fd)
{
    for (int i = 0; i < procfs_maps; i++)
        if (map[i].fd == (int)fd)
            return &map[i];
    return NULL;
}

static void forget(long fd)
{
    struct open_map *m = find(fd);
    if (!m)
        return;
    struct open_map last = map[--procfs_maps];
    map[procfs_maps] = *m; /* its buffer is used again */
    *m = last;
}

static void remember(int fd, const char *path)
{
    forget(fd);
    if (procfs_maps == ARRAY_LEN(map)) {
        rt_say("%s: opened more than %d times at once; the engine's own mappings will show", path,
               (int)ARRAY_LEN(map));
        return;
    }
    struct open_map *m = &map[procfs_maps++];
    m->fd = fd;
    m->bytes = 0;
    rt_format(m->path, sizeof m->path, "%s", path);
}

/* Copies text at `offset` to the target; the count, or an error. */
static long give(const struct thread *t, struct open_map *m, uint64_t offset, gaddr to, uint64_t n)
{
    if (offset == 0 || !m->bytes)
        make_text(t, m);
    if (offset >= m->bytes)
        return 0;
    if (n > m->bytes - offset)
        n = m->bytes - offset;
    return engine_write(to, m->text + offset, n) ? (long)n : -EFAULT;
}

static long give_at_position(const struct thread *t, struct open_map *m, gaddr to, uint64_t n)
{
    enum { SET = 0, CURRENT = 1 };
    long offset = sys3(__NR_lseek, m->fd, 0, CURRENT);
    long r = offset < 0 ? offset : give(t, m, (uint64_t)offset, to, n);
    if (r > 0)
        sys3(__NR_lseek, m->fd, offset + r, SET);
    return r;
}

static long give_vector(const struct thread *t, struct open_map *m, gaddr at, long count)
{
    long total = 0;
    for (long i = 0; i < count; i++) {
        struct {
            gaddr base;
            uint64_t len;
        } v;
        if (!engine_read(&v, at + (uint64_t)i * sizeof v, sizeof v))
            return total ? total : -EFAULT;
        long r = give_at_position(t, m, v.base, v.len);
        if (r < 0)
            return total ? total : r;
        total += r;
        if ((uint64_t)r < v.len)
            break;
    }
    return total;
}

bool procfs_call(struct thread *t, long nr, const long *a, long *result)
{
    const struct call_kind k = kinds_of(nr);
    struct open_map *m = find(a[0]);
    switch (k.does) {
    case DOES_CLOSES:
        forget(a[0]);
        return false;
    case DOES_CLOSES_RANGE:
        for (int i = 0; i < procfs_maps; i++)
            if (!a[2] && map[i].fd >= a[0] && (uint32_t)map[i].fd <= (uint32_t)a[1])
                forget(map[i--].fd);
        return false;
    case DOES_DUPLICATES:
    case DOES_CONTROLS:
        if (k.does == DOES_DUPLICATES && k.args > 1) /* they say which one it is to be */
            forget(a[1] == a[0] ? -1 : a[1]);
        m = find(a[0]);
        if (!m || !kinds_duplicates(k, a))
            return false;
        *result = syscalls_pass(t, nr, a);
        if (*result >= 0 && *result != a[0])
            remember((int)*result, m->path);
        return true;
    case DOES_READS:
        *result = m ? give_at_position(t, m, (gaddr)a[1], (uint64_t)a[2]) : 0;
        return m;
    case DOES_READS_AT:
        *result = m ? give(t, m, (uint64_t)a[3], (gaddr)a[1], (uint64_t)a[2]) : 0;
        return m;
    case DOES_READS_VECTOR:
        *result = m ? give_vector(t, m, (gaddr)a[1], a[2]) : 0;
        return m;
    case DOES_READS_VECTOR_AT:
        *result = -EINVAL; /* the caller falls back to read */
        return m;
    case DOES_COPIES:
    case DOES_COPIES_AT:
        *result = -EINVAL;
        return find(a[k.arg ? 0 : 1]); /* from the other one */
    default:
        return false;
    }
}

/* The kernel knows the canonical name of what was opened. */
static long open_and_look(struct thread *t, long *a)
{
    char link[32], path[PATH_BYTES];
    long fd = syscalls_pass(t, (int32_t)t->cpu.gpr[RAX], a);
    if (fd < 0)
        return fd;
    rt_format(link, sizeof link, "/proc/self/fd/%d", (int)fd);
    long n = sys3(__NR_readlink, (long)link, (long)path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    if (is_ours(t, path))
        remember((int)fd, path);
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
    if (ended && !(flags & O_ACCMODE_) && may_be_ours(path))
        return open_and_look(t, a);
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
    return open_path(t, a, (gaddr)a[1], (uint64_t)a[2]);
}

long procfs_openat2(struct thread *t, long *a)
{
    uint64_t flags;
    if (!engine_read(&flags, (gaddr)a[2], sizeof flags))
        return -EFAULT;
    return open_path(t, a, (gaddr)a[1], flags);
}
