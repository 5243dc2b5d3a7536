/* statements.c - the statements that a recording was made of. SPDX-License-Identifier: MIT */
#include "pinball/statements.h"

#include <stdlib.h>
#include <string.h>

#include "pinball/format.h"
#include "pinball/pinball.h"
#include "pinball/records.h"
#include "pinball/steplist.h"

/* As recordings had them once: one after the other. */
static int take_plain(struct statements *s, const struct record_kept *r)
{
    const struct kept_statement *list = (const void *)(r + 1);
    const uint64_t room = (r->r.bytes - sizeof *r) / sizeof *list;
    for (uint64_t i = 0; i < r->statements && i < room; i++)
        if (steplist_add(s->list, &list[i]))
            return -1;
    return 0;
}

static int check_size(const struct statements *s, const struct pinball *pinball, struct err *err)
{
    return steplist_memory(s->list) > pinball_gathers_most(pinball)
               ? err_set(err, "%s: lists more statements than the size of its log allows",
                         pinball_path(pinball))
               : 0;
}

static int take(struct statements *s, const struct record *r, const struct pinball *pinball,
                struct err *err)
{
    const struct record_steps *p = (const void *)r;
    int bad = 0;
    if (r->kind == RECORD_KEPT && r->bytes >= sizeof(struct record_kept))
        bad = take_plain(s, (const void *)r);
    else if (r->kind == RECORD_STEPS && r->bytes >= sizeof *p)
        bad = p->length > r->bytes - sizeof *p
                  ? err_set(err, "%s: a list of statements is damaged", pinball_path(pinball))
                  : steplist_put(s->list, (const void *)(p + 1), p->length);
    else
        return 0;
    return bad || check_size(s, pinball, err) ? -1 : 0;
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
    out->list = steplist_new();
    if (!data || !out->list)
        bad = -1;
    err_set(err, "no memory");
    for (uint64_t i = 0; i < pinball_chunks(pinball) && !bad; i++) {
        pinball_chunk_info(pinball, i, &bytes, &records);
        bad = pinball_read_chunk(pinball, i, data, CHUNK_MAX_BYTES, err);
        for (const struct record *r = bad ? NULL : records_first(data, bytes); r && !bad;
             r = records_next(r, data + bytes))
            bad = take(out, r, pinball, err);
    }
    free(data);
    while (!bad && (bad = steplist_read(out->list, err)) > 0)
        bad = check_size(out, pinball, err);
    if (bad)
        statements_deinit(out);
    else
        out->count = steplist_count(out->list);
    return bad ? -1 : 0;
}

bool statements_get(const struct statements *s, size_t i, struct kept_statement *out)
{
    if (i >= s->count)
        return false;
    steplist_get(s->list, i, out);
    return true;
}

int statements_put(const struct steplist *list, statements_put_fn *put, void *arg, struct err *err)
{
    enum { PIECE = 32 << 10 };
    struct {
        struct record_steps head;
        uint8_t bytes[PIECE];
    } r;
    size_t left;
    const uint8_t *from = steplist_packed(list, &left);
    while (left) {
        const size_t n = left < PIECE ? left : PIECE, padded = (n + 7) & ~(size_t)7;
        r.head = (struct record_steps){
            .r = {.kind = RECORD_STEPS, .bytes = (uint32_t)(sizeof r.head + padded)}, .length = n};
        memcpy(r.bytes, from, n);
        memset(r.bytes + n, 0, padded - n);
        if (put(arg, &r.head.r, err))
            return -1;
        from += n;
        left -= n;
    }
    return 0;
}

/* They stand before all statements. */
static bool ways_of(const struct record *r, way_fn *fn, void *arg)
{
    const struct record_ways *w = (const void *)r;
    const struct code_way *list = (const void *)(w + 1);
    if (r->kind == RECORD_KEPT || r->kind == RECORD_STEPS || r->kind == RECORD_GAP)
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
    steplist_free(s->list);
    *s = (struct statements){0};
}

/* The last one of the thread that does not begin behind the place. */
static bool last_begun(const struct statements *s, const struct position *at, size_t *i,
                       struct kept_statement *out)
{
    return s->count && steplist_last(s->list, at->thread, at->count, at->pc, i, out);
}

bool statements_begun(const struct statements *s, const struct position *at, size_t *i)
{
    struct kept_statement k;
    return last_begun(s, at, i, &k);
}

bool statements_place(const struct statements *s, size_t i, uint64_t *first, uint64_t *last)
{
    return s->count && steplist_place(s->list, i, first, last);
}

bool statements_have(const struct statements *s, const struct position *at)
{
    struct kept_statement k;
    size_t i;
    return last_begun(s, at, &i, &k) &&
           !(k.last_count < at->count || (k.last_count == at->count && k.last_pc < at->pc));
}

bool statements_hush(const struct statements *s, const struct position *at)
{
    return s->count && !s->output && !statements_have(s, at);
}

/* How many there are up to the last one that the thread has begun. */
static size_t begun(const struct statements *s, const struct position *at)
{
    size_t i;
    return statements_begun(s, at, &i) ? i + 1 : 0;
}

/* Others may have begun some that the thread has not. */
bool statements_next(const struct statements *s, const struct position *from,
                     const struct position *at, struct kept_statement *out)
{
    const size_t first = begun(s, from), second = begun(s, at);
    size_t next = first > second ? first : second;
    while (statements_get(s, next, out) && (out->how & KEPT_IN_CALL))
        next++;
    return next < s->count;
}

/* A step back goes to a statement's last instruction, but not if the thread may wait in that call.
 */
static bool is_only_call(const struct kept_statement *k)
{
    return (k->how & KEPT_IN_CALL) && k->count == k->last_count && k->pc == k->last_pc;
}

bool statements_before(const struct statements *s, const struct position *at,
                       struct kept_statement *out)
{
    size_t n = begun(s, at);
    n -= n && statements_have(s, at);
    while (n && statements_get(s, n - 1, out) && is_only_call(out))
        n--;
    return n > 0;
}
