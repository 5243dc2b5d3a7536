/* output.c - which descriptors are standard output and error, and thread names.
 *
 * SPDX-License-Identifier: MIT
 *
 * The log has no list of descriptors, but it has every call that makes or closes one.
 */
#include "replayer/target/output.h"

#include "debug/target/post.h"
#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/kinds.h"
#include "engine/os/threads.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "replayer/target/cursor.h"
#include "replayer/target/journal.h"

enum { FDS = MAILBOX_FDS };

static uint8_t leads_to[FDS];
static uint8_t of_child[FDS]; /* a vfork child has descriptors of its own */
static uint8_t *table = leads_to;

uint8_t *output_table(void)
{
    return leads_to;
}

uint8_t *output_child_table(void)
{
    return of_child;
}

/* Numbers that the table has no room for; few programs have any, and not over an execve. */
static struct {
    long fd;
    int to;
} high[64];

static int target_of(long fd)
{
    for (size_t i = 0; fd >= FDS && i < ARRAY_LEN(high); i++)
        if (high[i].to && high[i].fd == fd)
            return high[i].to;
    return fd >= 0 && fd < FDS ? table[fd] : 0;
}

static void set_high(long fd, int to)
{
    size_t at = ARRAY_LEN(high);
    for (size_t i = 0; i < ARRAY_LEN(high); i++) {
        if (high[i].to && high[i].fd == fd)
            high[i].to = 0;
        if (!high[i].to)
            at = i;
    }
    if (to && at < ARRAY_LEN(high)) {
        high[at].fd = fd;
        high[at].to = to;
    }
}

static void set(long fd, int to)
{
    if (fd >= FDS)
        set_high(fd, to);
    else if (fd >= 0)
        table[fd] = (uint8_t)to;
}

static void check(const struct record_output *o)
{
    if (o->to > 2)
        post_failed("event %lu: not a record", cursor_number());
}

/* What execve closed is not in the list; what the program before it knew better stays. */
void output_inherited(const struct record_output *o)
{
    static uint8_t before[FDS];
    check(o);
    if (o->fd < 0) {
        memcpy(before, leads_to, sizeof before);
        memset(leads_to, 0, sizeof leads_to);
        leads_to[1] = before[1];
        leads_to[2] = before[2];
    } else if (o->fd < FDS) {
        leads_to[o->fd] = before[o->fd] ? before[o->fd] : (uint8_t)o->to;
    } else {
        set_high(o->fd, (int)o->to);
    }
}

void output_high(void (*fn)(long fd, int to))
{
    for (size_t i = 0; i < ARRAY_LEN(high); i++)
        if (high[i].to)
            fn(high[i].fd, high[i].to);
}

void output_received(const struct thread *t, const struct record_output *o)
{
    check(o);
    table = threads_is_side(t) ? of_child : leads_to;
    set(o->fd, (int)o->to);
}

struct vec {
    gaddr base;
    uint64_t len;
};

/* What one call can be given; the kernel's own limits. */
enum { VECTORS_MOST = 1024, WRITE_MOST = 0x7ffff000 };

static int64_t at_most(uint64_t bytes)
{
    return bytes < WRITE_MOST ? (int64_t)bytes : WRITE_MOST;
}

static bool gives_vector(long nr)
{
    return call_info(nr)->effects->kind == EFFECT_IN_VECTOR;
}

int64_t output_given(long nr, const long a[6])
{
    struct vec v;
    int64_t bytes = 0;
    if (!gives_vector(nr))
        return at_most((uint64_t)a[2]);
    for (long i = 0; i < a[2] && i < VECTORS_MOST; i++) {
        if (!engine_read(&v, (gaddr)a[1] + (uint64_t)i * sizeof v, sizeof v))
            break;
        bytes = at_most((uint64_t)bytes + (uint64_t)at_most(v.len));
    }
    return bytes;
}

static void vector(const struct thread *t, int to, int fd, gaddr at, int64_t bytes)
{
    struct vec v;
    for (int i = 0; i < VECTORS_MOST && bytes > 0; i++, at += sizeof v) {
        if (!engine_read(&v, at, sizeof v))
            return;
        uint64_t n = v.len < (uint64_t)bytes ? v.len : (uint64_t)bytes;
        if (!journal_output(t, to, fd, v.base, n))
            return;
        bytes -= (int64_t)n;
    }
}

/* What a vector names may have changed while the call waited; registers do not. */
static void wrote(const struct thread *t, long nr, const long a[6], int64_t result)
{
    const bool plain = !gives_vector(nr);
    int to = target_of(a[0]);
    if (result <= 0 || !to)
        return;
    if (result > (plain ? output_given(nr, a) : WRITE_MOST))
        post_failed("system call %ld: its result %ld is more than it was given", nr, (long)result);
    if (plain)
        journal_output(t, to, (int)a[0], (gaddr)a[1], (uint64_t)result);
    else
        vector(t, to, (int)a[0], (gaddr)a[1], result);
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

/* The name of what a call opened; 0: it has none. */
static gaddr path_of(long nr, const long a[6])
{
    const struct effect *e = call_info(nr)->effects;
    return e->kind == EFFECT_PATH ? (gaddr)a[e->arg] : 0;
}

/* The terminal itself, whatever standard output is. */
static bool is_terminal(gaddr path)
{
    char text[sizeof "/dev/tty"] = "";
    return path && engine_read(text, path, sizeof text) && rt_streq(text, "/dev/tty");
}

static void opened(gaddr path, int64_t fd)
{
    static const char head[] = "/proc/self/task/", tail[] = "/comm";
    char text[64] = "";
    size_t i = sizeof head - 1;
    int32_t tid = 0;
    if (comm.fd == fd)
        comm.fd = -1;
    if (fd < 0 || !path)
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

/* The call opened a file; the log says where that leads to. */
void output_opened(struct thread *t, int64_t fd, uint8_t flags)
{
    table = threads_is_side(t) ? of_child : leads_to;
    if (flags & (CALL_TO_1 | CALL_TO_2))
        set(fd, flags & CALL_TO_1 ? 1 : 2);
}

static void closed_range(const long a[6])
{
    for (long fd = a[0]; fd < FDS && (uint64_t)fd <= (uint32_t)a[1]; fd++)
        set(fd, 0);
    for (size_t i = 0; i < ARRAY_LEN(high); i++)
        if (high[i].fd >= a[0] && (uint64_t)high[i].fd <= (uint32_t)a[1])
            high[i].to = 0;
}

static void made_two(gaddr at)
{
    int32_t pair[2];
    if (!engine_read(pair, at, sizeof pair))
        return;
    set(pair[0], 0);
    set(pair[1], 0);
}

void output_after(struct thread *t, long nr, const long a[6], int64_t result)
{
    const struct call_kind k = kinds_of(nr);
    table = threads_is_side(t) ? of_child : leads_to;
    switch (k.does) {
    case DOES_WRITES:
    case DOES_WRITES_AT:
    case DOES_WRITES_HOW:
        if (result > 0 && a[0] == comm.fd && !gives_vector(nr))
            name_other((gaddr)a[1], (uint64_t)result);
        wrote(t, nr, a, result);
        break;
    case DOES_NAMES:
        if (result == 0)
            set_name(t, a);
        break;
    case DOES_CLOSES:
        set(a[0], 0);
        break;
    case DOES_CLOSES_RANGE:
        if (result == 0 && !a[2])
            closed_range(a);
        break;
    case DOES_DUPLICATES:
    case DOES_CONTROLS:
        if (result >= 0 && kinds_duplicates(k, a))
            set(result, target_of(a[0]));
        break;
    case DOES_OPENS:
    case DOES_OPENS_ANYHOW:
        opened(path_of(nr, a), result);
        set(result, is_terminal(path_of(nr, a)) ? OUTPUT_TERMINAL : 0);
        break;
    case DOES_MAKES_FILE:
    case DOES_MAKES:
    case DOES_FETCHES:
        set(result, 0);
        break;
    case DOES_MAKES_TWO:
        if (result == 0)
            made_two((gaddr)a[k.arg]);
        break;
    default:
        break;
    }
}
