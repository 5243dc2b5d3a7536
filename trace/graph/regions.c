/* regions.c - what controls what, forwards. SPDX-License-Identifier: MIT */
#include "trace/graph/regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct region {
    uint64_t serial; /* of the frame; 0: free */
    struct frame *frame;
    const struct cfg_function *function;
    uint64_t *branch; /* by block */
};

struct regions {
    struct control *control;
    TABLE(struct region) region;
};

struct regions *regions_new(struct control *control)
{
    struct regions *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->control = control;
    if (table_reserve(&r->region) == 0)
        return r;
    free(r);
    return NULL;
}

static void drop(void *arg)
{
    struct region *x = arg;
    frame_unref(x->frame);
    free(x->branch);
}

void regions_free(struct regions *r)
{
    for (size_t i = 0; r && i < r->region.room; i++)
        drop(&r->region.slot[i]);
    if (r)
        free(r->region.slot);
    free(r);
}

/* Frames that nobody else knows have ended. */
static bool has_ended(const void *region)
{
    return ((const struct region *)region)->frame->refs == 1;
}

static struct region *region_of(struct regions *r, struct frame *frame,
                                const struct cfg_function *f)
{
    struct region *x = table_find(&r->region, frame->serial);
    if (x->serial)
        return x;
    if (table_reserve_words(&r->region, 1, has_ended, drop))
        return NULL;
    x = table_find(&r->region, frame->serial);
    size_t bytes = sizeof *x->branch * (cfg_block_count(f) + 1u);
    x->branch = malloc(bytes);
    if (!x->branch)
        return NULL;
    memset(x->branch, 0xff, bytes);
    x->function = f;
    x->frame = frame_ref(frame);
    x->serial = frame->serial;
    r->region.used++;
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
    const struct region *x = table_find(&r->region, frame->serial);
    int32_t b = x->frame ? cfg_block_of(x->function, pc) : CFG_NONE;
    return b < 0 ? REGIONS_NONE : x->branch[b];
}
