/* cursor.c - the event log, one record after the other. SPDX-License-Identifier: MIT */
#include "replayer/target/cursor.h"

#include "debug/target/post.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"
#include "pinball/marks.h"
#include "pinball/record_gap.h"

enum { GRANTS = 256 };

/* A chunk is copied, so that a copy of the process goes on where it is without the supervisor. */
static struct {
    uint8_t *chunk;
    uint64_t bytes, at;
    uint64_t number; /* of the next chunk */
    uint64_t records;
    bool ended;
} log;

/* Address space that the recorded runtime had far from itself: the program never uses it. */
static struct {
    gaddr start;
    uint64_t bytes;
    bool used;
} grant[GRANTS];
static int grants;

/* The least sizes of records; 0: there is no such kind. */
static const uint32_t least[RECORD_KINDS] = {
#define RECORD(name, number, type, count, text) [RECORD_##name] = sizeof(struct type),
#include "pinball/records.def"
#undef RECORD
};

/* The recording may have grown. */
void cursor_retry(void)
{
    if (!log.ended)
        return;
    log.ended = false;
    log.number--;
}

static bool fetch(void)
{
    struct mailbox *box = post_box();
    if (log.ended)
        return false;
    bool first = !log.chunk;
    if (first) {
        log.chunk = range_alloc(MAILBOX_DATA_BYTES);
        log.number = box->chunk;
        log.records = box->records;
    }
    box->arg[0] = log.number++;
    post_ask(ASK_CHUNK);
    log.bytes = box->arg[0];
    log.at = first ? box->offset : 0;
    if (log.at > log.bytes)
        post_failed("the log has no event at %lu", log.at);
    log.ended = !log.bytes;
    rt_check(log.bytes <= MAILBOX_DATA_BYTES);
    memcpy(log.chunk, box->data, log.bytes);
    return !log.ended;
}

static void take_range(const struct record_range *r)
{
    if (grants == GRANTS)
        return;
    grant[grants].start = r->start;
    grant[grants].bytes = r->bytes;
    grant[grants++].used = false;
}

/* Passes over kinds that may be skipped, but for these. */
static const struct record *peek(unsigned also, unsigned other)
{
    for (;;) {
        if (log.at == log.bytes && !fetch())
            return NULL;
        const struct record *r = (const struct record *)(log.chunk + log.at);
        uint64_t left = log.bytes - log.at;
        bool given = left >= sizeof *r && (r->kind == also || r->kind == other);
        bool skip = left >= sizeof *r && r->kind >= RECORD_SKIPPABLE && !given;
        if (left < sizeof *r || r->bytes > left || r->bytes < sizeof *r ||
            (!skip && !given &&
             (r->kind >= RECORD_KINDS || !least[r->kind] || r->bytes < least[r->kind])))
            post_failed("event %lu: not a record", log.records);
        if (!skip && r->kind != RECORD_RANGE)
            return r;
        if (!skip)
            take_range((const struct record_range *)r);
        cursor_next();
    }
}

const struct record *cursor_peek(void)
{
    enum { NONE = 256 }; /* no kind */
    return peek(NONE, NONE);
}

const struct record *cursor_peek_also(enum record_kind kind, enum record_kind other)
{
    const struct record *r = peek(kind, other);
    return r && (r->kind == kind || r->kind == other) ? r : NULL;
}

void cursor_next(void)
{
    log.at += ((const struct record *)(log.chunk + log.at))->bytes;
    log.records++;
}

void cursor_where(uint64_t *chunk, uint64_t *offset)
{
    *chunk = log.number - 1;
    *offset = log.at;
}

uint64_t cursor_number(void)
{
    return log.records;
}

bool cursor_grant(gaddr near, uint64_t bytes, gaddr *start)
{
    for (int i = 0; i < grants; i++) {
        gaddr d = grant[i].start > near ? grant[i].start - near : near - grant[i].start;
        if (grant[i].used || grant[i].bytes != bytes || d > 1800ull << 20)
            continue;
        grant[i].used = true;
        *start = grant[i].start;
        return true;
    }
    return false;
}

void cursor_ranges(void (*fn)(gaddr start, uint64_t bytes))
{
    for (int i = 0; i < grants; i++)
        fn(grant[i].start, grant[i].bytes);
}
