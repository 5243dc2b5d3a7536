/* effects_divert.c - outputs of blocking calls go to scratch memory first.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every buffer that the kernel may write gets a piece of scratch memory; iovec arrays and message
 * headers are rebuilt there, so that all their pointers stay in it. Two passes over the call's
 * list: the first counts bytes and pieces, the second builds. After the call the same list tells
 * what was written to scratch memory, and the pieces tell where it belongs.
 *
 *  1. Bulk data (whose size is the call's result) may be cut short: a short read is legal. Only
 * what no memory is left for, or lies behind memory that is not mapped, is cut.
 *  2. A buffer that cannot be read at all keeps its address: the kernel fails as it would natively.
 *  3. What a successful call may leave unwritten starts as a copy of the target's memory.
 */
#include "engine/core/engine.h"
#include "engine/os/effects.h"
#include "engine/os/maps.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "engine/rt/sys.h"

enum { MSG_TRUNC_ = 0x20, ADDRESS_MAX = 4096 };
#define BULK_MAX (15ull << 20) /* data of one call */

/* ---- memory ----
 *
 * A thread that needs more than the buffer in struct divert gets SMALL bytes for good. More than
 * that is borrowed for the call from buffers that all threads share: 128 KB, 256 KB, ... 16 MB.
 * They are never unmapped, so that the runtime's range does not fall to pieces. */

enum { SMALL = 64 << 10, SLAB = 1 << 20, LARGE = 128 << 10, SIZES = 8 };
#define LARGE_TOTAL (512ull << 20) /* the runtime has 1.8 GB in all */

struct large {
    struct large *next;
};
static struct large *spare[SIZES];
static uint64_t large_total;

static uint8_t *small_memory(struct thread *t)
{
    static uint8_t *slab, *slab_end;
    if (t->scratch)
        return t->scratch;
    if (slab == slab_end) {
        slab = range_alloc_near(0, SLAB, false);
        slab_end = slab ? slab + SLAB : NULL;
    }
    if (slab) {
        t->scratch = slab;
        slab += SMALL;
    }
    return t->scratch;
}

static void give_back(struct thread *t)
{
    enum { DONTNEED = 4 };
    uint64_t bytes = (uint64_t)LARGE << t->borrowed_size;
    struct large *l = t->borrowed;
    if (!l)
        return;
    if (bytes > SLAB)
        sys3(__NR_madvise, (long)l, (long)bytes, DONTNEED);
    l->next = spare[t->borrowed_size];
    spare[t->borrowed_size] = l;
    t->borrowed = NULL;
}

static uint8_t *borrow(struct thread *t, uint64_t bytes)
{
    uint32_t size = 0;
    while (size < SIZES && (uint64_t)LARGE << size < bytes)
        size++;
    if (size == SIZES)
        return NULL;
    struct large *l = spare[size];
    if (l) {
        spare[size] = l->next;
    } else {
        uint64_t room = (uint64_t)LARGE << size;
        l = large_total + room <= LARGE_TOTAL ? range_alloc_near(0, room, false) : NULL;
        large_total += l ? room : 0;
    }
    t->borrowed = l;
    t->borrowed_size = size;
    return (uint8_t *)l;
}

/* ---- pieces ---- */

/* How many bytes of a buffer are there. */
static uint64_t usable(gaddr at, uint64_t bytes)
{
    uint8_t byte;
    if (!bytes || !engine_read(&byte, at, 1))
        return 0;
    if (at + bytes > at && bytes <= 2 * PAGE_BYTES && engine_read(&byte, at + bytes - 1, 1) &&
        (PAGE_DOWN(at) + PAGE_BYTES >= PAGE_DOWN(at + bytes - 1) ||
         engine_read(&byte, PAGE_DOWN(at) + PAGE_BYTES, 1)))
        return bytes;
    return effects_mapped(at, bytes);
}

/* Scratch memory for `bytes` at `target`: its address, never 0. */
static long place(struct divert *d, gaddr target, uint64_t bytes, bool copy)
{
    uint64_t at = d->used, end = at + ((bytes + 15) & ~15ull);
    d->used = end;
    if (d->measure || end > d->room || d->pieces >= d->piece_max) {
        d->pieces++;
        return (long)d->buffer; /* in the second pass: memory changed meanwhile; nobody uses it */
    }
    d->piece[d->pieces++] = (struct divert_piece){(uint64_t)d->memory + at, target, bytes};
    if (copy)
        engine_copy(d->memory + at, (const void *)target, bytes);
    return (long)(d->memory + at);
}

static bool building(const struct divert *d)
{
    return !d->measure && d->used <= d->room && d->pieces <= d->piece_max;
}

/* ---- buffers ---- */

static bool is_bulk(const struct effect *e)
{
    return e->size == SIZE_RESULT || e->size == SIZE_RESULT_TIMES || e->size == SIZE_RESULT_PLUS;
}

static bool prefilled(const struct effect *e, const long a[6])
{
    return e->prefill == PREFILL_ALWAYS ||
           (e->prefill == PREFILL_TRUNC && (a[e->when_arg] & MSG_TRUNC_));
}

static uint64_t take(struct divert *d, gaddr at, uint64_t bytes)
{
    uint64_t n = usable(at, bytes < d->budget ? bytes : d->budget);
    d->budget -= n;
    return n;
}

static void divert_bulk(struct divert *d, const struct effect *e, const long a[6])
{
    gaddr at = (gaddr)a[e->arg];
    uint64_t want = effects_capacity(e, a), n = take(d, at, want);
    if (e->size == SIZE_RESULT_TIMES)
        n -= n % e->bytes;
    if (!n || (e->size == SIZE_RESULT_PLUS && n <= e->bytes))
        return;
    d->b[e->arg] = place(d, at, n, prefilled(e, a));
    if (n < want)
        d->b[e->size_arg] = (long)(e->size == SIZE_RESULT_TIMES  ? n / e->bytes
                                   : e->size == SIZE_RESULT_PLUS ? n - e->bytes
                                                                 : n);
}

static void divert_fixed(struct divert *d, const struct effect *e, const long a[6])
{
    gaddr at = (gaddr)a[e->arg];
    uint64_t want = effects_capacity(e, a);
    uint64_t n = want <= BULK_MAX ? usable(at, want) : 0;
    bool may_be_less = e->size == SIZE_UP_TO || e->size == SIZE_SETS || e->size == SIZE_REQUEST;
    if (!n || (n < want && !may_be_less))
        return;
    d->b[e->arg] = place(d, at, n, true);
}

static void divert_sized(struct divert *d, const struct effect *e, const long a[6])
{
    gaddr at = (gaddr)a[e->arg], length_at = (gaddr)a[e->size_arg];
    uint32_t length;
    if (!at || !engine_read(&length, length_at, 4))
        return;
    uint64_t want = length < ADDRESS_MAX ? length : ADDRESS_MAX;
    if (usable(at, want) < want)
        return;
    d->b[e->size_arg] = place(d, length_at, 4, true);
    d->b[e->arg] = place(d, at, want, true);
}

static void divert_counted(struct divert *d, const struct effect *e, const long a[6])
{
    struct counted c;
    gaddr at = (gaddr)a[e->arg];
    if (!engine_read(&c, at, sizeof c))
        return;
    uint64_t n = c.buffer && c.bytes <= BULK_MAX ? usable(c.buffer, c.bytes) : 0;
    struct counted *copy = (struct counted *)(d->b[e->arg] = place(d, at, sizeof c, true));
    if (n < c.bytes)
        return;
    long buffer = place(d, c.buffer, n, true);
    if (c.buffer && building(d))
        copy->buffer = (gaddr)buffer;
}

/* Rebuilds the vector; its new address. *count gets smaller when it is cut. */
static gaddr divert_vector(struct divert *d, gaddr at, uint64_t *count, bool prefill)
{
    uint64_t bytes = *count * sizeof(struct vector);
    if (!*count || *count > VECTOR_MAX || usable(at, bytes) < bytes)
        return at;
    struct vector v, *copy = (struct vector *)place(d, at, bytes, true);
    for (uint64_t i = 0; i < *count; i++) {
        if (!engine_read(&v, at + i * sizeof v, sizeof v))
            break;
        if (v.len && !d->budget) {
            *count = i;
            break;
        }
        uint64_t n = take(d, v.base, v.len);
        if (!n)
            continue;
        bool cut = n < v.len;
        v = (struct vector){(gaddr)place(d, v.base, n, prefill), n};
        if (building(d))
            copy[i] = v;
        if (cut)
            *count = i + 1;
    }
    return (gaddr)copy;
}

/* The header at `at` has been copied to `copy`. */
static void divert_message(struct divert *d, gaddr at, struct message *copy, bool prefill)
{
    struct message m;
    if (!engine_read(&m, at, sizeof m))
        return;
    uint64_t n = m.name_bytes < ADDRESS_MAX ? m.name_bytes : ADDRESS_MAX;
    if (m.name && n && usable(m.name, n) == n)
        m.name = (gaddr)place(d, m.name, n, true);
    n = m.control ? take(d, m.control, m.control_bytes) : 0;
    if (n) {
        m.control = (gaddr)place(d, m.control, n, true);
        m.control_bytes = n;
    }
    m.vector = divert_vector(d, m.vector, &m.count, prefill);
    if (building(d))
        *copy = m;
}

static void divert_messages(struct divert *d, const struct effect *e, const long a[6])
{
    gaddr at = (gaddr)a[e->arg];
    bool one = e->kind == EFFECT_OUT_MESSAGE;
    uint64_t count = one ? 1 : (uint32_t)a[e->size_arg];
    uint64_t stride = one ? sizeof(struct message) : MESSAGE_STRIDE;
    if (count > VECTOR_MAX)
        count = VECTOR_MAX; /* as the kernel */
    if (!count || usable(at, count * stride) < count * stride)
        return;
    uint8_t *copy = (uint8_t *)(d->b[e->arg] = place(d, at, count * stride, true));
    if (e->kind == EFFECT_IN_MESSAGES)
        return;
    for (uint64_t i = 0; i < count; i++) {
        divert_message(d, at + i * stride, (struct message *)(copy + i * stride), prefilled(e, a));
        if (!d->budget && i) /* rather fewer messages than a short one */
            d->b[e->size_arg] = (long)(count = i);
    }
}

static void divert_one(struct divert *d, const struct effect *e, const long a[6])
{
    uint64_t count;
    switch ((enum effect_kind)e->kind) {
    case EFFECT_OUT:
    case EFFECT_INOUT:
        if (is_bulk(e))
            divert_bulk(d, e, a);
        else
            divert_fixed(d, e, a);
        return;
    case EFFECT_OUT_VECTOR:
        count = (uint64_t)a[e->size_arg];
        d->b[e->arg] = (long)divert_vector(d, (gaddr)a[e->arg], &count, false);
        d->b[e->size_arg] = (long)count;
        return;
    case EFFECT_IN_MESSAGES:
    case EFFECT_OUT_MESSAGE:
    case EFFECT_OUT_MESSAGES:
        divert_messages(d, e, a);
        return;
    case EFFECT_OUT_SIZED:
        divert_sized(d, e, a);
        return;
    case EFFECT_OUT_COUNTED:
        divert_counted(d, e, a);
        return;
    default:
        return;
    }
}

/* ---- a call ---- */

static bool is_output(const struct effect *e)
{
    switch ((enum effect_kind)e->kind) {
    case EFFECT_OUT:
    case EFFECT_INOUT:
    case EFFECT_OUT_VECTOR:
    case EFFECT_IN_MESSAGES:
    case EFFECT_OUT_MESSAGE:
    case EFFECT_OUT_MESSAGES:
    case EFFECT_OUT_SIZED:
    case EFFECT_OUT_COUNTED:
        return true;
    default:
        return false;
    }
}

static void pass(struct divert *d, const struct effect *list, const long a[6], uint64_t budget)
{
    d->used = 0;
    d->pieces = 0;
    d->budget = budget;
    memcpy(d->b, a, sizeof d->b);
    for (const struct effect *e = list; e->kind != EFFECT_END; e++)
        if (is_output(e) && effects_apply(e, a))
            divert_one(d, e, a);
}

/* Memory for what the first pass has counted. */
static bool get_memory(struct thread *t, struct divert *d)
{
    uint64_t table = (d->pieces * sizeof *d->piece + 15) & ~15ull, bytes = table + d->used;
    uint8_t *base = bytes <= sizeof d->buffer ? d->buffer
                    : bytes <= SMALL          ? small_memory(t)
                                              : borrow(t, bytes);
    d->piece = (struct divert_piece *)base;
    d->piece_max = d->pieces;
    d->memory = base + table;
    d->room = d->used;
    return base;
}

bool effects_divert(struct thread *t, long nr, const long a[6], long b[6], struct divert *d,
                    long *error)
{
    const struct effect *list = call_info(nr)->effects, *e;
    *error = 0;
    if (list->kind == EFFECT_COMMAND && !(list = effects_of_command(list, a)))
        return false;
    for (e = list; !is_output(e); e++)
        if (e->kind == EFFECT_END)
            return false;
    uint64_t budget = BULK_MAX;
    give_back(t); /* a forked child may have what a thread of its parent had borrowed */
    d->nr = nr;
    d->measure = true;
    pass(d, list, a, budget);
    if (!d->pieces)
        return false;
    if (!get_memory(t, d)) {
        pass(d, list, a, budget = PAGE_BYTES / 4); /* fits the buffer in *d, or SMALL */
        if (!get_memory(t, d)) {
            *error = -ENOMEM;
            return false;
        }
    }
    d->measure = false;
    pass(d, list, a, budget);
    memcpy(b, d->b, sizeof d->b);
    if (building(d))
        return true;
    *error =
        -EAGAIN; /* another process changed the arguments in shared memory between the passes */
    give_back(t);
    return false;
}

struct delivery {
    const struct divert *d;
    uint32_t next; /* ranges mostly come in the order of the pieces */
    bool failed;
};

static bool put(gaddr to, uint64_t from, uint64_t bytes)
{
    return engine_write(to, (const void *)from, bytes) ||
           /* perhaps protected code, which the target may write */
           (maps_open_all() && engine_write(to, (const void *)from, bytes));
}

static void deliver_range(void *arg, gaddr addr, uint64_t bytes)
{
    struct delivery *y = arg;
    for (uint32_t i = 0; i < y->d->pieces; i++) {
        uint32_t at = (y->next + i) % y->d->pieces;
        const struct divert_piece *p = &y->d->piece[at];
        if (addr < p->scratch || addr - p->scratch >= p->bytes)
            continue;
        uint64_t off = addr - p->scratch, n = p->bytes - off;
        if (!put(p->target + off, addr, bytes < n ? bytes : n))
            y->failed = true;
        y->next = at;
        return;
    }
}

long effects_deliver(struct thread *t, struct divert *d, long result)
{
    struct delivery y = {.d = d};
    if (result != SYSCALL_ABORTED && result != -EFAULT)
        effects_written(d->nr, d->b, result, deliver_range, &y);
    give_back(t);
    return y.failed ? -EFAULT : result;
}
