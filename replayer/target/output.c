/* output.c - which descriptors are standard output and error, and thread names.
 *
 * SPDX-License-Identifier: MIT
 *
 * The log has no list of descriptors, but it has every call that makes or closes one.
 */
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/player.h"

enum { FDS = MAILBOX_FDS, DUPFD = 0, DUPFD_CLOEXEC = 1030 };

static uint8_t leads_to[FDS];
static uint8_t of_child[FDS]; /* a vfork child has descriptors of its own */
static uint8_t *table = leads_to;

uint8_t *output_table(void)
{
    return leads_to;
}

static int target_of(long fd)
{
    return fd >= 0 && fd < FDS ? table[fd] : 0;
}

static void set(long fd, int to)
{
    if (fd >= 0 && fd < FDS)
        table[fd] = (uint8_t)to;
}

struct vec {
    gaddr base;
    uint64_t len;
};

int64_t output_vector_bytes(gaddr at, long count)
{
    int64_t bytes = 0;
    struct vec v;
    for (long i = 0; i < count && engine_read(&v, at + (uint64_t)i * sizeof v, sizeof v); i++)
        bytes += (int64_t)v.len;
    return bytes;
}

static void vector(const struct thread *t, int to, gaddr at, long count, int64_t bytes)
{
    for (long i = 0; i < count && bytes > 0; i++) {
        struct vec v;
        if (!engine_read(&v, at + (uint64_t)i * sizeof v, sizeof v))
            return;
        uint64_t n = v.len < (uint64_t)bytes ? v.len : (uint64_t)bytes;
        journal_output(t, to, v.base, n);
        bytes -= (int64_t)n;
    }
}

void output_child(void)
{
    memcpy(of_child, leads_to, sizeof of_child);
}

/* prctl(PR_SET_NAME) */
static void set_name(struct thread *t, const long a[6])
{
    enum { SET_NAME = 15 };
    if (a[0] == SET_NAME && engine_read(t->name, (gaddr)a[1], sizeof t->name))
        t->name[sizeof t->name - 1] = 0;
}

/* pthread_setname_np of another thread: it opens /proc/self/task/TID/comm and writes there. */
static struct {
    long fd;
    int32_t tid;
} comm = {.fd = -1};

static void opened(gaddr path, int64_t fd)
{
    static const char head[] = "/proc/self/task/", tail[] = "/comm";
    char text[64] = "";
    size_t i = sizeof head - 1;
    int32_t tid = 0;
    if (comm.fd == fd)
        comm.fd = -1;
    if (fd < 0)
        return;
    engine_copy(text, (const void *)path, sizeof text - 1);
    for (size_t k = 0; k < i; k++)
        if (text[k] != head[k])
            return;
    for (; text[i] >= '0' && text[i] <= '9' && i < 30; i++)
        tid = 10 * tid + (text[i] - '0');
    if (!rt_streq(text + i, tail))
        return;
    comm.fd = fd;
    comm.tid = tid;
}

static void name_other(gaddr text, uint64_t bytes)
{
    struct thread *t = engine.threads;
    while (t && t->tid != comm.tid)
        t = t->next;
    if (!t)
        return;
    memset(t->name, 0, sizeof t->name);
    engine_copy(t->name, (const void *)text, bytes < sizeof t->name ? bytes : sizeof t->name - 1);
}

void output_after(struct thread *t, long nr, const long a[6], int64_t result)
{
    table = t->process == t->own_process ? of_child : leads_to;
    switch (nr) {
    case __NR_write:
    case __NR_pwrite64:
        if (result > 0 && a[0] == comm.fd)
            name_other((gaddr)a[1], (uint64_t)result);
        if (result > 0 && target_of(a[0]))
            journal_output(t, target_of(a[0]), (gaddr)a[1], (uint64_t)result);
        break;
    case __NR_writev:
    case __NR_pwritev:
    case __NR_pwritev2:
        if (result > 0 && target_of(a[0]))
            vector(t, target_of(a[0]), (gaddr)a[1], a[2], result);
        break;
    case __NR_prctl:
        if (result == 0)
            set_name(t, a);
        break;
    case __NR_close:
        set(a[0], 0);
        break;
    case __NR_close_range:
        for (long fd = a[0]; result == 0 && !a[2] && fd < FDS && (uint64_t)fd <= (uint32_t)a[1];
             fd++)
            set(fd, 0);
        break;
    case __NR_dup:
    case __NR_dup2:
    case __NR_dup3:
        if (result >= 0)
            set(result, target_of(a[0]));
        break;
    case __NR_fcntl:
        if (result >= 0 && (a[1] == DUPFD || a[1] == DUPFD_CLOEXEC))
            set(result, target_of(a[0]));
        break;
    case __NR_openat:
        opened((gaddr)a[1], result);
        set(result, 0);
        break;
    case __NR_open:
    case __NR_openat2:
    case __NR_creat:
    case __NR_socket:
    case __NR_accept:
    case __NR_accept4:
    case __NR_memfd_create:
    case __NR_eventfd:
    case __NR_eventfd2:
    case __NR_epoll_create:
    case __NR_epoll_create1:
    case __NR_timerfd_create:
    case __NR_signalfd:
    case __NR_signalfd4:
    case __NR_inotify_init:
    case __NR_inotify_init1:
        set(result, 0);
        break;
    case __NR_pipe:
    case __NR_pipe2:
    case __NR_socketpair: {
        int32_t pair[2];
        if (result == 0 && engine_read(pair, (gaddr)(nr == __NR_socketpair ? a[3] : a[0]), 8)) {
            set(pair[0], 0);
            set(pair[1], 0);
        }
        break;
    }
    default:
        break;
    }
}
