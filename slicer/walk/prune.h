/* prune.h - locations that carry no dependence because the user said so.
 *
 * SPDX-License-Identifier: MIT
 *
 * All passes that look at what an instruction uses ask here what of that is left: the walk
 * backwards, the one forwards, and the one that finds edges. docs/slicing.md, "Pruning", says what
 * it means. What is made of a slice's options does not change, so threads may share it.
 */
#ifndef SLICER_WALK_PRUNE_H
#define SLICER_WALK_PRUNE_H

#include "slicer/slice.h"
#include "trace/frames.h"

struct prune_range {
    uint64_t start, end;
};

struct prune {
    bool any;
    struct loc_set reg;         /* pruned wherever it is used */
    struct prune_range *memory; /* likewise; sorted, none touches another */
    size_t memories;
    struct slice_prune *local; /* by code that uses it; sorted by `from` */
    gaddr *reach;              /* how far the code of these and those before goes */
    size_t locals;
};

/* The instruction that uses something. */
struct prune_user {
    gaddr pc;
    gaddr cfa; /* of its frame; 0: not known */
};

int prune_init(struct prune *p, const struct slice_options *options, struct err *err);
void prune_deinit(struct prune *p); /* what prune_init() has failed on, too */

static inline struct prune_user prune_user(gaddr pc, const struct frame *frame)
{
    return (struct prune_user){pc, frame->kind == FRAME_CALL ? frame->slot + 8 : 0};
}

/* The next piece that is left of what is used, memory or locations in [*at, end): *count from *at
 * on. False: nothing is. To be called again with *at + *count. */
bool prune_look(const struct prune *p, const struct prune_user *by, bool memory, uint64_t *at,
                uint64_t end, uint64_t *count);

static inline bool prune_next(const struct prune *p, const struct prune_user *by, bool memory,
                              uint64_t *at, uint64_t end, uint64_t *count)
{
    if (p->any)
        return prune_look(p, by, memory, at, end, count);
    *count = end - *at;
    return *at < end;
}

#endif
