/* regions.c - what controls what, forwards. SPDX-License-Identifier: MIT */
#include "trace/graph/regions.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1024 };

struct region {
    struct frame *frame; /* NULL: free */
    const struct cfg_function *function;
    uint64_t *branch; /* by block */
};

struct regions {
    struct control *control;
    struct region *region; /* by serial of the frame, open addressing */
    size_t room, used;
};

struct regions *regions_new(struct control *control)
{
    struct regions *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->control = control;
    r->room = ROOM;
    r->region = calloc(r->room, sizeof *r->region);
    if (r->region)
        return r;
    free(r);
    return NULL;
}

void regions_free(struct regions *r)
{
    for (size_t i = 0; r && i < r->room; i++) {
        frame_unref(r->region[i].frame);
        free(r->region[i].branch);
    }
    if (r)
        free(r->region);
    free(r);
}

static struct region *find(const struct regions *r, uint64_t serial)
{
    size_t i = (serial * 0x9e3779b97f4a7c15ull >> 24) & (r->room - 1);
    while (r->region[i].frame && r->region[i].frame->serial != serial)
        i = (i + 1) & (r->room - 1);
    return &r->region[i];
}

/* Frames that nobody else knows have ended; if that does not make room there is more of it. */
static bool make_room(struct regions *r)
{
    struct region *old = r->region;
    size_t room = r->room, live = 0;
    for (size_t i = 0; i < room; i++)
        live += old[i].frame && old[i].frame->refs > 1;
    r->room = 4 * live > room ? 2 * room : room;
    r->region = calloc(r->room, sizeof *r->region);
    if (!r->region) {
        r->region = old;
        r->room = room;
        return false;
    }
    r->used = 0;
    for (size_t i = 0; i < room; i++) {
        if (!old[i].frame)
            continue;
        if (old[i].frame->refs > 1) {
            *find(r, old[i].frame->serial) = old[i];
            r->used++;
        } else {
            frame_unref(old[i].frame);
            free(old[i].branch);
        }
    }
    free(old);
    return true;
}

static struct region *region_of(struct regions *r, struct frame *frame,
                                const struct cfg_function *f)
{
    struct region *x = find(r, frame->serial);
    if (x->frame)
        return x;
    if (2 * r->used >= r->room && !make_room(r))
        return NULL;
    x = find(r, frame->serial);
    size_t bytes = sizeof *x->branch * (cfg_block_count(f) + 1u);
    x->branch = malloc(bytes);
    if (!x->branch)
        return NULL;
    memset(x->branch, 0xff, bytes);
    x->function = f;
    x->frame = frame_ref(frame);
    r->used++;
    return x;
}

int regions_went(struct regions *r, struct frame *frame, uint64_t insn, gaddr pc, gaddr next,
                 struct err *err)
{
    bool frame_pointer;
    const struct cfg_function *f = control_function(r->control, frame->entry, &frame_pointer, err);
    if (!f)
        return -1;
    int32_t b = cfg_block_of(f, pc), x = cfg_block_of(f, next);
    if (b < 0 || x < 0)
        return 0;
    const struct cfg_block *from = cfg_block(f, b);
    if (from->last != pc || !cfg_is_branch(from) || x == from->ipdom)
        return 0;
    struct region *region = region_of(r, frame, f);
    if (!region)
        return err_set(err, "no memory");
    for (int32_t s = x; s != CFG_EXIT && s != from->ipdom; s = cfg_block(f, s)->ipdom)
        region->branch[s] = insn;
    return 0;
}

uint64_t regions_branch(const struct regions *r, const struct frame *frame, gaddr pc)
{
    const struct region *x = find(r, frame->serial);
    int32_t b = x->frame ? cfg_block_of(x->function, pc) : CFG_NONE;
    return b < 0 ? REGIONS_NONE : x->branch[b];
}
