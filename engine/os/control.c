/* control.c - time and waiting under a controlled schedule. SPDX-License-Identifier: MIT */
#include "engine/os/control.h"

#include "engine/core/engine.h"
#include "engine/os/kinds.h"
#include "engine/os/syscalls.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"
#include "engine/sched/baton.h"

enum { NS_PER_S = 1000000000, TICK_NS = 2, CLOCKS = 12, STAMPS_PER_NS = 2 };

static struct {
    uint64_t skipped; /* by sleeps that came to their end */
    uint64_t calls;
    uint64_t base[CLOCKS]; /* of each clock, when elapsed was 0; 0: not asked yet */
} control;

static const struct {
    uint8_t how, arg;
} waits[KINDS_CALLS] = {
#define WAIT(name, how, arg) [KINDS_NUMBER_##name] = {CONTROL_##how, arg},
#include "engine/os/waits.def"
#undef WAIT
};

enum control_wait control_wait_of(long nr)
{
    return nr >= 0 && nr < KINDS_CALLS ? waits[nr].how : CONTROL_RETURNS;
}

/* ---- clocks ---- */

uint64_t control_elapsed(void)
{
    uint64_t ticks = engine.total_ticks;
    for (const struct thread *t = engine.threads; t; t = t->next)
        ticks += thread_count(t);
    return ticks * TICK_NS + control.skipped;
}

bool control_knows(int clock)
{
    return clock >= 0 && clock < CLOCKS && clock != 10; /* there is no clock 10 */
}

/* Beginnings are the machine's: what a program measures are differences. */
uint64_t control_clock(int clock)
{
    uint64_t elapsed = control_elapsed();
    if (!control.base[clock]) {
        int64_t ts[2] = {0, 0};
        sys2(__NR_clock_gettime, clock, (long)ts);
        uint64_t now = (uint64_t)ts[0] * NS_PER_S + (uint64_t)ts[1];
        control.base[clock] = now > elapsed ? now - elapsed : 1;
    }
    return control.base[clock] + elapsed;
}

uint64_t control_stamp(void)
{
    return control_clock(CONTROL_MONOTONIC) * STAMPS_PER_NS;
}

uint64_t control_deadline(const struct baton_deadline *deadline)
{
    int clock = deadline->realtime ? CONTROL_REALTIME : CONTROL_MONOTONIC;
    int64_t most = INT64_MAX / NS_PER_S - 1, s = deadline->ts[0] < most ? deadline->ts[0] : most;
    uint64_t at = (uint64_t)s * NS_PER_S + (uint64_t)deadline->ts[1];
    control_clock(clock);
    return at > control.base[clock] ? at - control.base[clock] : 1;
}

void control_reach(uint64_t at)
{
    uint64_t now = control_elapsed();
    if (now < at)
        control.skipped += at - now;
}

uint64_t control_calls(void)
{
    return control.calls;
}

/* ---- sleeping ---- */

static struct baton_deadline in(uint64_t ns)
{
    uint64_t at = control_clock(CONTROL_MONOTONIC);
    at = ns > UINT64_MAX / 4 ? UINT64_MAX / 4 : at + ns;
    return (struct baton_deadline){.ts = {(int64_t)(at / NS_PER_S), (int64_t)(at % NS_PER_S)}};
}

/* Reads a struct timespec, or timeval. False: it is none. */
static bool read_time(gaddr at, unsigned unit_ns, uint64_t *ns)
{
    int64_t v[2];
    if (!engine_read(v, at, sizeof v) || v[0] < 0 || v[1] < 0 ||
        v[1] >= NS_PER_S / (int64_t)unit_ns)
        return false;
    *ns = v[0] > INT32_MAX ? UINT64_MAX / 4 : (uint64_t)v[0] * NS_PER_S + (uint64_t)v[1] * unit_ns;
    return true;
}

static long sleep_until(struct thread *t, const struct baton_deadline *deadline)
{
    long r = baton_park(t, deadline);
    return r == -ETIMEDOUT ? 0 : r;
}

static bool sleeps(struct thread *t, enum control_wait how, const long a[6], gaddr at, long *result)
{
    enum { ABSOLUTE = 1 };
    const bool by_clock = how == CONTROL_SLEEPS_BY;
    uint64_t ns;
    if ((by_clock && !control_knows((int)a[0])) || !read_time(at, 1, &ns))
        return false; /* its error */
    if (by_clock && (a[1] & ABSOLUTE)) {
        uint64_t now = control_clock((int)a[0]);
        ns = ns > now ? ns - now : 0;
    }
    const struct baton_deadline deadline = in(ns);
    *result = sleep_until(t, &deadline);
    return true;
}

/* ---- trying ---- */

/* Others run. False: its time is up. */
static bool later(struct thread *t, const struct baton_deadline *deadline)
{
    t->control.tries = true;
    t->control.tried = control.calls;
    t->control.late = t->control.waits = false;
    t->control.wake_at = deadline ? control_deadline(deadline) : 0;
    baton_pass(t);
    t->control.tries = false;
    t->control.wake_at = 0;
    return !t->control.late;
}

static bool is_ready(int fd, int16_t events)
{
    struct {
        int32_t fd;
        int16_t events, seen;
    } poll = {fd, events, 0};
    return sys3(__NR_poll, (long)&poll, 1, 0) != 0;
}

/* A call that fills a pipe or a socket waits until somebody reads there: that is the kernel's. */
static bool tries_descriptor(struct thread *t, long nr, const long a[6], long *result)
{
    enum { GETFL = 3, NONBLOCK = 04000, KIND = 0170000, REGULAR = 0100000 };
    enum { IN = 1, OUT = 4, ATOMIC = 4096 };
    const bool writes = control_wait_of(nr) == CONTROL_WRITES;
    uint64_t stat[18] = {0};
    bool file = sys2(__NR_fstat, a[0], (long)stat) == 0 && ((uint32_t)stat[3] & KIND) == REGULAR;
    long flags = sys2(__NR_fcntl, a[0], GETFL);
    if (!file && flags >= 0 && !(flags & NONBLOCK)) {
        if (writes && (uint64_t)a[2] > ATOMIC)
            return false;
        while (!is_ready((int)a[0], writes ? OUT : IN)) {
            later(t, NULL);
            if (t->control.waits)
                return false;
        }
    }
    *result = engine_syscall(nr, a);
    return true;
}

/* False: there is no limit. */
static bool read_limit(enum control_wait how, long arg, uint64_t *ns)
{
    if (how == CONTROL_POLLS_MS) {
        *ns = (uint64_t)(int32_t)arg * 1000000;
        return (int32_t)arg >= 0;
    }
    return arg && read_time((gaddr)arg, how == CONTROL_SELECTS_VAL ? 1000 : 1, ns);
}

/* select() clears the sets where nothing is ready: what it was asked for. */
enum { SETS = 3, SET_BYTES = 128 };

static void copy_sets(const long a[6], uint8_t (*set)[SET_BYTES], bool back)
{
    uint64_t bytes = ((uint64_t)(uint32_t)a[0] + 63) / 64 * 8;
    for (int i = 0; i < SETS && bytes <= SET_BYTES; i++)
        if (a[i + 1] && back)
            engine_write((gaddr)a[i + 1], set[i], bytes);
        else if (a[i + 1] && !engine_read(set[i], (gaddr)a[i + 1], bytes))
            return;
}

static bool tries_poll(struct thread *t, long nr, const long a[6], int arg, long *result)
{
    const enum control_wait how = control_wait_of(nr);
    uint64_t ns = 0;
    int64_t none[2] = {0, 0};
    uint8_t set[SETS][SET_BYTES];
    const bool ends = read_limit(how, a[arg], &ns);
    const bool selects = how == CONTROL_SELECTS_VAL || how == CONTROL_SELECTS_SPEC;
    const struct baton_deadline deadline = in(ns);
    long b[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};
    b[arg] = how == CONTROL_POLLS_MS ? 0 : (long)none;
    if (selects)
        copy_sets(a, set, false);
    for (;;) {
        none[0] = none[1] = 0;
        *result = engine_syscall(nr, b);
        if (*result != 0 || (ends && !ns) || !later(t, ends ? &deadline : NULL))
            return true;
        if (selects)
            copy_sets(a, set, true);
        if (t->control.waits)
            return false;
    }
}

static bool tries_child(struct thread *t, long nr, const long a[6], int arg, long *result)
{
    enum { NOHANG = 1 };
    long b[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};
    b[arg] |= NOHANG;
    while ((*result = engine_syscall(nr, b)) == 0 && !(a[arg] & NOHANG)) {
        later(t, NULL);
        if (t->control.waits)
            return false;
    }
    return true;
}

/* ---- calls ---- */

static bool is_fifo(gaddr path)
{
    enum { KIND = 0170000, FIFO = 0010000, HERE = -100 };
    uint64_t stat[18] = {0};
    return sys4(__NR_newfstatat, HERE, (long)path, (long)stat, 0) == 0 &&
           ((uint32_t)stat[3] & KIND) == FIFO;
}

bool control_call(struct thread *t, long nr, const long a[6], long *result)
{
    const enum control_wait how = control_wait_of(nr);
    const int arg = how == CONTROL_RETURNS ? 0 : waits[nr].arg;
    control.calls++;
    switch (how) {
    case CONTROL_SLEEPS:
    case CONTROL_SLEEPS_BY:
        return sleeps(t, how, a, (gaddr)a[arg], result);
    case CONTROL_READS:
    case CONTROL_WRITES:
        return tries_descriptor(t, nr, a, result);
    case CONTROL_POLLS_MS:
    case CONTROL_POLLS_SPEC:
    case CONTROL_SELECTS_VAL:
    case CONTROL_SELECTS_SPEC:
        return tries_poll(t, nr, a, arg, result);
    case CONTROL_CHILD:
        return tries_child(t, nr, a, arg, result);
    case CONTROL_OTHERS:
        return false;
    case CONTROL_PATH:
        if (is_fifo((gaddr)a[arg]))
            return false;
        break;
    default:
        break;
    }
    *result = engine_syscall(nr, a);
    return true;
}
