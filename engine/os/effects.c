/* effects.c - what system calls do to the target's memory. SPDX-License-Identifier: MIT */
#include "engine/os/effects.h"

#include <asm/sembuf.h>
#include <linux/ioctl.h>
#include <linux/sem.h>

#include "engine/core/engine.h"
#include "engine/core/session.h"
#include "engine/os/kernel.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

/* One walk over a call's list. */
struct walk {
    const long *a;
    long result;
    bool all; /* EFAULT: any part of anything may have been written */
    effect_fn *fn;
    void *arg;
};

uint64_t effects_mapped(gaddr addr, uint64_t bytes)
{
    uint8_t byte;
    uint64_t n = 0;
    if (addr + bytes < addr)
        bytes = -addr;
    while (n < bytes && !engine_copy(&byte, (const void *)(addr + n), 1))
        n = PAGE_DOWN(addr + n) + PAGE_BYTES - addr;
    return n < bytes ? n : bytes;
}

static void report(const struct walk *w, gaddr addr, uint64_t bytes, bool sure)
{
    if (bytes && (!sure || w->all || addr < PAGE_BYTES))
        bytes = effects_mapped(addr, bytes);
    if (bytes)
        w->fn(w->arg, addr, bytes);
}

/* ---- sizes ---- */

static uint64_t times(uint64_t n, uint64_t factor)
{
    uint64_t product;
    return __builtin_mul_overflow(n, factor, &product) ? UINT64_MAX : product;
}

static uint64_t field(const struct effect *e, gaddr at)
{
    uint64_t v = 0;
    if (!engine_read(&v, at + e->size_arg, e->width))
        return 0;
    return times(v, e->mask) + e->bytes;
}

static uint64_t semaphores(long id)
{
    enum { STAT = 2 };
    struct semid64_ds ds;
    if (session && session->replaying) /* there are none */
        return 0;
    return sys4(__NR_semctl, id, 0, STAT, (long)&ds) < 0 ? 0 : ds.sem_nsems * 2;
}

uint64_t effects_capacity(const struct effect *e, const long a[6])
{
    uint64_t n = (uint64_t)a[e->size == SIZE_FIELD ? 0 : e->size_arg];
    switch ((enum effect_size)e->size) {
    case SIZE_BYTES:
    case SIZE_UP_TO:
        return e->bytes;
    case SIZE_ARG:
        return n;
    case SIZE_ARG32:
        return (uint32_t)n;
    case SIZE_RESULT:
        return e->width ? (uint32_t)n : n;
    case SIZE_ARG_PLUS:
    case SIZE_RESULT_PLUS:
        return n + e->bytes < n ? UINT64_MAX : n + e->bytes;
    case SIZE_TIMES:
    case SIZE_POLLFDS:
    case SIZE_RESULT_TIMES:
        return times((uint32_t)n, e->bytes);
    case SIZE_BITS:
        return n ? (n - 1 + 63) / 64 * 8 : 0;
    case SIZE_SETS:
        return ((uint64_t)(uint32_t)n + 63) / 64 * 8;
    case SIZE_PAGES:
        return n / PAGE_BYTES + (n % PAGE_BYTES != 0);
    case SIZE_FIELD:
        return field(e, (gaddr)a[e->arg]);
    case SIZE_SEMAPHORES:
        return semaphores((long)n);
    case SIZE_REQUEST:
        return _IOC_SIZE((uint32_t)n);
    }
    return 0;
}

static uint64_t written_bytes(const struct effect *e, const struct walk *w)
{
    uint64_t most = effects_capacity(e, w->a), n = (uint64_t)w->result;
    if (w->all)
        return most;
    if (e->size == SIZE_RESULT_TIMES)
        n = times(n, e->bytes);
    else if (e->size == SIZE_RESULT_PLUS)
        n += e->bytes;
    else if (e->size != SIZE_RESULT)
        return most;
    return n < most ? n : most;
}

/* Is the kernel known to write all of it? */
static bool exact(const struct effect *e)
{
    return !e->prefill && e->size != SIZE_UP_TO && e->size != SIZE_SETS &&
           e->size != SIZE_REQUEST && e->size != SIZE_FIELD;
}

/* ---- conditions ---- */

static bool own_process(long pid)
{
    for (const struct thread *o = engine.threads; o; o = o->next)
        if (o->tid == (int32_t)pid || o->process->pid == (int32_t)pid)
            return true;
    return !(session && session->replaying) && (int32_t)pid == sys0(__NR_getpid);
}

/* What the arguments alone decide. */
bool effects_apply(const struct effect *e, const long a[6])
{
    switch (e->when) {
    case WHEN_FLAG:
        return (uint32_t)a[e->when_arg] & e->mask;
    case WHEN_EQUAL:
        return (uint32_t)a[e->when_arg] == e->mask;
    case WHEN_OWN:
        return own_process(a[0]);
    default:
        return true;
    }
}

static bool happened(const struct effect *e, const struct walk *w)
{
    if (!effects_apply(e, w->a))
        return false;
    if (w->all || e->when == WHEN_ANY)
        return true;
    if (e->when == WHEN_INTERRUPTED)
        return w->result == -EINTR;
    return !SYS_FAILED(w->result) && (e->when != WHEN_FOUND || w->result > 0);
}

/* ---- vectors and messages ---- */

/* The kernel writes the last two bytes of each struct pollfd of an array. */
static void revents_written(const struct walk *w, gaddr at, uint64_t bytes)
{
    enum { ENTRY = 8, REVENTS = 6 };
    bytes = w->all || SYS_FAILED(w->result) ? effects_mapped(at, bytes) : bytes;
    for (uint64_t i = 0; i + ENTRY <= bytes; i += ENTRY)
        w->fn(w->arg, at + i + REVENTS, ENTRY - REVENTS);
}

/* The first `total` bytes of a vector. */
static void spread(const struct walk *w, gaddr at, uint64_t count, uint64_t total, bool sure)
{
    struct vector v;
    for (uint64_t i = 0; i < count && i < VECTOR_MAX && total; i++) {
        if (!engine_read(&v, at + i * sizeof v, sizeof v))
            return;
        uint64_t n = v.len < total ? v.len : total;
        report(w, v.base, n, sure);
        total -= n;
    }
}

static uint64_t vector_count(const struct effect *e, const long a[6])
{
    return e->size_arg == VECTOR_OF_ONE ? 1 : (uint64_t)a[e->size_arg];
}

static void message_written(const struct walk *w, gaddr at, uint64_t total)
{
    struct message m;
    if (!engine_read(&m, at, sizeof m))
        return;
    if (m.name) {
        report(w, at + offsetof(struct message, name_bytes), 4, true);
        report(w, m.name, m.name_bytes < NAME_MAX_ ? m.name_bytes : NAME_MAX_, false);
    }
    report(w, at + offsetof(struct message, control_bytes), 8, true);
    report(w, at + offsetof(struct message, flags), 4, true);
    report(w, m.control, m.control_bytes, false);
    spread(w, m.vector, m.count, total, false);
}

static void message_read(const struct walk *w, gaddr at, bool sends)
{
    struct message m;
    report(w, at, sizeof m, false);
    if (!engine_read(&m, at, sizeof m))
        return;
    report(w, m.vector, times(m.count < VECTOR_MAX ? m.count : VECTOR_MAX, sizeof(struct vector)),
           false);
    if (!sends)
        return;
    report(w, m.name, m.name_bytes, false);
    report(w, m.control, m.control_bytes, false);
    spread(w, m.vector, m.count, UINT64_MAX, false);
}

static void messages_written(const struct walk *w, const struct effect *e, bool receives)
{
    gaddr at = (gaddr)w->a[e->arg];
    uint64_t most = (uint32_t)w->a[e->size_arg];
    uint64_t n = w->all ? most : (uint64_t)w->result;
    for (uint64_t i = 0; i < n && i < most && i < VECTOR_MAX; i++, at += MESSAGE_STRIDE) {
        uint32_t got = 0;
        report(w, at + MESSAGE_LEN, 4, true);
        if (receives && engine_read(&got, at + MESSAGE_LEN, 4))
            message_written(w, at, w->all ? UINT64_MAX : got);
    }
}

static void messages_read(const struct walk *w, const struct effect *e, bool sends)
{
    gaddr at = (gaddr)w->a[e->arg];
    uint64_t n = (uint32_t)w->a[e->size_arg];
    for (uint64_t i = 0; i < n && i < VECTOR_MAX; i++, at += MESSAGE_STRIDE)
        message_read(w, at, sends);
}

/* ---- other structures with pointers ---- */

static void sized_written(const struct walk *w, const struct effect *e)
{
    gaddr buffer = (gaddr)w->a[e->arg], at = (gaddr)w->a[e->size_arg];
    uint32_t bytes;
    if (!at || !engine_read(&bytes, at, 4))
        return;
    report(w, at, 4, true);
    report(w, buffer, bytes, false);
}

static void counted_written(const struct walk *w, gaddr at)
{
    struct counted c;
    if (!engine_read(&c, at, sizeof c))
        return;
    report(w, at, 4, true);
    report(w, c.buffer, c.bytes, false);
}

static void written_at(const struct walk *w, const struct effect *e)
{
    uint64_t flags;
    gaddr base = (gaddr)w->a[e->arg], to;
    if (engine_read(&flags, base, 8) && (flags & e->mask) &&
        engine_read(&to, base + e->size_arg, 8))
        report(w, to, e->bytes, true);
}

static void written_through(const struct walk *w, const struct effect *e)
{
    gaddr base = (gaddr)w->a[e->arg], to;
    if (engine_read(&to, base + e->when_arg, 8))
        report(w, to, field(e, base), false);
}

static void filter_read(const struct walk *w, gaddr at)
{
    struct {
        uint16_t count;
        gaddr code;
    } f;
    report(w, at, sizeof f, false);
    if (engine_read(&f, at, sizeof f))
        report(w, f.code, f.count * 8u, false);
}

static void string_read(const struct walk *w, gaddr at)
{
    char text[64];
    uint64_t n = 0;
    for (;;) {
        size_t got = sizeof text - engine_copy(text, (const void *)(at + n), sizeof text);
        for (size_t i = 0; i < got; i++)
            if (!text[i]) {
                w->fn(w->arg, at, n + i + 1);
                return;
            }
        n += got;
        if (got < sizeof text)
            break;
    }
    report(w, at, n, true);
}

static void strings_read(const struct walk *w, gaddr at)
{
    gaddr string = 1, n = 0;
    while (engine_read(&string, at + n, 8)) {
        n += 8;
        if (!string)
            break;
        string_read(w, string);
    }
    report(w, at, n, true);
}

/* ---- lists ---- */

static void written(const struct walk *w, const struct effect *e)
{
    gaddr at = (gaddr)w->a[e->arg];
    bool receives = false;
    switch ((enum effect_kind)e->kind) {
    case EFFECT_OUT:
    case EFFECT_INOUT:
    case EFFECT_PLACE:
        if (e->size == SIZE_POLLFDS) {
            revents_written(w, at, written_bytes(e, w));
            return;
        }
        report(w, at, written_bytes(e, w),
               exact(e) && (e->when != WHEN_ANY || !SYS_FAILED(w->result)));
        return;
    case EFFECT_OUT_VECTOR:
    case EFFECT_PLACE_VECTOR:
        spread(w, at, vector_count(e, w->a),
               w->all || e->size_arg == VECTOR_OF_ONE ? UINT64_MAX : (uint64_t)w->result, true);
        return;
    case EFFECT_OUT_MESSAGE:
        message_written(w, at, w->all ? UINT64_MAX : (uint64_t)w->result);
        return;
    case EFFECT_OUT_MESSAGES:
        receives = true;
        /* fall through */
    case EFFECT_IN_MESSAGES:
        messages_written(w, e, receives);
        return;
    case EFFECT_OUT_SIZED:
        sized_written(w, e);
        return;
    case EFFECT_OUT_COUNTED:
        counted_written(w, at);
        return;
    case EFFECT_OUT_AT:
        written_at(w, e);
        return;
    case EFFECT_OUT_THROUGH:
        written_through(w, e);
        return;
    default:
        return;
    }
}

static void read_before(const struct walk *w, const struct effect *e)
{
    gaddr at = (gaddr)w->a[e->arg];
    bool sends = false;
    switch ((enum effect_kind)e->kind) {
    case EFFECT_IN:
    case EFFECT_INOUT:
    case EFFECT_PLACE:
        report(w, at, effects_capacity(e, w->a), false);
        return;
    case EFFECT_PATH:
        string_read(w, at);
        return;
    case EFFECT_STRINGS:
        strings_read(w, at);
        return;
    case EFFECT_IN_VECTOR:
    case EFFECT_PLACE_VECTOR:
        spread(w, at, vector_count(e, w->a), UINT64_MAX, false);
        /* fall through */
    case EFFECT_OUT_VECTOR:
        report(w, at, times(vector_count(e, w->a), sizeof(struct vector)), false);
        return;
    case EFFECT_IN_MESSAGE:
        sends = true;
        /* fall through */
    case EFFECT_OUT_MESSAGE:
        message_read(w, at, sends);
        return;
    case EFFECT_IN_MESSAGES:
        sends = true;
        /* fall through */
    case EFFECT_OUT_MESSAGES:
        messages_read(w, e, sends);
        return;
    case EFFECT_OUT_SIZED:
        report(w, (gaddr)w->a[e->size_arg], 4, false);
        return;
    case EFFECT_OUT_COUNTED:
        report(w, at, sizeof(struct counted), false);
        return;
    case EFFECT_IN_FILTER:
        filter_read(w, at);
        return;
    default:
        return;
    }
}

static const struct effect *list_of(long nr)
{
    const struct call_info *info = call_info(nr);
    return info && info->how != CALL_REFUSED ? info->effects : NULL;
}

static bool is_list(const struct effect *e)
{
    return e->kind == EFFECT_COMMAND || e->kind == EFFECT_OPTION;
}

/* The list that such an entry stands for. */
static const struct effect *list_for(const struct effect *e, const long a[6])
{
    return e->kind == EFFECT_COMMAND ? effects_of_command(e, a) : effects_of_option(a, e->arg);
}

static void walk_read(const struct walk *w, const struct effect *e)
{
    for (; e && e->kind != EFFECT_END; e++)
        if (is_list(e))
            walk_read(w, list_for(e, w->a));
        else if (effects_apply(e, w->a))
            read_before(w, e);
}

void effects_read(long nr, const long a[6], effect_fn *fn, void *arg)
{
    walk_read(&(struct walk){.a = a, .fn = fn, .arg = arg}, list_of(nr));
}

bool effects_through(long nr, const long a[6])
{
    const struct effect *e = list_of(nr);
    if (e && is_list(e))
        e = list_for(e, a);
    while (e && e->kind != EFFECT_END && e->kind != EFFECT_OUT_THROUGH)
        e++;
    return e && e->kind == EFFECT_OUT_THROUGH;
}

bool effects_may_write(long nr)
{
    const struct effect *e = list_of(nr);
    for (; e && e->kind != EFFECT_END; e++)
        switch ((enum effect_kind)e->kind) {
        case EFFECT_NONE:
        case EFFECT_IN:
        case EFFECT_PATH:
        case EFFECT_STRINGS:
        case EFFECT_IN_VECTOR:
        case EFFECT_IN_MESSAGE:
        case EFFECT_IN_FILTER:
            break;
        default:
            return true;
        }
    return false;
}

static void walk_written(const struct walk *w, const struct effect *e)
{
    for (; e && e->kind != EFFECT_END; e++)
        if (is_list(e))
            walk_written(w, list_for(e, w->a));
        else if (happened(e, w))
            written(w, e);
}

void effects_written(long nr, const long a[6], long result, effect_fn *fn, void *arg)
{
    struct walk w = {.a = a, .result = result, .all = result == -EFAULT, .fn = fn, .arg = arg};
    walk_written(&w, list_of(nr));
}
