/* errors_kernel.c - system calls, signals and threads, for those who look for errors.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/array.h"
#include "facts/heap/errors_int.h"
#include "trace/access.h"

/* What the pointer was made from that the kernel was given for an address. */
static uint32_t tag_of(const struct machine_thread *t, const struct flow_call *c, gaddr addr)
{
    static const uint8_t argument[] = {RDI, RSI, RDX, R10, R8, R9};
    for (size_t i = 0; i < sizeof argument; i++)
        if (c->arg[i] == addr && t->tag[argument[i]] != MACHINE_DISTANCE)
            return t->tag[argument[i]];
    return 0;
}

/* Is the thread in a function of an allocator? What that asks of the kernel is about its own
 * memory. */
static bool is_inside(const struct watcher *w, uint32_t thread)
{
    for (unsigned i = 0; i < HEAP_POOLS; i++)
        if (w->open[thread][i] != HEAP_NONE)
            return true;
    return false;
}

static void kernel_range(struct watcher *w, const struct flow_range *r, uint32_t tag, bool data)
{
    struct machine_at *at = &w->m.at;
    struct machine_access a = {r->addr, r->bytes, tag, r->how != FLOW_READ};
    struct shadow *s = &w->m.shadow;
    if (r->bytes && !is_inside(w, at->thread) && machine_is_odd(&w->m, &a))
        errors_touched(w, at, &a);
    if (r->how != FLOW_READ) {
        shadow_fill(s, r->addr, r->bytes, false);
        return;
    }
    for (uint64_t i = 0; data && i < r->bytes; i++)
        if (shadow_get(s, r->addr + i, 1)) {
            struct machine_origin o = {r->addr + i, at->b->insn[at->i].in.pc, at->insn + at->i, 1};
            errors_used(w, at, MACHINE_CALL, &o);
            return;
        }
}

/* Memory that is new, or gone. */
static void remap(struct watcher *w, gaddr addr, uint64_t bytes)
{
    shadow_fill(&w->m.shadow, addr, bytes, false);
    shadow_free(&w->m.shadow, addr, bytes, false);
}

static void take_maps(struct watcher *w, const struct flow_call *c)
{
    gaddr result = (gaddr)c->result;
    switch (kinds_of(c->nr).does) {
    case DOES_MAPS:
        remap(w, result, c->arg[1]);
        break;
    case DOES_UNMAPS:
        remap(w, c->arg[0], c->arg[1]);
        break;
    case DOES_REMAPS:
        remap(w, result, c->arg[2]);
        break;
    case DOES_BREAKS:
        if (w->brk && result > w->brk)
            remap(w, w->brk, result - w->brk);
        else if (result < w->brk)
            remap(w, result, w->brk - result);
        w->brk = result;
        break;
    default:
        break;
    }
}

/* Calls whose arguments and data are looked at: those that write to files, or send. */
static bool takes_data(int64_t nr)
{
    const struct call_kind k = kinds_of(nr);
    return k.does == DOES_WRITES || k.does == DOES_WRITES_AT || k.does == DOES_WRITES_HOW;
}

static void take_call(struct watcher *w, uint32_t thread, const struct flow_call *c)
{
    static const uint8_t argument[] = {RDI, RSI, RDX};
    struct machine_thread *t = &w->m.thread[thread];
    bool data = takes_data(c->nr) && w->open[thread][0] == HEAP_NONE;
    size_t n;
    const struct flow_range *r = trace_ranges(&c->note, &n);
    for (size_t i = 0; data && w->m.at.b && i < sizeof argument; i++)
        if (t->undefined[argument[i]])
            errors_used(w, &w->m.at, MACHINE_CALL, &t->origin[argument[i]]);
    for (; w->m.at.b && n--; r++)
        kernel_range(w, r, tag_of(t, c, r->addr), data);
    if (c->result >= 0 || c->result < -4095)
        take_maps(w, c);
    t->undefined[RAX] = 0;
    t->tag[RAX] = 0;
}

static int take_signal(struct watcher *w, uint32_t thread, const struct flow_signal *s)
{
    struct machine_thread *t = &w->m.thread[thread];
    struct saved saved = {s->frame, *t};
    if (array_push(&w->saved[thread].list, &w->saved[thread].count, &w->saved[thread].room, saved))
        return -1;
    memset(t, 0, sizeof *t);
    t->sp = t->low = s->frame;
    shadow_fill(&w->m.shadow, s->frame, s->end - s->frame, false);
    return 0;
}

static void take_return(struct watcher *w, uint32_t thread, gaddr frame)
{
    struct machine_thread *t = &w->m.thread[thread];
    memset(t, 0, sizeof *t);
    while (w->saved[thread].count) {
        const struct saved *s = &w->saved[thread].list[--w->saved[thread].count];
        if (s->frame == frame) {
            *t = s->state;
            break;
        }
    }
    t->sp = t->low = 0;
}

static void take_begin(struct watcher *w, uint32_t thread, const struct flow_begin *f)
{
    uint32_t child = trace_thread_find(w->s->trace, f->thread);
    if (trace_thread(w->s->trace, child) != f->thread || child == thread)
        return;
    w->begun[child] = true;
    w->m.thread[child] = w->m.thread[thread];
    w->m.thread[child].sp = w->m.thread[child].low = 0;
}

int errors_note(void *arg, const struct pass *p, struct err *err)
{
    struct watcher *w = arg;
    const struct trace_walk *walk = &p->at;
    const struct flow_note *n = walk->note;
    const struct flow_call *c = (const struct flow_call *)n;
    size_t ranges;
    const struct flow_range *r;
    int bad = 0;
    switch (n->kind) {
    case FLOW_CALL:
        if (access_is_sigreturn(c))
            take_return(w, walk->thread, c->frame);
        else
            take_call(w, walk->thread, c);
        break;
    case FLOW_ACCESS:
        for (r = trace_ranges(n, &ranges); ranges--; r++)
            if (r->how != FLOW_READ)
                shadow_fill(&w->m.shadow, r->addr, r->bytes, false);
        break;
    case FLOW_SIGNAL:
        bad = take_signal(w, walk->thread, (const struct flow_signal *)n);
        break;
    case FLOW_BEGIN:
        take_begin(w, walk->thread, (const struct flow_begin *)n);
        break;
    default:
        break;
    }
    return bad ? err_set(err, "no memory") : 0;
}
