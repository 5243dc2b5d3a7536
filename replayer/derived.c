/* derived.c - writes a recording that is made of another one by replaying it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The replaying process tells what it alone knows: address space, processes, threads
 * (target/state.c). Memory is read from outside (pinball/memory.h).
 */
#define _GNU_SOURCE
#include "replayer/derived.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/ends.h"
#include "pinball/format.h"
#include "pinball/memory.h"
#include "pinball/records.h"
#include "pinball/statements.h"
#include "pinball/steplist.h"
#include "pinball/text.h"

enum { ROOM = 1 << 20, STATE_MOST = 256 << 20 };

/* ---- writing ---- */

int derived_flush(struct derived *d, struct err *err)
{
    if (!d->out_bytes)
        return 0;
    summary_add(&d->summary, d->out, d->out_bytes);
    int bad = writer_events(d->writer, d->out, d->out_bytes, d->out_records, err);
    d->out_bytes = d->out_records = 0;
    return bad;
}

int derived_put(void *derived, const struct record *r, struct err *err)
{
    struct derived *d = derived;
    if (d->out_bytes + r->bytes > ROOM && derived_flush(d, err))
        return -1;
    memcpy(d->out + d->out_bytes, r, r->bytes);
    d->out_bytes += r->bytes;
    d->out_records++;
    return 0;
}

/* ---- the state ---- */

static int take_records(void *arg, const void *records, size_t bytes, struct err *err)
{
    struct derived *d = arg;
    if (d->state_bytes + bytes > STATE_MOST)
        return err_set(err, "the state has more than %d MB of shared memory", STATE_MOST >> 20);
    if (array_reserve(&d->state, &d->state_room, d->state_bytes + bytes))
        return err_set(err, "no memory");
    memcpy(d->state + d->state_bytes, records, bytes);
    d->state_bytes += bytes;
    return 0;
}

static void take_message(void *arg, const char *line)
{
    const struct derived *d = arg;
    if (d->message)
        d->message(d->arg, line);
}

/* Output, when it is asked for. The process may be a stranger's: it is checked by whoever replays
 * the new recording. */
static bool take_entry(void *arg, const struct mailbox_entry *e, const void *text)
{
    struct derived *d = arg;
    struct record_said said = {.r = {.kind = RECORD_SAID},
                               .to = (uint32_t)e->a,
                               .fd = (int32_t)e->b,
                               .bytes = e->text_bytes};
    const size_t padded = ((size_t)e->text_bytes + 7) & ~(size_t)7, bytes = sizeof said + padded;
    if (e->kind != EVENT_OUTPUT || !d->hears || bytes > RECORD_MAX_BYTES)
        return false;
    if (array_reserve(&d->heard, &d->heard_room, d->heard_bytes + bytes)) {
        d->deaf = true;
        return false;
    }
    said.r.bytes = (uint32_t)bytes;
    uint8_t *at = d->heard + d->heard_bytes;
    memset(at, 0, bytes);
    memcpy(at, &said, sizeof said);
    memcpy(at + sizeof said, text, e->text_bytes);
    d->heard_bytes += bytes;
    return false;
}

int derived_ask(struct derived *d, enum mailbox_state what, struct err *err)
{
    d->state_bytes = 0;
    return replay_state(d->replay, what, err);
}

int derived_put_state(struct derived *d, struct err *err)
{
    const uint8_t *stop = d->state + d->state_bytes;
    for (const struct record *r = records_first(d->state, d->state_bytes); r;
         r = records_next(r, stop))
        if (derived_put(d, r, err))
            return -1;
    return 0;
}

static int put_image(struct derived *d, struct err *err)
{
    uint64_t chunk, offset, bytes = 0, records;
    struct record_image im;
    replay_image(d->replay, &chunk, &offset);
    pinball_chunk_info(d->pinball, chunk, &bytes, &records);
    uint8_t *data = malloc(bytes + 1);
    int bad =
        data ? pinball_read_chunk(d->pinball, chunk, data, bytes, err) : err_set(err, "no memory");
    const struct record *first =
        bad || offset >= bytes ? NULL : records_skip((void *)(data + offset), data + bytes);
    if (!bad && (!first || first->bytes < sizeof im))
        bad = err_set(err, "%s: does not begin with a program", pinball_path(d->pinball));
    if (!bad)
        memcpy(&im, first, sizeof im);
    free(data);
    return bad ? -1 : derived_put(d, &im.r, err);
}

int derived_put_begin(struct derived *d, struct err *err)
{
    if (derived_ask(d, STATE_OF_SPACE, err) || put_image(d, err) || derived_put_state(d, err) ||
        memory_put(replay_pid(d->replay),
                   &(struct memory_list){.records = d->state, .bytes = d->state_bytes}, derived_put,
                   d, err))
        return -1;
    return derived_ask(d, STATE_OF_THREADS, err) || derived_put_state(d, err) ||
                   derived_flush(d, err)
               ? -1
               : 0;
}

const struct record_state *derived_running(const struct derived *d, struct err *err)
{
    const uint8_t *stop = d->state + d->state_bytes;
    for (const struct record *r = records_first(d->state, d->state_bytes); r;
         r = records_next(r, stop))
        if (r->kind == RECORD_STATE && r->bytes >= sizeof(struct record_state) &&
            r->flags & STATE_RUNS)
            return (const struct record_state *)r;
    err_set(err, "the replaying process talks nonsense: no thread runs");
    return NULL;
}

/* ---- the old log ---- */

int derived_next(struct derived *d, struct err *err)
{
    if (!d->chunk && !(d->chunk = malloc(CHUNK_MAX_BYTES)))
        return err_set(err, "no memory");
    for (;;) {
        while (d->next && d->next_number < d->copied) {
            d->next = records_next(d->next, d->chunk + d->chunk_bytes);
            d->next_number++;
        }
        if (d->next)
            return 1;
        if (d->chunk_number == pinball_chunks(d->pinball))
            return 0;
        const uint64_t number = d->chunk_number++, first = d->chunk_first + d->chunk_records;
        d->chunk_first = first;
        pinball_chunk_info(d->pinball, number, &d->chunk_bytes, &d->chunk_records);
        if (first + d->chunk_records <= d->copied)
            continue;
        if (pinball_read_chunk(d->pinball, number, d->chunk, CHUNK_MAX_BYTES, err))
            return -1;
        d->next = records_first(d->chunk, d->chunk_bytes);
        d->next_number = first;
    }
}

static int go_through(struct derived *d, uint64_t to, bool all, struct err *err)
{
    for (; d->copied < to; d->copied++) {
        int more = derived_next(d, err);
        if (more <= 0)
            return more;
        const bool old =
            d->anew &&
            (d->next->kind == RECORD_KEPT || d->next->kind == RECORD_STEPS ||
             d->next->kind == RECORD_WAYS || (d->next->kind == RECORD_SAID && !d->hears));
        if ((all ? !old : d->next->kind == RECORD_RANGE) && derived_put(d, d->next, err))
            return -1;
    }
    return 0;
}

int derived_put_log(struct derived *d, uint64_t to, struct err *err)
{
    return go_through(d, to, true, err);
}

int derived_pass_log(struct derived *d, uint64_t to, struct err *err)
{
    return go_through(d, to, false, err);
}

/* ---- the end ---- */

int derived_put_end(struct derived *d, uint64_t ticks, struct err *err)
{
    const struct record_state *s =
        derived_ask(d, STATE_OF_THREADS, err) ? NULL : derived_running(d, err);
    if (!s)
        return -1;
    const struct record_end end = {.r = {.kind = RECORD_END, .flags = BETWEEN, .bytes = sizeof end},
                                   .at = s->at,
                                   .ticks = ticks,
                                   .reason = END_REGION};
    return derived_put(d, &end.r, err);
}

static bool is_later(const struct derived *d, const struct kept_statement *k)
{
    const uint8_t *stop = d->state + d->state_bytes;
    for (const struct record *r = records_first(d->state, d->state_bytes); r;
         r = records_next(r, stop)) {
        const struct record_state *s = (const struct record_state *)r;
        if (r->kind == RECORD_STATE && r->bytes >= sizeof *s && s->thread == k->thread)
            return k->count > s->at.count || (k->count == s->at.count && k->pc >= s->at.pc);
    }
    return false;
}

int derived_put_kept(struct derived *d, struct err *err)
{
    struct statements old;
    struct kept_statement k;
    if (statements_read(d->pinball, &old, err))
        return -1;
    struct steplist *list = steplist_new();
    int bad = list ? 0 : err_set(err, "no memory");
    for (size_t i = 0; !bad && statements_get(&old, i, &k) && !is_later(d, &k); i++)
        bad = steplist_add(list, &k) ? err_set(err, "no memory") : 0;
    bad = bad || statements_put(list, derived_put, d, err);
    steplist_free(list);
    statements_deinit(&old);
    return bad ? -1 : 0;
}

/* One that goes on to the end ends as the whole does; `records` counts what is in it. */
int derived_finish(struct derived *d, struct err *err)
{
    struct text text = {0};
    const char *isa = pinball_end_get(d->pinball, "isa");
    if (derived_flush(d, err))
        return -1;
    d->summary.isa = isa ? strtoull(isa, NULL, 16) : 0;
    if (!d->summary.ended) {
        const char *reason = pinball_end_get(d->pinball, "reason");
        d->summary.reason = reason ? ends_reason(reason) : 0;
        d->summary.status = (int32_t)pinball_end_number(d->pinball, "status", 0);
    }
    summary_text(&d->summary, &text);
    int bad = writer_end(d->writer, text.data, text.bytes, err);
    text_deinit(&text);
    return bad;
}

/* ---- making and ending it ---- */

int derived_init(struct derived *d, struct pinball *pinball, struct err *err)
{
    /* Flags that no instruction reads are part of the state, too. */
    const struct replay_options o = {.message = take_message,
                                     .records = take_records,
                                     .entry = take_entry,
                                     .arg = d,
                                     .engine = "exact=1"};
    d->pinball = pinball;
    if (!(d->out = malloc(ROOM)))
        return err_set(err, "no memory");
    d->replay = replay_new(pinball, &o, err);
    return d->replay ? 0 : -1;
}

int derived_create(struct derived *d, const char *dir, const struct text *more, struct err *err)
{
    d->writer = derive_new(d->pinball, dir, more, err);
    return d->writer ? 0 : -1;
}

void derived_deinit(struct derived *d, bool keep)
{
    if (d->writer && !keep)
        writer_undo(d->writer);
    writer_free(d->writer);
    replay_free(d->replay);
    summary_deinit(&d->summary);
    free(d->state);
    free(d->heard);
    free(d->out);
    free(d->chunk);
}
