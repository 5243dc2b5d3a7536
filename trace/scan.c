/* scan.c - one pass forwards over a trace.
 *
 * SPDX-License-Identifier: MIT
 *
 * Places where a register is saved are *armed*: a table by address knows frame and register. Any
 * write there disarms it. Most writes go elsewhere: a filter by address says so with one look. What
 * of a block can matter (writes, and instructions that save or restore) is listed once per block.
 */
#include "trace/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/table.h"
#include "source/frame.h"
#include "trace/access.h"
#include "trace/walk.h"

enum { RETURN_ADDRESS = GPR_COUNT, FILTER_BITS = 18, FILTER = 1 << FILTER_BITS };

struct armed {
    gaddr addr;      /* 0: free */
    uint64_t serial; /* of the frame; 0: disarmed */
    uint8_t reg;
};

enum event_kind { EVENT_WRITE, EVENT_SAVE, EVENT_RESTORE };

struct event {
    uint8_t insn, kind, reg;
    uint16_t access;
    uint16_t slots; /* of a save: places that are named for the register */
    const struct source_slot *slot;
};

struct events {
    struct event *at;
    uint32_t count;
    bool known;
};

struct list {
    uint32_t *at, count;
    size_t room;
};

struct scanner {
    struct scan *scan;
    struct trace *trace;
    struct code *code;
    struct frames frames;
    TABLE(struct armed) armed;
    uint8_t *filter; /* by granule: something was armed there */
    struct events *events;
    unsigned max_save;
    struct source *source;
    struct gist_maker *gist;
    uint32_t thread; /* that runs */
    struct list restores, changes;
    bool failed; /* no memory: what was found is not all */
};

/* ---- blocks ---- */

/* The instruction has the form of a save: where may it be one whenever it is executed? */
static void find_slots(const struct scanner *s, struct event *ev, gaddr pc)
{
    static const uint8_t dwarf[GPR_COUNT] = {
        [RAX] = 0,  [RDX] = 1,  [RCX] = 2,  [RBX] = 3, [RSI] = 4,  [RDI] = 5,
        [RBP] = 6,  [RSP] = 7,  [R8] = 8,   [R9] = 9,  [R10] = 10, [R11] = 11,
        [R12] = 12, [R13] = 13, [R14] = 14, [R15] = 15};
    if (s->source)
        ev->slots = (uint16_t)source_slots(s->source, pc, dwarf[ev->reg], &ev->slot);
}

static void list_events(struct scanner *s, struct events *e, const struct code_block *b)
{
    e->known = true;
    e->at = malloc(sizeof *e->at * (b->accesses + 1u));
    s->failed |= !e->at;
    for (uint32_t i = 0; e->at && i < b->insns; i++) {
        const struct code_insn *in = &b->insn[i];
        int reg = in->saves;
        if (in->restores >= 0) {
            e->at[e->count++] = (struct event){
                (uint8_t)i, EVENT_RESTORE, (uint8_t)in->restores, in->access_at, 0, NULL};
            continue;
        }
        for (uint32_t k = 0; k < in->accesses; k++) {
            uint16_t a = (uint16_t)(in->access_at + k);
            if (b->access[a].mem.write)
                e->at[e->count++] = (struct event){
                    (uint8_t)i, reg >= 0 ? EVENT_SAVE : EVENT_WRITE, (uint8_t)reg, a, 0, NULL};
        }
        if (reg >= 0)
            find_slots(s, &e->at[e->count - 1], in->in.pc);
    }
}

/* ---- armed places ---- */

static uint8_t *filter(struct scanner *s, gaddr addr)
{
    return &s->filter[addr / 8 & (FILTER - 1)];
}

static void arm(struct scanner *s, gaddr addr, uint64_t serial, int reg)
{
    if (table_reserve(&s->armed)) {
        s->failed = true;
        return;
    }
    struct armed *a = table_find(&s->armed, addr);
    s->armed.used += !a->addr;
    *a = (struct armed){addr, serial, (uint8_t)reg};
    *filter(s, addr) = *filter(s, addr + 7) = 1;
}

static bool is_armed(const struct scanner *s, gaddr addr, uint64_t serial, int reg)
{
    const struct armed *a = table_find(&s->armed, addr);
    return a->addr && a->serial == serial && a->reg == reg;
}

static void disarm(struct scanner *s, gaddr addr, uint64_t bytes)
{
    gaddr end = addr + bytes;
    if (bytes > (uint64_t)FILTER) {
        for (size_t i = 0; i < s->armed.room; i++)
            if (s->armed.slot[i].addr - addr + 7 < bytes + 7)
                s->armed.slot[i].serial = 0;
        return;
    }
    for (gaddr g = addr & ~7ull; g < end; g += 8) {
        if (!*filter(s, g))
            continue;
        for (gaddr at = g - 7; at != g + 8; at++) {
            if (!at || at >= end || at + 8 <= addr)
                continue;
            struct armed *a = table_find(&s->armed, at);
            if (a->addr)
                a->serial = 0;
        }
    }
}

/* ---- steps ---- */

static void add(struct scanner *s, struct list *l, uint32_t value)
{
    if (array_push(&l->at, &l->count, &l->room, value))
        s->failed = true;
}

/* Is it the place of a slot in this frame? The CFA is right behind the return address. */
static bool is_named(const struct event *ev, const struct frame *f, gaddr addr)
{
    for (unsigned i = 0; f->kind != FRAME_ROOT && i < ev->slots; i++)
        if (f->slot + 8 + (uint64_t)ev->slot[i].offset == addr)
            return true;
    return false;
}

/* Is it a register that a function must save for its caller? What it stores of others is its own,
 * except in the lazy resolver, which keeps arguments for somebody else. */
static bool is_kept(const struct frame *f, unsigned reg)
{
    const unsigned kept = 1u << RBX | 1u << RBP | 1u << R12 | 1u << R13 | 1u << R14 | 1u << R15;
    return f->resolver || kept >> reg & 1;
}

static void save(struct scanner *s, struct frame *f, gaddr addr, const struct event *ev)
{
    bool early = f->saves < s->max_save;
    f->saves += early;
    if ((early && is_kept(f, ev->reg)) || is_named(ev, f, addr))
        arm(s, addr, f->serial, ev->reg);
}

static void do_events(struct scanner *s, const struct trace_step *st, const struct code_block *b,
                      const uint64_t *values, struct frame *f)
{
    struct events *e = &s->events[b->number];
    if (!e->known)
        list_events(s, e, b);
    for (uint32_t i = 0; i < e->count; i++) {
        const struct event *ev = &e->at[i];
        const struct plan_access *a = &b->access[ev->access];
        uint64_t bytes;
        if (ev->insn >= st->insns)
            return;
        if (ev->kind == EVENT_RESTORE) {
            if (is_armed(s, code_address(a, values), f->serial, ev->reg))
                add(s, &s->restores, st->insn_at + ev->insn);
            continue;
        }
        if (a->mem.shape == ACCESS_VECTOR)
            continue; /* a note tells */
        gaddr addr = access_extent(b, a, values, &bytes);
        disarm(s, addr, bytes);
        gist_write(s->gist, addr, bytes);
        if (ev->kind == EVENT_SAVE)
            save(s, f, addr, ev);
    }
}

static int do_step(void *arg, const struct trace_walk *w, struct err *err)
{
    struct scanner *s = arg;
    const struct trace_chunk *c = w->chunk;
    const struct trace_step *st = w->step;
    const struct code_block *b = code_block(s->code, st->block);
    const uint64_t *values = c->value + st->value_at;
    struct frames_thread *t = &s->frames.thread[st->thread];
    bool call = t->left && (t->left->tail == INSN_CALL || t->left->tail == INSN_CALL_IND);
    bool pending = t->left;
    enum frames_effect effect;
    struct frame *f = frames_enter(&s->frames, st->thread, b, b->pc, &effect);
    if (!f)
        return err_set(err, "no memory");
    if (effect == FRAMES_MADE && call)
        arm(s, f->slot, f->serial, RETURN_ADDRESS);
    gist_step(s->gist, st->thread, b, f->serial, pending && effect == FRAMES_STAYED);
    do_events(s, st, b, values, f);
    frames_leave(&s->frames, st, b, values, c->first_insn + st->insn_at);
    /* A return is judged when it is executed. */
    const struct frames_thread *now = &s->frames.thread[st->thread];
    if (now->left && b->tail == INSN_RET) {
        const struct armed *a = frames_returns(now->top, b, b->insns - 1u, values)
                                    ? table_find(&s->armed, now->addr)
                                    : NULL;
        if (a && !(a->addr && a->serial && a->reg == RETURN_ADDRESS))
            add(s, &s->changes, st->insn_at + st->insns - 1u);
    }
    return s->failed ? err_set(err, "no memory") : 0;
}

static int add_signal(struct scan *scan, uint64_t insn, const struct flow_signal *sig,
                      struct err *err)
{
    const struct scan_signal new = {insn, sig->frame, sig->end, sig->fpstate};
    return array_push(&scan->signal, &scan->signals, &scan->signal_room, new)
               ? err_set(err, "no memory")
               : 0;
}

const struct scan_signal *scan_delivery(const struct scan *s, gaddr frame, uint64_t insn)
{
    for (size_t i = s->signals; i-- > 0;)
        if (s->signal[i].insn <= insn && s->signal[i].frame == frame)
            return &s->signal[i];
    return NULL;
}

/* Does more than writing memory, or belongs to a step of the chunk before. */
static bool is_odd(const struct trace_walk *w)
{
    const struct flow_note *n = w->note;
    return n->kind == FLOW_SIGNAL || n->kind == FLOW_BEGIN || n->kind == FLOW_DID ||
           (n->kind == FLOW_CALL && access_is_sigreturn((const struct flow_call *)n)) ||
           (!w->next_step && n->kind != FLOW_THREAD);
}

static int do_note(void *arg, const struct trace_walk *w, struct err *err)
{
    struct scanner *s = arg;
    const struct flow_note *n = w->note;
    size_t ranges;
    const struct flow_range *r = trace_ranges(n, &ranges);
    for (size_t i = 0; i < ranges; i++)
        if (r[i].how != FLOW_READ) {
            disarm(s, r[i].addr, r[i].bytes);
            gist_write(s->gist, r[i].addr, r[i].bytes);
        }
    if (is_odd(w))
        gist_odd(s->gist);
    if (n->kind == FLOW_SIGNAL) {
        const struct flow_signal *sig = (const struct flow_signal *)n;
        disarm(s, sig->frame, sig->end - sig->frame);
        if (add_signal(s->scan, w->insns, sig, err))
            return -1;
    }
    return frames_note(&s->frames, w->thread, n) ? err_set(err, "no memory") : 0;
}

/* ---- all of it ---- */

static void scanner_deinit(struct scanner *s)
{
    frames_deinit(&s->frames);
    for (uint32_t i = 0; s->events && i < code_count(s->code); i++)
        free(s->events[i].at);
    free(s->events);
    free(s->armed.slot);
    free(s->filter);
    free(s->restores.at);
    free(s->changes.at);
    gist_maker_free(s->gist);
}

static int scanner_init(struct scanner *s, struct trace *trace, unsigned max_save,
                        struct source *source, struct err *err)
{
    *s = (struct scanner){
        .trace = trace, .code = trace_code(trace), .max_save = max_save, .source = source};
    s->filter = calloc(1, FILTER);
    s->events = calloc(code_count(s->code) + 1, sizeof *s->events);
    s->gist = gist_maker_new(s->code, trace_threads(trace));
    if (table_reserve(&s->armed) || !s->filter || !s->events || !s->gist)
        return err_set(err, "no memory");
    return frames_init(&s->frames, trace, err);
}

/* ---- packed lists: differences, seven bits a byte ---- */

static uint8_t *pack(uint8_t *to, struct list *l)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t d = l->at[i] - last;
        last = l->at[i];
        for (; d >= 0x80; d >>= 7)
            *to++ = (uint8_t)(d | 0x80);
        *to++ = (uint8_t)d;
    }
    l->count = 0;
    return to;
}

static const uint8_t *unpack(const uint8_t *from, uint32_t *list, uint32_t count)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = 0;
        unsigned shift = 0;
        for (; *from & 0x80; shift += 7)
            d |= (uint32_t)(*from++ & 0x7f) << shift;
        d |= (uint32_t)*from++ << shift;
        list[i] = last += d;
    }
    return from;
}

/* A gist is small beside its chunk. */
static int keep_gist(struct scanner *s, uint32_t chunk, struct gist *out, struct err *err)
{
    enum { FEW = 24, MANY = 4096, PART = 128 };
    uint64_t most = trace_chunk_bytes(s->trace, chunk) / PART;
    most = most < FEW ? FEW : most > MANY ? MANY : most;
    return gist_finish(s->gist, s->frames.serials, (uint32_t)most, out) ? err_set(err, "no memory")
                                                                        : 0;
}

static int keep(struct scanner *s, struct scan_chunk *k, struct err *err)
{
    enum { MOST = 5 }; /* bytes of a difference */
    k->restores = s->restores.count;
    k->changes = s->changes.count;
    uint8_t *all = malloc((size_t)MOST * (k->restores + k->changes) + 1);
    if (!all)
        return err_set(err, "no memory");
    uint8_t *end = pack(pack(all, &s->restores), &s->changes);
    uint8_t *fit = realloc(all, (size_t)(end - all) + 1);
    k->packed = fit ? fit : all;
    return 0;
}

int scan_unpack(const struct scan_chunk *k, struct scan_lists *out, struct err *err)
{
    if (array_reserve(&out->restore, &out->room, (size_t)k->restores + k->changes + 1))
        return err_set(err, "no memory");
    out->restores = k->restores;
    out->changes = k->changes;
    out->changed = out->restore + k->restores;
    unpack(unpack(k->packed, out->restore, k->restores), out->changed, k->changes);
    return 0;
}

void scan_lists_deinit(struct scan_lists *l)
{
    free(l->restore);
    *l = (struct scan_lists){0};
}

bool scan_lists_has(const uint32_t *list, uint32_t count, uint32_t insn)
{
    const size_t at = search_first(count, i, list[i] < insn);
    return at < count && list[at] == insn;
}

/* ---- the pass ---- */

static bool has_enough(const struct scan_progress *p, const struct trace *trace, uint32_t chunk)
{
    return p->tell && p->tell(p->arg, trace_chunk_first(trace, chunk), trace_insns(trace));
}

int scan_init(struct scan *scan, struct trace *trace, const struct scan_options *o, struct err *err)
{
    static const struct trace_visitor visitor = {do_step, do_note};
    struct scanner s;
    struct trace_chunk c = {0};
    int bad = -1;
    *scan = (struct scan){.chunks = trace_chunks(trace), .first = o->first};
    scan->chunk = calloc(scan->chunks + 1, sizeof *scan->chunk);
    if (scanner_init(&s, trace, o->max_save, o->source, err))
        goto done;
    if (!scan->chunk) {
        err_set(err, "no memory");
        goto done;
    }
    s.scan = scan;
    for (uint32_t i = o->first; i < scan->chunks; i++) {
        struct scan_chunk *k = &scan->chunk[i];
        k->thread = s.thread;
        if (has_enough(&o->progress, trace, i)) {
            err_set_code(err, SCAN_STOPPED, "stopped before the trace was looked through");
            goto done;
        }
        if (frames_copy(&k->start, &s.frames, err) || trace_read(trace, i, &c, err) ||
            trace_walk_chunk(trace, &c, &s.thread, &visitor, &s, err) || keep(&s, k, err) ||
            keep_gist(&s, i, &k->gist, err))
            goto done;
    }
    bad = 0;
done:
    trace_chunk_deinit(&c);
    scanner_deinit(&s);
    if (bad)
        scan_deinit(scan);
    return bad;
}

void scan_deinit(struct scan *s)
{
    for (uint32_t i = 0; s->chunk && i < s->chunks; i++) {
        frames_deinit(&s->chunk[i].start);
        free(s->chunk[i].packed);
        gist_deinit(&s->chunk[i].gist);
    }
    free(s->chunk);
    free(s->signal);
    *s = (struct scan){0};
}
