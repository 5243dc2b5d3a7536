/* scan_pack.c - a scan as bytes, to be kept and read again.
 *
 * SPDX-License-Identifier: MIT
 *
 * Frames are shared by the chunks whose beginning they are there at. A frame is made behind its
 * parent, so that sorted by their serials all parents come first; a reference to a frame is its
 * place in that list. Numbers have seven bits a byte.
 */
#include "trace/scan_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* ---- numbers ---- */

struct writer {
    uint8_t *at;
    size_t bytes, room;
    bool failed;
};

static void put(struct writer *w, uint64_t v)
{
    do
        w->failed |= array_push(&w->at, &w->bytes, &w->room,
                                (uint8_t)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0))) != 0;
    while (v >>= 7);
}

static void put_bytes(struct writer *w, const uint8_t *from, size_t n)
{
    if (array_reserve(&w->at, &w->room, w->bytes + n)) {
        w->failed = true;
        return;
    }
    memcpy(w->at + w->bytes, from, n);
    w->bytes += n;
}

struct reader {
    const uint8_t *at, *end;
    bool failed; /* it ends early, or says what cannot be */
};

static uint64_t get(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t b = *r->at++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    r->failed = true;
    return 0;
}

/* How many of something follow, each of which takes a byte at least. */
static uint64_t get_count(struct reader *r)
{
    uint64_t n = get(r);
    r->failed |= n > (uint64_t)(r->end - r->at);
    return r->failed ? 0 : n;
}

/* ---- frames ---- */

struct list {
    struct frame **at;
    size_t count;
};

static int by_serial(const void *a, const void *b)
{
    const struct frame *const *x = a, *const *y = b;
    return (*x)->serial < (*y)->serial ? -1 : (*x)->serial > (*y)->serial;
}

static size_t place_of(const struct list *l, const struct frame *f)
{
    return search_first(l->count, i, l->at[i]->serial < f->serial);
}

/* From the newest down, until a frame that is known: those below it are known, too. */
static bool add_stack(struct list *l, size_t known, struct frame *top)
{
    struct list old = {l->at, known};
    for (struct frame *f = top; f; f = f->parent) {
        size_t i = place_of(&old, f);
        if (i < known && l->at[i] == f)
            return true;
        if (array_append(&l->at, &l->count, f))
            return false;
        old.at = l->at;
    }
    return true;
}

/* Stacks of two threads have no frame in common; a stack of a chunk's may grow out of the last
 * one's. */
static bool add_chunk(struct list *l, const struct frames *start)
{
    size_t known = l->count;
    for (uint32_t t = 0; t < start->threads; t++)
        if (!add_stack(l, known, start->thread[t].top))
            return false;
    if (l->count > 1)
        qsort(l->at, l->count, sizeof *l->at, by_serial);
    return true;
}

static void put_frame(struct writer *w, const struct list *l, const struct frame *f)
{
    put(w, f->parent ? place_of(l, f->parent) + 1 : 0);
    put(w, f->kind | (unsigned)f->resolver << 4);
    put(w, f->serial);
    put(w, f->slot);
    put(w, f->entry);
    put(w, f->second);
    put(w, f->maker);
    put(w, f->maker_pc);
    put(w, f->jump_pc);
    put(w, f->call_pc);
    put(w, f->saves);
}

static struct frame *get_frame(struct reader *r, const struct list *l)
{
    struct frame *f = calloc(1, sizeof *f);
    uint64_t parent = get(r);
    unsigned kind = (unsigned)get(r);
    if (!f || parent > l->count || (kind & 15) > FRAME_SIGNAL || kind >> 5) {
        free(f);
        r->failed = true;
        return NULL;
    }
    f->refs = 1; /* the list's */
    f->parent = parent ? frame_ref(l->at[parent - 1]) : NULL;
    f->kind = kind & 15;
    f->resolver = kind >> 4;
    f->serial = get(r);
    f->slot = get(r);
    f->entry = get(r);
    f->second = get(r);
    f->maker = get(r);
    f->maker_pc = get(r);
    f->jump_pc = get(r);
    f->call_pc = get(r);
    f->saves = (uint32_t)get(r);
    return f;
}

/* ---- gists ---- */

static void put_gist(struct writer *w, const struct gist *g)
{
    gaddr last = 0;
    put(w, g->odd);
    put(w, g->threads);
    for (uint32_t i = 0; i < g->threads; i++) {
        put(w, g->thread[i].thread);
        put(w, g->thread[i].carry);
        put(w, g->thread[i].defined);
        put(w, g->thread[i].lowest);
    }
    put(w, g->ranges);
    for (uint32_t i = 0; i < g->ranges; last = g->range[i++].last) {
        put(w, g->range[i].addr - last);
        put(w, g->range[i].last - g->range[i].addr);
    }
    put(w, g->blocks);
    for (uint32_t i = 0; i < g->blocks; i++)
        put(w, g->block[i] - (i ? g->block[i - 1] : 0));
}

static void get_gist_threads(struct reader *r, const struct trace *trace, const struct code *code,
                             struct gist *g)
{
    g->threads = (uint32_t)get_count(r);
    g->thread = calloc(g->threads + 1, sizeof *g->thread);
    r->failed |= !g->thread;
    for (uint32_t i = 0; !r->failed && i < g->threads; i++) {
        struct gist_thread *t = &g->thread[i];
        t->thread = (uint32_t)get(r);
        t->carry = (uint32_t)get(r);
        t->defined = get(r);
        t->lowest = get(r);
        r->failed |= t->thread >= trace_threads(trace) || t->carry > code_count(code);
    }
}

static void get_gist(struct reader *r, const struct trace *trace, const struct code *code,
                     struct gist *g)
{
    g->odd = get(r);
    get_gist_threads(r, trace, code, g);
    g->ranges = (uint32_t)get_count(r);
    g->range = calloc(g->ranges + 1, sizeof *g->range);
    r->failed |= !g->range;
    gaddr last = 0;
    for (uint32_t i = 0; !r->failed && i < g->ranges; last = g->range[i++].last) {
        g->range[i].addr = last + get(r);
        g->range[i].last = g->range[i].addr + get(r);
        r->failed |= g->range[i].addr < last || g->range[i].last < g->range[i].addr;
    }
    g->blocks = (uint32_t)get_count(r);
    g->block = calloc(g->blocks + 1, sizeof *g->block);
    r->failed |= !g->block;
    for (uint32_t i = 0, at = 0; !r->failed && i < g->blocks; i++) {
        g->block[i] = at += (uint32_t)get(r);
        r->failed |= at >= code_count(code);
    }
}

/* ---- a chunk ---- */

static size_t packed_bytes(const struct scan_chunk *k)
{
    size_t n = 0;
    for (uint64_t left = (uint64_t)k->restores + k->changes; left; n++)
        left -= !(k->packed[n] & 0x80);
    return n;
}

static void put_chunk(struct writer *w, const struct list *l, const struct scan_chunk *k)
{
    size_t bytes = packed_bytes(k);
    put(w, k->thread);
    put(w, k->start.serials);
    for (uint32_t t = 0; t < k->start.threads; t++) {
        const struct frames_thread *of = &k->start.thread[t];
        put(w, of->top ? place_of(l, of->top) + 1 : 0);
        put(w, of->left ? (uint64_t)of->left->number + 1 : 0);
        put(w, of->insn);
        put(w, of->addr);
    }
    put(w, k->restores);
    put(w, k->changes);
    put(w, bytes);
    put_bytes(w, k->packed, bytes);
    put_gist(w, &k->gist);
}

/* The lists' bytes are as many numbers as are said. */
static bool get_lists(struct reader *r, struct scan_chunk *k)
{
    k->restores = (uint32_t)get(r);
    k->changes = (uint32_t)get(r);
    uint64_t bytes = get_count(r), ends = 0;
    for (uint64_t i = 0; i < bytes; i++)
        ends += !(r->at[i] & 0x80);
    k->packed = malloc(bytes + 1);
    if (r->failed || !k->packed || ends != (uint64_t)k->restores + k->changes)
        return false;
    memcpy(k->packed, r->at, bytes);
    k->packed[bytes] = 0;
    r->at += bytes;
    return !bytes || !(k->packed[bytes - 1] & 0x80);
}

static bool get_chunk(struct reader *r, const struct list *l, const struct trace *trace,
                      const struct code *code, struct scan_chunk *k)
{
    struct err err;
    if (frames_init(&k->start, trace, &err))
        return false;
    k->thread = (uint32_t)get(r);
    k->start.serials = get(r);
    for (uint32_t t = 0; t < k->start.threads; t++) {
        struct frames_thread *of = &k->start.thread[t];
        uint64_t top = get(r), left = get(r);
        if (r->failed || top > l->count || left > code_count(code))
            return false;
        of->top = top ? frame_ref(l->at[top - 1]) : NULL;
        of->left = left ? code_block(code, (uint32_t)left - 1) : NULL;
        of->insn = get(r);
        of->addr = get(r);
    }
    if (!get_lists(r, k) || k->thread > trace_threads(trace))
        return false;
    get_gist(r, trace, code, &k->gist);
    return !r->failed;
}

/* ---- all of it ---- */

uint8_t *scan_pack(const struct scan *s, size_t *bytes)
{
    struct writer w = {.at = NULL};
    struct list l = {NULL, 0};
    for (uint32_t i = 0; i < s->chunks && !w.failed; i++)
        w.failed = !add_chunk(&l, &s->chunk[i].start);
    put(&w, s->chunks);
    put(&w, s->signals);
    for (size_t i = 0; i < s->signals; i++) {
        put(&w, s->signal[i].insn);
        put(&w, s->signal[i].frame);
        put(&w, s->signal[i].end);
        put(&w, s->signal[i].fpstate);
    }
    put(&w, l.count);
    for (size_t i = 0; i < l.count; i++)
        put_frame(&w, &l, l.at[i]);
    for (uint32_t i = 0; i < s->chunks; i++)
        put_chunk(&w, &l, &s->chunk[i]);
    free(l.at);
    *bytes = w.bytes;
    if (!w.failed)
        return w.at;
    free(w.at);
    return NULL;
}

static bool get_signals(struct reader *r, struct scan *out)
{
    uint64_t n = get_count(r);
    for (uint64_t i = 0; i < n && !r->failed; i++) {
        struct scan_signal s = {.insn = get(r)};
        s.frame = get(r);
        s.end = get(r);
        s.fpstate = get(r);
        if (array_push(&out->signal, &out->signals, &out->signal_room, s))
            return false;
    }
    return !r->failed;
}

static bool get_frames(struct reader *r, struct list *l)
{
    uint64_t n = get_count(r);
    l->at = calloc(n + 1, sizeof *l->at);
    while (l->at && !r->failed && l->count < n) {
        l->at[l->count] = get_frame(r, l);
        l->count += l->at[l->count] != NULL;
    }
    return l->at && !r->failed;
}

int scan_unpack_all(const uint8_t *bytes, size_t n, const struct trace *trace,
                    const struct code *code, struct scan *out)
{
    struct reader r = {.at = bytes, .end = bytes + n};
    struct list l = {NULL, 0};
    uint64_t chunks = get(&r);
    *out = (struct scan){.chunks = trace_chunks(trace)};
    out->chunk = calloc(out->chunks + 1, sizeof *out->chunk);
    bool good = out->chunk && chunks == out->chunks && get_signals(&r, out) && get_frames(&r, &l);
    for (uint32_t i = 0; good && i < out->chunks; i++)
        good = get_chunk(&r, &l, trace, code, &out->chunk[i]);
    good = good && !r.failed && r.at == r.end;
    for (size_t i = 0; i < l.count; i++)
        frame_unref(l.at[i]);
    free(l.at);
    if (!good)
        scan_deinit(out);
    return good ? 0 : -1;
}
