/* errors.c - what a program did wrong with memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * The machine (machine.h) goes through the trace; here it is told of calls of the allocator and of
 * the kernel's, and what it finds odd is looked at once more before it is told:
 * 1. What the C library does by itself, when a thread ends for example, is not the program's.
 * 2. A pointer outside of its block counts only near the block: far away it is rather a distance
 *    between two things that was added to the wrong one of them on the way.
 * 3. One that was made from a variable's address counts only if that variable was meant
 * (objects.h).
 */
#include <stdlib.h>
#include <string.h>

#include "facts/heap/errors_int.h"
#include "trace/pass.h"

enum { FAKE_SHIFT = 44 };
#define FAKE_MEMORY (1ull << 60) /* where bits of a block that realloc() works on are kept */

/* ---- the allocator ---- */

static gaddr fake_memory(uint32_t thread)
{
    return FAKE_MEMORY + ((uint64_t)thread << FAKE_SHIFT);
}

static bool is_static(struct watcher *w, gaddr addr)
{
    struct source_line l;
    source_line(w->s->source, addr, &l);
    return l.module != NULL;
}

static bool is_stack(struct watcher *w, uint32_t thread, gaddr addr)
{
    const struct trace_map *map;
    size_t maps = trace_maps(w->s->trace, &map);
    gaddr sp = w->m.thread[thread].sp;
    for (size_t i = 0; sp && i < maps; i++)
        if (map[i].start <= sp && sp < map[i].end)
            return addr >= sp && addr < map[i].end && map[i].file < 0;
    return false;
}

/* A free() that took nothing back. */
static void look_at_free(struct watcher *w, const struct machine_at *at, uint32_t call, gaddr addr)
{
    struct source_line l;
    uint32_t block = heap_find(w->h, addr, at->insn, true);
    const struct heap_block *b = block == HEAP_NONE ? NULL : &w->h->block[block];
    bool dead = b && b->to < at->insn;
    struct heap_error *e = NULL;
    if (at->frame->call_pc && !source_line(w->s->source, at->frame->call_pc, &l) &&
        errors_is_loader(l.module))
        return; /* it frees what it allocated before there was malloc() */
    if (dead && b->start == addr && b->freed != HEAP_NONE)
        e = errors_tell(w, at, HEAP_DOUBLE_FREE, block);
    else if (b && !dead && b->start != addr)
        e = errors_tell(w, at, HEAP_WRONG_FREE, block);
    else if (!b && (is_stack(w, at->thread, addr) || is_static(w, addr)))
        e = errors_tell(w, at, HEAP_WRONG_FREE, HEAP_NONE);
    if (e) {
        e->addr = addr;
        e->call = call;
        e->stack = w->h->call[call].stack;
    }
}

static void take_back(struct watcher *w, const struct machine_at *at, uint32_t call)
{
    const struct heap_call *c = &w->h->call[call];
    const struct heap_function *f = &w->h->functions.list[c->function];
    const struct heap_block *b = &w->h->block[c->took];
    struct machine_block *known = &w->m.block[c->took + 1];
    if (b->family != f->family) {
        struct heap_error *e = errors_tell(w, at, HEAP_WRONG_FAMILY, c->took);
        if (e) {
            e->addr = b->start;
            e->call = call;
            e->stack = c->stack;
        }
    }
    if (f->does == HEAP_REALLOCATES)
        shadow_copy(&w->m.shadow, fake_memory(c->thread), b->start, b->size);
    shadow_fill(&w->m.shadow, b->start, b->size, false);
    shadow_free(&w->m.shadow, b->start, b->size, true);
    known->freed = true;
}

static void enter(struct watcher *w, const struct machine_at *at, uint32_t call)
{
    const struct heap_call *c = &w->h->call[call];
    const struct heap_function *f = &w->h->functions.list[c->function];
    if (!c->entered)
        return;
    gaddr addr = c->arg[f->does == HEAP_REALLOCATES ? 0 : f->size];
    if (c->took != HEAP_NONE)
        take_back(w, at, call);
    else if (addr && (f->does == HEAP_FREES || (f->does == HEAP_REALLOCATES && c->result)))
        look_at_free(w, at, call, addr);
}

static void give_out(struct watcher *w, uint32_t call)
{
    const struct heap_call *c = &w->h->call[call];
    const struct heap_function *f = &w->h->functions.list[c->function];
    const struct heap_block *b = &w->h->block[c->block];
    struct shadow *s = &w->m.shadow;
    uint64_t kept = 0;
    shadow_free(s, b->start, b->size, false);
    shadow_fill(s, b->start, b->size, f->does != HEAP_ALLOCATES_ZEROED);
    if (c->took != HEAP_NONE) {
        const struct heap_block *old = &w->h->block[c->took];
        kept = old->size < b->size ? old->size : b->size;
        shadow_copy(s, b->start, fake_memory(c->thread), kept);
        shadow_fill(s, fake_memory(c->thread), old->size, false);
        if (old->next == c->block) /* in its place: pointers to it stay good */
            w->m.block[c->took + 1] =
                (struct machine_block){b->start, b->start + b->size, false, 0};
    }
    w->m.block[c->block + 1] = (struct machine_block){b->start, b->start + b->size, false, 0};
    if (f->does == HEAP_STORES)
        shadow_set_tag(s, c->arg[0], c->block + 1);
    else
        w->m.thread[c->thread].tag[RAX] = c->block + 1;
}

/* Behind a step. */
static void leave(struct watcher *w, uint32_t thread, uint64_t next)
{
    for (unsigned i = 0; i < HEAP_POOLS; i++) {
        uint32_t call = w->open[thread][i];
        if (call == HEAP_NONE || w->h->call[call].over > next)
            continue;
        w->open[thread][i] = HEAP_NONE;
        machine_forget(&w->m.thread[thread]);
        if (w->h->call[call].block != HEAP_NONE)
            give_out(w, call);
    }
}

/* ---- the pass ---- */

/* Code of the C library that has no name is that of its string functions, which are chosen when it
 * is loaded and are not exported. In a static program their names say for which processor they are.
 */
static void find_strings(struct watcher *w, gaddr pc, struct ops *o)
{
    static const char *const counted[] = {"mem", "wmem", "bcmp", NULL};
    static const char *const ended[] = {"str", "wcs", "rawmem", "stpcpy", "index", "rindex", NULL};
    static const char *const kinds[] = {"_sse2", "_sse4", "_ssse3", "_avx", "_evex", "_erms"};
    struct source_line l;
    source_line(w->s->source, pc, &l);
    bool kind = errors_is_libc(l.module);
    o->strings = kind && !l.outer;
    o->seeks_end = false;
    if (!l.outer)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        kind |= strstr(l.outer, kinds[i]) != NULL;
    const char *name = l.outer + strspn(l.outer, "_");
    o->seeks_end = kind && errors_begins(name, ended);
    o->strings = o->seeks_end || (kind && errors_begins(name, counted));
}

static const struct ops *ops_for(struct watcher *w, const struct code_block *b)
{
    struct ops *o = w->ops[b->number];
    if (o)
        return o;
    o = malloc(sizeof *o);
    if (!o)
        return NULL;
    w->ops[b->number] = o;
    if (ops_compile(b, &(struct ops_sites){objects_site, &w->objects}, o) || w->objects.failed)
        return NULL;
    find_strings(w, b->pc, o);
    return o;
}

/* A thread that nobody made is that of another program: execve() has replaced the memory. */
static void first_step(struct watcher *w, uint32_t thread)
{
    w->begun[thread] = true;
    if (!w->any) {
        w->any = true;
        return;
    }
    shadow_deinit(&w->m.shadow);
    if (shadow_init(&w->m.shadow))
        w->failed = true;
    w->brk = 0;
}

static int take_step(struct watcher *w, const struct pass_step *st)
{
    uint32_t thread = st->step->thread;
    if (!w->begun[thread])
        first_step(w, thread);
    uint64_t next = st->insn + st->step->insns;
    const struct ops *ops = ops_for(w, st->block);
    if (!ops)
        return -1;
    leave(w, thread, st->insn); /* where an exception or longjmp() left it */
    w->m.at = (struct machine_at){st->block, 0, st->insn, st->count, thread, st->frame};
    for (; w->next < w->h->calls && w->h->call[w->next].first < next; w->next++) {
        const struct heap_call *c = &w->h->call[w->next];
        w->m.at.i = (unsigned)(c->first - st->insn);
        w->open[thread][heap_pool(&w->h->functions.list[c->function])] = (uint32_t)w->next;
        enter(w, &w->m.at, (uint32_t)w->next);
    }
    bool inside = false;
    for (unsigned i = 0; i < HEAP_POOLS; i++)
        inside |= w->open[thread][i] != HEAP_NONE;
    if (!inside) {
        machine_run(&w->m, ops, st->values, st->step->insns);
    } else {
        machine_run_inside(&w->m, ops, st->values, st->step->insns);
        leave(w, thread, next);
    }
    w->m.at.i = st->step->insns ? st->step->insns - 1u : 0; /* a call's note comes behind it */
    return w->failed || w->m.shadow.failed || w->objects.failed ? -1 : 0;
}

static int watcher_init(struct watcher *w, struct err *err)
{
    uint32_t threads = trace_threads(w->s->trace) + 1;
    w->m.arg = w;
    w->m.touched = errors_touched;
    w->m.used = errors_used;
    w->m.thread = calloc(threads, sizeof *w->m.thread);
    w->m.block = calloc(w->h->blocks + 1, sizeof *w->m.block);
    w->ops = calloc(code_count(trace_code(w->s->trace)) + 1, sizeof *w->ops);
    w->open = malloc(threads * sizeof *w->open);
    w->saved = calloc(threads, sizeof *w->saved);
    w->begun = calloc(threads, sizeof *w->begun);
    w->out = calloc(1, sizeof *w->out);
    w->m.object = objects_tag;
    w->m.objects = &w->objects;
    if (shadow_init(&w->m.shadow) || objects_init(&w->objects, w->s, &w->m, w->h->blocks + 1) ||
        !w->m.thread || !w->m.block || !w->ops || !w->open || !w->saved || !w->begun || !w->out)
        return err_set(err, "no memory");
    memset(w->open, 0xff, threads * sizeof *w->open);
    return 0;
}

static void watcher_deinit(struct watcher *w)
{
    for (uint32_t i = 0; w->ops && i < code_count(trace_code(w->s->trace)); i++)
        if (w->ops[i]) {
            ops_deinit(w->ops[i]);
            free(w->ops[i]);
        }
    for (uint32_t i = 0; w->saved && i < trace_threads(w->s->trace); i++)
        free(w->saved[i].list);
    machine_deinit(&w->m);
    objects_deinit(&w->objects);
    free(w->m.thread);
    free(w->m.block);
    free(w->ops);
    free(w->open);
    free(w->saved);
    free(w->begun);
    free(w->told.slot);
}

/* Variables about which it is not sure that they were meant. */
static void forget_doubtful(struct watcher *w)
{
    struct heap_errors *e = w->out;
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++)
        if (!e->list[i].variable ||
            objects_counts(&w->objects, e->list[i].variable_pc, e->list[i].low))
            e->list[kept++] = e->list[i];
    e->count = kept;
}

const struct heap_errors *heap_errors(struct heap *h, struct study *s, struct err *err)
{
    struct watcher w = {.h = h, .s = s};
    struct pass p;
    struct pass_step st;
    int more = -1;
    if (h->errors)
        return h->errors;
    if (!watcher_init(&w, err) && !pass_init(&p, s->trace, err)) {
        p.note = errors_note;
        p.arg = &w;
        while ((more = pass_next(&p, &st, err)) > 0)
            if (take_step(&w, &st)) {
                more = err_set(err, "no memory");
                break;
            }
        pass_deinit(&p);
    }
    bool stopped = more < 0 && err->code == TRACE_STOPPED && w.out; /* some are known */
    if (!more || stopped)
        forget_doubtful(&w);
    watcher_deinit(&w);
    if (more && !stopped) {
        heap_errors_free(w.out);
        return NULL;
    }
    h->errors = w.out;
    if (!stopped)
        heap_keep(h, s);
    return h->errors;
}

void heap_errors_free(struct heap_errors *e)
{
    if (e)
        free(e->list);
    free(e);
}
