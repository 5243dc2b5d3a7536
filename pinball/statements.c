/* statements.c - the statements that a recording was made of. SPDX-License-Identifier: MIT */
#include "pinball/statements.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/format.h"
#include "pinball/pinball.h"
#include "pinball/records.h"

/* A thread's statements, in their order. */
struct statement_of {
    uint32_t thread;
    size_t number; /* in the list */
};

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

static int by_thread(const void *a, const void *b)
{
    const struct statement_of *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int sort(struct statements *s, struct err *err)
{
    s->of = malloc((s->count + 1) * sizeof *s->of);
    if (!s->of)
        return err_set(err, "no memory");
    for (size_t i = 0; i < s->count; i++)
        s->of[i] = (struct statement_of){s->list[i].thread, i};
    qsort(s->of, s->count, sizeof *s->of, by_thread);
    return 0;
}

int statements_read(struct pinball *pinball, struct statements *out, struct err *err)
{
    uint64_t bytes, records;
    int bad = 0;
    const char *output = pinball_head_get(pinball, "relog_output");
    *out = (struct statements){.output = output && !strcmp(output, "yes")};
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
    bad = bad || sort(out, err);
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
    free(s->of);
    *s = (struct statements){0};
}

static bool before(uint64_t count, uint64_t pc, uint64_t other_count, uint64_t other_pc)
{
    return count < other_count || (count == other_count && pc < other_pc);
}

/* The last one of the thread that does not begin behind the place. NULL: none does. */
static const struct kept_statement *last_begun(const struct statements *s,
                                               const struct position *at)
{
    size_t low = 0, high = s->count; /* those before `low` do not, those from `high` on do */
    while (low < high) {
        const size_t mid = (low + high) / 2;
        const struct kept_statement *k = &s->list[s->of[mid].number];
        if (k->thread < at->thread ||
            (k->thread == at->thread && !before(at->count, at->pc, k->count, k->pc)))
            low = mid + 1;
        else
            high = mid;
    }
    const struct kept_statement *k = low ? &s->list[s->of[low - 1].number] : NULL;
    return k && k->thread == at->thread ? k : NULL;
}

bool statements_have(const struct statements *s, const struct position *at)
{
    const struct kept_statement *k = last_begun(s, at);
    return k && !before(k->last_count, k->last_pc, at->count, at->pc);
}

bool statements_hush(const struct statements *s, const struct position *at)
{
    return s->count && !s->output && !statements_have(s, at);
}

/* How many there are up to the last one that the thread has begun. */
static size_t begun(const struct statements *s, const struct position *at)
{
    const struct kept_statement *k = last_begun(s, at);
    return k ? (size_t)(k - s->list) + 1 : 0;
}

/* Others may have begun some that the thread has not. */
const struct kept_statement *statements_next(const struct statements *s,
                                             const struct position *from, const struct position *at)
{
    const size_t first = begun(s, from), second = begun(s, at);
    size_t next = first > second ? first : second;
    while (next < s->count && (s->list[next].how & KEPT_IN_CALL))
        next++;
    return next < s->count ? &s->list[next] : NULL;
}

/* A step back goes to a statement's last instruction, but not if the thread may wait in that call.
 */
static bool is_only_call(const struct kept_statement *k)
{
    return (k->how & KEPT_IN_CALL) && k->count == k->last_count && k->pc == k->last_pc;
}

const struct kept_statement *statements_before(const struct statements *s,
                                               const struct position *at)
{
    size_t n = begun(s, at);
    n -= n && statements_have(s, at);
    while (n && is_only_call(&s->list[n - 1]))
        n--;
    return n ? &s->list[n - 1] : NULL;
}
