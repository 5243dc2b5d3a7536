/* times.c - all executions of what a row of a story says flowed. SPDX-License-Identifier: MIT */
#include "slicer/story/times.h"

#include <stdlib.h>
#include <string.h>

static bool is_such(const struct slice_dependence *d, const struct slice_dependence *use)
{
    return d->kind == use->kind && d->memory == use->memory && d->on_pc == use->on_pc &&
           (d->memory || d->addr == use->addr) && d->bytes >= use->bytes;
}

int times_list(const struct flows *f, const struct slice_dependence *use, struct story_times *out)
{
    *out = (struct story_times){.list = NULL};
    if (!use->kind || use->kind == SLICE_CONTROL || use->node == UINT64_MAX)
        return 0;
    out->list = malloc(sizeof *out->list * TIMES_MOST);
    if (!out->list)
        return -1;
    for (uint32_t node = f->nodes; node-- > 0;) {
        uint32_t count;
        const struct flows_edge *x = flows_of(f, node, &count);
        for (uint32_t i = 0; f->node[node].pc == use->node_pc && i < count; i++) {
            struct slice_dependence d = flows_dependence(f, node, &x[i]);
            if (!is_such(&d, use))
                continue;
            if (out->listed < TIMES_MOST)
                out->list[out->listed++] = d.node == use->node ? *use : d;
            out->count++;
        }
    }
    for (size_t i = 0; i < out->listed / 2; i++) {
        struct slice_dependence swap = out->list[i];
        out->list[i] = out->list[out->listed - 1 - i];
        out->list[out->listed - 1 - i] = swap;
    }
    return 0;
}

bool times_values(const struct story_times *t, const struct values *v, struct times_values *out)
{
    long double least = 0, most = 0;
    bool numbers = true;
    *out = (struct times_values){.first = NULL};
    for (size_t i = 0; i < t->listed; i++) {
        const char *text = values_flowed(v, &t->list[i]);
        char *end;
        if (!text)
            continue;
        long double value = strtold(text, &end);
        /* an enumerator may be called INFINITY */
        numbers = numbers && end != text && strchr("-0123456789", text[0]);
        if (!out->first || value < least) {
            least = value;
            out->smallest = text;
        }
        if (!out->first || value > most) {
            most = value;
            out->largest = text;
        }
        out->first = out->first ? out->first : text;
        out->last = text;
    }
    if (!numbers)
        out->smallest = out->largest = NULL;
    return out->first;
}
