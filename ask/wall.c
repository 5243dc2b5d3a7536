/* wall.c - wall time, as far as a recording has it. SPDX-License-Identifier: MIT */
#include "ask/wall.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "pinball/records.h"

struct stamp {
    uint64_t number, ns;
    uint64_t count; /* its thread's ticks, if the record says; else UINT64_MAX */
};

struct knot {
    uint64_t ticks, ns;
};

struct wall {
    struct stamp *stamp;
    size_t stamps, next; /* next: the first that belongs to no turn yet */
    struct knot *knot;
    size_t knots;
};

static int add_stamps(struct wall *w, const struct record *r, const void *end, uint64_t *number,
                      struct err *err)
{
    for (; r; r = records_next(r, end), ++*number) {
        struct stamp s = {.number = *number, .ns = records_time(r), .count = UINT64_MAX};
        if (r->kind == RECORD_CHECK || r->kind == RECORD_END)
            s.count = ((const struct record_check *)r)->at.count;
        if (s.ns && array_append(&w->stamp, &w->stamps, s))
            return err_set(err, "no memory");
    }
    return 0;
}

static int read_log(struct wall *w, struct pinball *pinball, struct err *err)
{
    uint64_t bytes, records, number = 0;
    int bad = 0;
    for (uint64_t i = 0; !bad && i < pinball_chunks(pinball); i++) {
        pinball_chunk_info(pinball, i, &bytes, &records);
        uint8_t *chunk = malloc(bytes + 8);
        bad = chunk ? pinball_read_chunk(pinball, i, chunk, bytes, err) : err_set(err, "no memory");
        if (!bad)
            bad = add_stamps(w, records_first(chunk, bytes), chunk + bytes, &number, err);
        free(chunk);
    }
    return bad ? -1 : 0;
}

struct wall *wall_new(struct pinball *pinball, struct err *err)
{
    struct wall *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(err, "no memory");
        return NULL;
    }
    if (!read_log(w, pinball, err))
        return w;
    wall_free(w);
    return NULL;
}

void wall_free(struct wall *w)
{
    if (!w)
        return;
    free(w->stamp);
    free(w->knot);
    free(w);
}

/* A turn's first record is the switch to it. Others say where they are, or are not used. */
int wall_add(struct wall *w, const struct wall_turn *turn, struct err *err)
{
    for (; w->next < w->stamps && w->stamp[w->next].number < turn->last; w->next++) {
        const struct stamp *s = &w->stamp[w->next];
        struct knot k = {.ticks = turn->ticks, .ns = s->ns};
        if (s->count != UINT64_MAX && s->count >= turn->count)
            k.ticks += s->count - turn->count;
        else if (s->number != turn->first && w->knots)
            continue;
        if (array_append(&w->knot, &w->knots, k))
            return err_set(err, "no memory");
    }
    return 0;
}

bool wall_at(const struct wall *w, uint64_t ticks, uint64_t *ns)
{
    const size_t behind = search_upto(w->knot, w->knots, ticks, ticks);
    if (!w->knots)
        return false;
    const struct knot *a = &w->knot[behind ? behind - 1 : 0], *b = a + 1;
    *ns = a->ns - w->knot[0].ns;
    if (b < w->knot + w->knots && b->ticks > a->ticks && ticks > a->ticks)
        *ns += (uint64_t)((double)(b->ns - a->ns) * (double)(ticks - a->ticks) /
                          (double)(b->ticks - a->ticks));
    return true;
}
