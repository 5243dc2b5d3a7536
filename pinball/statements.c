/* statements.c - the statements that a recording was made of. SPDX-License-Identifier: MIT */
#include "pinball/statements.h"

#include <stdlib.h>

#include "base/array.h"
#include "pinball/format.h"
#include "pinball/pinball.h"
#include "pinball/records.h"

static int take(struct statements *s, const struct record_kept *r, const struct pinball *pinball,
                struct err *err)
{
    const struct kept_statement *list = (const void *)(r + 1);
    const uint64_t room = (r->r.bytes - sizeof *r) / sizeof *list;
    if (!pinball_may_gather(pinball, (s->count + room) * sizeof *list))
        return err_set(err, "%s: lists more statements than the size of its log allows",
                       pinball_path(pinball));
    for (uint64_t i = 0; i < r->statements && i < room; i++)
        if (array_push(&s->list, &s->count, &s->room, list[i]))
            return err_set(err, "no memory");
    return 0;
}

int statements_read(struct pinball *pinball, struct statements *out, struct err *err)
{
    uint64_t bytes, records;
    int bad = 0;
    *out = (struct statements){0};
    if (!pinball_head_get(pinball, "relog_of"))
        return 0;
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    if (!data)
        return err_set(err, "no memory");
    for (uint64_t i = 0; i < pinball_chunks(pinball) && !bad; i++) {
        pinball_chunk_info(pinball, i, &bytes, &records);
        bad = pinball_read_chunk(pinball, i, data, CHUNK_MAX_BYTES, err);
        for (const struct record *r = bad ? NULL : records_first(data, bytes); r && !bad;
             r = records_next(r, data + bytes))
            if (r->kind == RECORD_KEPT && r->bytes >= sizeof(struct record_kept))
                bad = take(out, (const struct record_kept *)r, pinball, err);
    }
    free(data);
    if (bad)
        statements_deinit(out);
    return bad ? -1 : 0;
}

/* They stand before all statements. */
static bool ways_of(const struct record *r, way_fn *fn, void *arg)
{
    const struct record_ways *w = (const void *)r;
    const struct code_way *list = (const void *)(w + 1);
    if (r->kind == RECORD_KEPT || r->kind == RECORD_GAP)
        return false;
    if (r->kind != RECORD_WAYS || r->bytes < sizeof *w)
        return true;
    const uint64_t room = (r->bytes - sizeof *w) / sizeof *list;
    for (uint64_t i = 0; i < w->ways && i < room; i++)
        fn(arg, &list[i]);
    return true;
}

int statements_ways(struct pinball *pinball, way_fn *fn, void *arg, struct err *err)
{
    uint64_t bytes, records;
    bool more = true;
    int bad = 0;
    if (!pinball_head_get(pinball, "relog_of"))
        return 0;
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    if (!data)
        return err_set(err, "no memory");
    for (uint64_t i = 0; i < pinball_chunks(pinball) && more && !bad; i++) {
        pinball_chunk_info(pinball, i, &bytes, &records);
        bad = pinball_read_chunk(pinball, i, data, CHUNK_MAX_BYTES, err);
        for (const struct record *r = bad ? NULL : records_first(data, bytes); r && more;
             r = records_next(r, data + bytes))
            more = ways_of(r, fn, arg);
    }
    free(data);
    return bad ? -1 : 0;
}

void statements_deinit(struct statements *s)
{
    free(s->list);
    *s = (struct statements){0};
}

static bool before(uint64_t count, uint64_t pc, uint64_t other_count, uint64_t other_pc)
{
    return count < other_count || (count == other_count && pc < other_pc);
}

/* A thread's statements are in order, but those of others are in between. */
bool statements_have(const struct statements *s, const struct position *at)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct kept_statement *k = &s->list[i];
        if (k->thread == at->thread && !before(at->count, at->pc, k->count, k->pc) &&
            !before(k->last_count, k->last_pc, at->count, at->pc))
            return true;
    }
    return false;
}

const struct kept_statement *statements_next(const struct statements *s, const struct position *at)
{
    size_t from = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct kept_statement *k = &s->list[i];
        if (k->thread == at->thread && !before(at->count, at->pc, k->count, k->pc))
            from = i + 1;
    }
    while (from < s->count && (s->list[from].how & KEPT_IN_CALL))
        from++;
    return from < s->count ? &s->list[from] : NULL;
}
