/* control.c - control dependence, while a trace is walked backwards. SPDX-License-Identifier: MIT
 */
#include "trace/graph/control.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 65536 };

/* A frame with nodes that wait. */
struct waiting {
    uint64_t serial; /* 0: free slot */
    const struct cfg_function *function;
    uint64_t maker;
    uint32_t root;   /* thread + 1 of a root frame; 0: another */
    uint32_t count;  /* blocks set */
    bool outside;    /* somebody waits whose pc is in no block */
    uint64_t *block; /* a bit for each */
};

struct function {
    gaddr entry;
    const struct cfg_function *cfg;
    bool frame_pointer;
};

struct control {
    struct cfg *cfg;
    struct waiting *slot;
    size_t room, used;
    struct waiting *latest; /* that was found */
    struct pair {
        uint64_t insn, serial; /* insn plus one; 0: free */
    } * maker;
    size_t maker_room, maker_used;
    uint64_t *root; /* by thread: serial of its root frame, if somebody waits there */
    struct function *function;
    size_t function_room, functions;
};

struct control *control_new(struct cfg *cfg)
{
    struct control *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->cfg = cfg;
    c->room = c->maker_room = c->function_room = 1024;
    c->slot = calloc(c->room, sizeof *c->slot);
    c->maker = calloc(c->maker_room, sizeof *c->maker);
    c->root = calloc(THREADS, sizeof *c->root);
    c->function = calloc(c->function_room, sizeof *c->function);
    if (!c->slot || !c->maker || !c->root || !c->function) {
        control_free(c);
        return NULL;
    }
    return c;
}

void control_free(struct control *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->slot && i < c->room; i++)
        free(c->slot[i].block);
    free(c->slot);
    free(c->maker);
    free(c->root);
    free(c->function);
    free(c);
}

static size_t spread(uint64_t key, size_t room)
{
    return (key * 0x9e3779b97f4a7c15ull >> 24) & (room - 1);
}

/* ---- functions ---- */

static struct function *find_function(const struct control *c, gaddr entry)
{
    size_t i = spread(entry, c->function_room);
    while (c->function[i].cfg && c->function[i].entry != entry)
        i = (i + 1) & (c->function_room - 1);
    return &c->function[i];
}

static bool grow_functions(struct control *c)
{
    struct function *old = c->function;
    size_t room = c->function_room;
    struct function *list = calloc(room * 2, sizeof *list);
    if (!list)
        return false;
    c->function = list;
    c->function_room = room * 2;
    for (size_t i = 0; i < room; i++)
        if (old[i].cfg)
            *find_function(c, old[i].entry) = old[i];
    free(old);
    return true;
}

const struct cfg_function *control_function(struct control *c, gaddr entry, bool *frame_pointer,
                                            struct err *err)
{
    struct function *f = find_function(c, entry);
    if (!f->cfg) {
        if (2 * c->functions >= c->function_room && !grow_functions(c)) {
            err_set(err, "no memory");
            return NULL;
        }
        f = find_function(c, entry);
        f->entry = entry;
        f->cfg = cfg_function(c->cfg, entry, err);
        if (!f->cfg)
            return NULL;
        f->frame_pointer = cfg_frame_pointer(f->cfg);
        c->functions++;
    }
    *frame_pointer = f->frame_pointer;
    return f->cfg;
}

/* ---- frames in which somebody waits ---- */

static struct waiting *find(struct control *c, uint64_t serial)
{
    if (c->latest && c->latest->serial == serial)
        return c->latest;
    size_t i = spread(serial, c->room);
    while (c->slot[i].serial && c->slot[i].serial != serial)
        i = (i + 1) & (c->room - 1);
    return c->latest = &c->slot[i];
}

/* Larger, or at least without those in which nobody waits any more. */
static bool rehash(struct control *c)
{
    struct waiting *old = c->slot;
    size_t room = c->room, live = 0;
    for (size_t i = 0; i < room; i++)
        live += old[i].count || old[i].outside;
    size_t want = 1024;
    while (want < 4 * live)
        want *= 2;
    struct waiting *list = calloc(want, sizeof *list);
    if (!list)
        return false;
    c->slot = list;
    c->latest = NULL;
    c->room = want;
    c->used = 0;
    for (size_t i = 0; i < room; i++) {
        if (old[i].serial && (old[i].count || old[i].outside)) {
            *find(c, old[i].serial) = old[i];
            c->used++;
        } else {
            free(old[i].block);
        }
    }
    free(old);
    return true;
}

static struct pair *find_maker(const struct control *c, uint64_t insn, uint64_t serial)
{
    size_t i = spread(insn, c->maker_room);
    while (c->maker[i].insn && (c->maker[i].insn != insn + 1 || c->maker[i].serial != serial))
        i = (i + 1) & (c->maker_room - 1);
    return &c->maker[i];
}

static bool add_maker(struct control *c, uint64_t insn, uint64_t serial)
{
    if (2 * c->maker_used >= c->maker_room) {
        struct pair *old = c->maker;
        size_t room = c->maker_room, live = 0, want = 1024;
        for (size_t i = 0; i < room; i++)
            live += old[i].insn && old[i].serial;
        while (want < 4 * live)
            want *= 2;
        struct pair *list = calloc(want, sizeof *list);
        if (!list)
            return false;
        c->maker = list;
        c->maker_room = want;
        c->maker_used = live;
        for (size_t i = 0; i < room; i++)
            if (old[i].insn && old[i].serial)
                *find_maker(c, old[i].insn - 1, old[i].serial) = old[i];
        free(old);
    }
    struct pair *p = find_maker(c, insn, serial);
    if (!p->insn) {
        *p = (struct pair){insn + 1, serial};
        c->maker_used++;
    }
    return true;
}

static struct waiting *make(struct control *c, const struct frame *frame, uint32_t thread,
                            struct err *err)
{
    bool frame_pointer;
    struct waiting *w = find(c, frame->serial);
    if (w->serial)
        return w;
    if (2 * c->used >= c->room && !rehash(c)) {
        err_set(err, "no memory");
        return NULL;
    }
    const struct cfg_function *f = control_function(c, frame->entry, &frame_pointer, err);
    uint64_t *block = f ? calloc(cfg_block_count(f) / 64 + 1, 8) : NULL;
    if (!block) {
        if (f)
            err_set(err, "no memory");
        return NULL;
    }
    w = find(c, frame->serial);
    *w = (struct waiting){.serial = frame->serial,
                          .function = f,
                          .maker = frame->maker,
                          .root = frame->kind == FRAME_ROOT ? thread + 1 : 0,
                          .block = block};
    c->used++;
    return w;
}

int control_wait(struct control *c, const struct frame *frame, uint32_t thread, int32_t b,
                 struct err *err)
{
    struct waiting *w = make(c, frame, thread, err);
    if (!w)
        return -1;
    bool was = w->count || w->outside;
    if (b == CFG_NONE) {
        w->outside = true;
    } else if (!(w->block[b / 64] >> (b % 64) & 1)) {
        w->block[b / 64] |= 1ull << (b % 64);
        w->count++;
    }
    if (was)
        return 0;
    if (w->root && thread < THREADS)
        c->root[thread] = frame->serial;
    if (w->maker != FRAME_NO_MAKER && !add_maker(c, w->maker, frame->serial))
        return err_set(err, "no memory");
    return 0;
}

bool control_waits(struct control *c, const struct frame *frame)
{
    const struct waiting *w = find(c, frame->serial);
    return w->serial && w->count;
}

bool control_branch(struct control *c, const struct frame *frame, int32_t from, int32_t to)
{
    struct waiting *w = find(c, frame->serial);
    if (!w->serial || !w->count)
        return false;
    int32_t end = cfg_block(w->function, from)->ipdom;
    bool any = false;
    for (int32_t s = to; s != CFG_EXIT && s != end; s = cfg_block(w->function, s)->ipdom) {
        uint64_t bit = 1ull << (s % 64);
        if (w->block[s / 64] & bit) {
            w->block[s / 64] &= ~bit;
            w->count--;
            any = true;
        }
    }
    return any;
}

static bool release(struct control *c, uint64_t serial)
{
    struct waiting *w = find(c, serial);
    if (!w->serial)
        return false;
    bool any = w->count || w->outside;
    w->count = 0;
    w->outside = false;
    memset(w->block, 0, 8 * (cfg_block_count(w->function) / 64 + 1));
    return any;
}

bool control_maker(struct control *c, uint64_t insn)
{
    bool any = false;
    for (size_t i = spread(insn, c->maker_room); c->maker[i].insn;
         i = (i + 1) & (c->maker_room - 1))
        if (c->maker[i].insn == insn + 1 && c->maker[i].serial) {
            any |= release(c, c->maker[i].serial);
            c->maker[i].serial = 0;
        }
    return any;
}

bool control_root(struct control *c, uint32_t thread)
{
    uint64_t serial = thread < THREADS ? c->root[thread] : 0;
    if (!serial)
        return false;
    c->root[thread] = 0;
    return release(c, serial);
}
