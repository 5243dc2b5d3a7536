/* marks.c - what facts/ says about the dependences of a slice. SPDX-License-Identifier: MIT */
#include "slicer/report/marks.h"

#include "pinball/pinball.h"

int marks_race(struct study *s, const struct slice_dependence *d, enum race *out, struct err *err)
{
    const struct race_flow flow = {.write = {d->on_thread, d->on, d->on_pc, d->on_cfa},
                                   .read = {d->node_thread, d->node, d->node_pc, d->node_cfa},
                                   .addr = d->addr,
                                   .bytes = d->bytes};
    *out = RACE_NONE;
    if (pinball_end_get(s->pinball, "gaps"))
        return 0; /* what kept them apart may be left out */
    if (d->kind == SLICE_CONTROL || !d->memory || d->node == UINT64_MAX)
        return 0;
    return race_find(s, &flow, out, err);
}
