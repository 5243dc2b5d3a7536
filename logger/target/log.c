/* log.c - the event log, as the recorded program itself writes it. SPDX-License-Identifier: MIT */
#include "logger/target/log.h"

#include "engine/core/engine.h"
#include "engine/os/special.h"
#include "engine/rt/rt.h"

enum { DATA_PIECE = 32 << 10 };

static struct sink_writer writer;
static uint8_t nowhere[RECORD_MAX_BYTES];

void log_open(const struct sink *sink)
{
    sink_open(&writer, sink);
}

void log_leave(void)
{
    writer.over = true; /* the sink is not told: it is the parent's */
}

bool log_over(void)
{
    return writer.over;
}

void *log_begin(enum record_kind kind, uint64_t bytes)
{
    rt_check(bytes <= RECORD_MAX_BYTES && bytes % 8 == 0);
    void *r = sink_begin(&writer, kind, bytes);
    return r ? r : nowhere;
}

void *log_begin_timed(enum record_kind kind, uint64_t bytes)
{
    uint8_t *r = log_begin(kind, bytes + RECORD_TIME_BYTES);
    *(uint64_t *)(r + bytes) = special_now_ns();
    return r;
}

void log_commit(void)
{
    sink_commit(&writer);
}

void log_break(void)
{
    if (!writer.over && !writer.sink->next(&writer))
        sink_end(&writer);
}

void log_end(void)
{
    sink_end(&writer);
}

struct sink_writer *log_writer(void)
{
    return &writer;
}

void log_shorten(uint64_t bytes)
{
    sink_shorten(&writer, bytes);
}

void log_data(gaddr addr, uint64_t bytes, uint8_t flags)
{
    while (bytes && !writer.over) {
        uint64_t n = bytes < DATA_PIECE ? bytes : DATA_PIECE;
        struct record_data *d = log_begin(RECORD_DATA, sizeof *d + ((n + 7) & ~7ull));
        uint64_t got = n - engine_copy(d + 1, (const void *)addr, n), room = (got + 7) & ~7ull;
        if (!got)
            return; /* not committed */
        d->r.flags = flags;
        d->addr = addr;
        d->bytes = got;
        memset((uint8_t *)(d + 1) + got, 0, room - got);
        log_shorten(sizeof *d + room);
        log_commit();
        if (got < n)
            return;
        addr += n;
        bytes -= n;
    }
}
