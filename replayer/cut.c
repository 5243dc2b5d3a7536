/* cut.c - a part of a recording, as a recording. SPDX-License-Identifier: MIT
 *
 * The replaying process tells what it alone knows: address space, processes, threads
 * (target/state.c). Memory is read from outside (pinball/memory.h).
 */
#define _GNU_SOURCE
#include "replayer/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pinball/derive.h"
#include "pinball/ends.h"
#include "pinball/format.h"
#include "pinball/memory.h"
#include "pinball/record_state.h"
#include "pinball/records.h"
#include "pinball/summary.h"
#include "pinball/text.h"
#include "replayer/replay_private.h"

enum { ROOM = 1 << 20, STATE_MOST = 256 << 20 };

struct cutting {
    struct pinball *pinball;
    const struct cut_options *options;
    struct replay *replay;
    struct writer *writer;
    struct summary summary;
    uint8_t *state; /* records that the process told */
    size_t state_bytes, state_room;
    uint8_t *out; /* records that are not written yet: ROOM */
    size_t out_bytes;
    uint64_t out_records;
};

/* ---- writing ---- */

static int flush(struct cutting *c, struct err *err)
{
    if (!c->out_bytes)
        return 0;
    summary_add(&c->summary, c->out, c->out_bytes);
    int bad = writer_events(c->writer, c->out, c->out_bytes, c->out_records, err);
    c->out_bytes = c->out_records = 0;
    return bad;
}

static int put(void *arg, const struct record *r, struct err *err)
{
    struct cutting *c = arg;
    if (c->out_bytes + r->bytes > ROOM && flush(c, err))
        return -1;
    memcpy(c->out + c->out_bytes, r, r->bytes);
    c->out_bytes += r->bytes;
    c->out_records++;
    return 0;
}

/* ---- the state ---- */

static int take_records(void *arg, const void *records, size_t bytes, struct err *err)
{
    struct cutting *c = arg;
    if (c->state_bytes + bytes > STATE_MOST)
        return err_set(err, "the state has more than %d MB of shared memory", STATE_MOST >> 20);
    if (array_reserve(&c->state, &c->state_room, c->state_bytes + bytes))
        return err_set(err, "no memory");
    memcpy(c->state + c->state_bytes, records, bytes);
    c->state_bytes += bytes;
    return 0;
}

static void take_message(void *arg, const char *line)
{
    const struct cutting *c = arg;
    if (c->options->message)
        c->options->message(c->options->arg, line);
}

static int put_state(struct cutting *c, struct err *err)
{
    const uint8_t *stop = c->state + c->state_bytes;
    for (const struct record *r = records_first(c->state, c->state_bytes); r;
         r = records_next(r, stop))
        if (put(c, r, err))
            return -1;
    return 0;
}

static int put_image(struct cutting *c, struct err *err)
{
    uint64_t chunk, offset, bytes = 0, records;
    struct record_image im;
    replay_image(c->replay, &chunk, &offset);
    pinball_chunk_info(c->pinball, chunk, &bytes, &records);
    uint8_t *data = malloc(bytes + 1);
    int bad =
        data ? pinball_read_chunk(c->pinball, chunk, data, bytes, err) : err_set(err, "no memory");
    const struct record *first =
        bad || offset >= bytes ? NULL : records_skip((void *)(data + offset), data + bytes);
    if (!bad && (!first || first->bytes < sizeof im))
        bad = err_set(err, "%s: does not begin with a program", pinball_path(c->pinball));
    if (!bad)
        memcpy(&im, first, sizeof im);
    free(data);
    return bad ? -1 : put(c, &im.r, err);
}

static int put_begin(struct cutting *c, struct err *err)
{
    if (replay_state_space(c->replay, err) || put_image(c, err) || put_state(c, err) ||
        memory_put(replay_pid(c->replay),
                   &(struct memory_list){.records = c->state, .bytes = c->state_bytes}, put, c,
                   err))
        return -1;
    c->state_bytes = 0;
    return replay_state_threads(c->replay, err) || put_state(c, err) || flush(c, err) ? -1 : 0;
}

/* ---- the rest of the log ---- */

/* Records number `from` to `to` of the log, counted from 0. */
static int put_log(struct cutting *c, uint64_t from, uint64_t to, struct err *err)
{
    uint8_t *data = malloc(CHUNK_MAX_BYTES);
    uint64_t number = 0, bytes, records;
    int bad = data ? 0 : err_set(err, "no memory");
    for (uint64_t i = 0; i < pinball_chunks(c->pinball) && !bad && number < to; i++) {
        pinball_chunk_info(c->pinball, i, &bytes, &records);
        if (number + records <= from) {
            number += records;
            continue;
        }
        bad = pinball_read_chunk(c->pinball, i, data, CHUNK_MAX_BYTES, err);
        for (const struct record *r = bad ? NULL : records_first(data, bytes);
             r && number < to && !bad; r = records_next(r, data + bytes), number++)
            if (number >= from)
                bad = put(c, r, err);
    }
    free(data);
    return bad ? -1 : 0;
}

static const struct record_state *running(const struct cutting *c)
{
    const uint8_t *stop = c->state + c->state_bytes;
    for (const struct record *r = records_first(c->state, c->state_bytes); r;
         r = records_next(r, stop))
        if (r->kind == RECORD_STATE && r->bytes >= sizeof(struct record_state) &&
            r->flags & STATE_RUNS)
            return (const struct record_state *)r;
    return NULL;
}

/* The end of a part that the program did not end with. */
static int put_end(struct cutting *c, const struct replay_stop *stop, struct err *err)
{
    c->state_bytes = 0;
    if (replay_state_threads(c->replay, err))
        return -1;
    const struct record_state *s = running(c);
    if (!s)
        return err_set(err, "the replaying process talks nonsense: no thread runs");
    const struct record_end end = {.r = {.kind = RECORD_END, .flags = BETWEEN, .bytes = sizeof end},
                                   .at = s->at,
                                   .ticks = stop->ticks,
                                   .reason = END_REGION};
    return put(c, &end.r, err);
}

static int go(struct cutting *c, const struct position *to, struct replay_stop *stop,
              struct err *err)
{
    char text[POSITION_TEXT];
    if (replay_run(c->replay, to, stop, err))
        return -1;
    position_format(to, text);
    return stop->why == STOP_POSITION ? 0 : err_set(err, "%s: not in this recording", text);
}

/* A part that goes on to the end ends as the whole does; `records` counts what is in it. */
static int write_end(struct cutting *c, struct err *err)
{
    struct text text = {0};
    const char *isa = pinball_end_get(c->pinball, "isa");
    c->summary.isa = isa ? strtoull(isa, NULL, 16) : 0;
    if (!c->summary.ended) {
        const char *reason = pinball_end_get(c->pinball, "reason");
        c->summary.reason = reason ? ends_reason(reason) : 0;
        c->summary.status = (int32_t)pinball_end_number(c->pinball, "status", 0);
    }
    summary_text(&c->summary, &text);
    int bad = writer_end(c->writer, text.data, text.bytes, err);
    text_deinit(&text);
    return bad;
}

static int write_all(struct cutting *c, const struct replay_stop *at, struct err *err)
{
    const struct position *to = c->options->to;
    struct replay_stop end = {.events = UINT64_MAX};
    if (put_begin(c, err))
        return -1;
    if (to && go(c, to, &end, err))
        return -1;
    if (put_log(c, at->events, end.events, err) || (to && put_end(c, &end, err)) || flush(c, err))
        return -1;
    return write_end(c, err);
}

static int start(struct cutting *c, struct replay_stop *at, struct err *err)
{
    /* Flags that no instruction reads are part of the state, too. */
    const struct replay_options o = {
        .message = take_message, .records = take_records, .arg = c, .engine = "exact=1"};
    c->replay = replay_new(c->pinball, &o, err);
    return c->replay ? go(c, c->options->from, at, err) : -1;
}

static void cutting_deinit(struct cutting *c)
{
    replay_free(c->replay);
    summary_deinit(&c->summary);
    free(c->state);
    free(c->out);
}

int cut(struct pinball *pinball, const char *dir, const struct cut_options *options,
        struct err *err)
{
    struct cutting c = {.pinball = pinball, .options = options};
    struct replay_stop at;
    struct text more = {0};
    char from[POSITION_TEXT];
    int bad = -1;
    position_format(options->from, from);
    text_addf(&more, "part_of", "%s", pinball_path(pinball));
    text_add(&more, "part_from", from);
    if (!(c.out = malloc(ROOM)))
        err_set(err, "no memory");
    else if (!start(&c, &at, err) && (c.writer = derive_new(pinball, dir, &more, err)))
        bad = write_all(&c, &at, err);
    if (c.writer && bad)
        writer_undo(c.writer);
    writer_free(c.writer);
    text_deinit(&more);
    cutting_deinit(&c);
    return bad;
}
