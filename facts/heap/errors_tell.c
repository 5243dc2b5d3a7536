/* errors_tell.c - which of what the machine finds odd is an error. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/array.h"
#include "facts/heap/errors_int.h"
#include "trace/frames.h"

enum { NEAR = 256 }; /* bytes beside a block */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool errors_begins(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    return false;
}

bool errors_is_loader(const char *module)
{
    static const char *const names[] = {"ld-linux", "ld-2", "ld.so", NULL};
    return module && errors_begins(base_name(module), names);
}

bool errors_is_libc(const char *module)
{
    static const char *const names[] = {"libc.so", "libc-2", NULL};
    return errors_is_loader(module) || (module && errors_begins(base_name(module), names));
}

/* Is everything that runs here the C library's, or known for walking over freed memory? The thread
 * ends, or begins. */
static bool is_libc_alone(struct watcher *w, gaddr pc, const struct frame *f)
{
    static const char *const names[] = {"__libc_thread_freeres", "__malloc_arena_thread_freeres",
                                        "tcache_thread_shutdown", "__libc_freeres", NULL};
    struct source_line l;
    bool alone = true;
    for (;; f = f->parent) {
        source_line(w->s->source, pc, &l);
        if (l.outer && errors_begins(l.outer, names))
            return true;
        alone = alone && errors_is_libc(l.module);
        if (!f || !f->call_pc)
            return alone;
        pc = f->call_pc;
    }
}

/* The code that is to blame: the C library's works for its caller. */
static gaddr blamed(struct watcher *w, gaddr pc, const struct frame *f)
{
    struct source_line l;
    for (gaddr at = pc;; at = f->call_pc, f = f->parent) {
        source_line(w->s->source, at, &l);
        if (!errors_is_libc(l.module))
            return at;
        if (!f || !f->call_pc)
            return pc;
    }
}

/* `of`: what it is about, as far as one place is told once for it. */
static struct heap_error *tell(struct watcher *w, const struct machine_at *at,
                               enum heap_error_kind kind, uint32_t block, uint64_t of)
{
    gaddr pc = at->b->insn[at->i].in.pc;
    uint64_t place = (blamed(w, pc, at->frame) << 4 | (unsigned)kind) + 1;
    if (is_libc_alone(w, pc, at->frame))
        return NULL;
    if (table_reserve_pair(&w->told)) {
        w->failed = true;
        return NULL;
    }
    struct told *t = table_find_pair(&w->told, place, of);
    if (t->place) {
        w->latest = t->error;
        w->out->list[t->error].times++;
        w->out->list[t->error].last = at->insn + at->i;
        return NULL;
    }
    struct heap_error e = {.kind = (uint8_t)kind,
                           .thread = at->thread,
                           .insn = at->insn + at->i,
                           .last = at->insn + at->i,
                           .count = at->count,
                           .pc = pc,
                           .stack = heap_stack(w->h, at->frame, 0),
                           .block = block,
                           .other = HEAP_NONE,
                           .call = HEAP_NONE,
                           .times = 1};
    if (e.stack == HEAP_NONE || array_push(&w->out->list, &w->out->count, &w->out->room, e)) {
        w->failed = true;
        return NULL;
    }
    *t = (struct told){place, of, w->out->count - 1};
    w->told.used++;
    w->latest = w->out->count - 1;
    return &w->out->list[w->out->count - 1];
}

struct heap_error *errors_tell(struct watcher *w, const struct machine_at *at,
                               enum heap_error_kind kind, uint32_t block)
{
    return tell(w, at, kind, block,
                block == HEAP_NONE ? 0 : w->h->call[w->h->block[block].allocated].stack + 1ull);
}

/* ---- what the machine finds ---- */

/* The error that was met has these bytes, too, if it is about the same block or variable. */
static void widen(struct watcher *w, const struct machine_access *a, uint32_t block, gaddr variable)
{
    struct heap_error *met = w->latest == SIZE_MAX ? NULL : &w->out->list[w->latest];
    if (!met || met->block != block || met->variable != variable)
        return;
    met->low = a->addr < met->low ? a->addr : met->low;
    met->high = a->addr + a->bytes > met->high ? a->addr + a->bytes : met->high;
}

static void tell_access(struct watcher *w, const struct machine_at *at,
                        const struct machine_access *a, enum heap_error_kind kind, uint32_t block,
                        uint32_t other)
{
    w->latest = SIZE_MAX;
    struct heap_error *e = errors_tell(w, at, kind, block);
    if (e) {
        e->addr = e->low = e->high = a->addr;
        e->bytes = a->bytes;
        e->write = a->write;
        e->other = other;
    }
    widen(w, a, block, 0);
}

static bool is_near(const struct machine_block *b, const struct machine_access *a)
{
    return a->addr < b->end ? b->start - a->addr <= NEAR || a->addr >= b->start
                            : a->addr - b->end < NEAR;
}

static bool is_live(const struct frame *f, gaddr slot)
{
    while (f && f->slot != slot)
        f = f->parent;
    return f;
}

/* In code that was optimized, a pointer to one variable of a frame may lead to another one of the
 * same frame, in the function itself; but never to its return address and above. */
static bool is_meant(const struct objects_site *s, const struct object *o,
                     const struct machine_at *at, const struct machine_access *a)
{
    if (!s->local)
        return true;
    if (!is_live(at->frame, o->slot))
        return false;
    return !s->tuned || at->frame->slot != o->slot || a->addr + a->bytes > o->slot;
}

static void touched_variable(struct watcher *w, const struct machine_at *at,
                             const struct machine_access *a)
{
    const uint64_t sites = 1ull << 32;
    const struct machine_block *b = &w->m.block[a->tag];
    const struct object *o = objects_of(&w->objects, a->tag);
    const struct objects_site *s = &w->objects.site[o->site];
    if (!is_near(b, a) || (a->addr >= b->start && a->addr + a->bytes <= b->end) ||
        !is_meant(s, o, at, a))
        return;
    gaddr variable = s->whole ? o->slot : b->start;
    w->latest = SIZE_MAX;
    struct heap_error *e = tell(w, at, HEAP_OVERFLOW, HEAP_NONE, sites | o->site);
    if (e) {
        e->addr = e->low = e->high = a->addr;
        e->bytes = a->bytes;
        e->write = a->write;
        e->variable = variable;
        e->variable_bytes = s->whole ? 0 : b->end - b->start;
        e->variable_pc = s->pc;
        e->variable_cfa = s->local ? o->slot + 8 : 0;
    }
    widen(w, a, HEAP_NONE, variable);
}

void errors_touched(void *arg, const struct machine_at *at, const struct machine_access *a)
{
    struct watcher *w = arg;
    const struct machine_block *b = a->tag ? &w->m.block[a->tag] : NULL;
    uint64_t insn = at->insn + at->i;
    if (b && b->site) {
        touched_variable(w, at, a);
        return;
    }
    if (b && b->freed && a->addr >= b->start && a->addr < b->end) {
        tell_access(w, at, a, HEAP_USE_AFTER_FREE, a->tag - 1, HEAP_NONE);
        return;
    }
    if (b && !b->freed) {
        if (is_near(b, a))
            tell_access(w, at, a, HEAP_OVERFLOW, a->tag - 1,
                        heap_find(w->h, a->addr < b->start ? a->addr : a->addr + a->bytes - 1, insn,
                                  false));
        return;
    }
    for (uint64_t i = 0; i < a->bytes; i++)
        if (shadow_is_freed(&w->m.shadow, a->addr + i, 1)) {
            uint32_t block = heap_find(w->h, a->addr + i, insn, true);
            if (block != HEAP_NONE && w->h->block[block].to < insn)
                tell_access(w, at, a, HEAP_USE_AFTER_FREE, block, HEAP_NONE);
            return;
        }
}

/* The frame that has the bytes, if it is there still. */
static void find_owner(const struct machine_at *at, struct heap_error *e)
{
    gaddr pc = e->pc;
    for (const struct frame *f = at->frame; f && f->slot; pc = f->call_pc, f = f->parent) {
        gaddr cfa = f->slot + sizeof(gaddr);
        if (e->addr >= cfa)
            continue;
        e->owner_pc = pc;
        e->owner_cfa = cfa;
        return;
    }
}

void errors_used(void *arg, const struct machine_at *at, enum machine_use use,
                 const struct machine_origin *origin)
{
    static const uint8_t kinds[] = {[MACHINE_BRANCH] = HEAP_UNDEFINED_BRANCH,
                                    [MACHINE_ADDRESS] = HEAP_UNDEFINED_ADDRESS,
                                    [MACHINE_CALL] = HEAP_UNDEFINED_CALL};
    struct watcher *w = arg;
    const struct ops *ops = w->ops[at->b->number];
    if (ops && ops->strings)
        return;
    struct heap_error *e = errors_tell(w, at, (enum heap_error_kind)kinds[use],
                                       heap_find(w->h, origin->addr, origin->insn, false));
    if (!e)
        return;
    e->addr = origin->addr;
    e->bytes = origin->bytes;
    e->from_pc = origin->pc;
    e->from_insn = origin->insn;
    if (e->block == HEAP_NONE)
        find_owner(at, e);
}
