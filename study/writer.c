/* writer.c - the last write to memory. SPDX-License-Identifier: MIT */
#include "study/writer.h"

#include "replayer/timeline.h"
#include "study/broker.h"
#include "study/study_private.h"

static int by_broker(struct study *s, gaddr addr, uint32_t bytes, struct writer_write *out,
                     struct err *err)
{
    struct broker_ask what = {.op = BROKER_WRITE, .addr = addr, .bytes = bytes};
    size_t got = 0;
    if (broker_call(s->own->broker, &what, out, sizeof *out, &got, err))
        return -1;
    return got == sizeof *out ? 0 : err_set(err, "the broker does not answer");
}

static int go_to_end(struct study *s, struct debuggee_stop *stop, struct err *err)
{
    const struct timeline_options options = {.engine = NULL};
    if (!s->own->timeline && !(s->own->timeline = timeline_new(s->pinball, &options, err)))
        return -1;
    return s->has_to ? timeline_goto(s->own->timeline, &s->to, stop, err)
                     : timeline_goto_end(s->own->timeline, stop, err);
}

int writer_last(struct study *s, gaddr addr, uint32_t bytes, struct writer_write *out,
                struct err *err)
{
    struct debuggee_stops stops = {.watch_count = 1, .watches = {{addr, bytes, WATCH_WRITE}}};
    struct debuggee_stop stop;
    *out = (struct writer_write){.ticks = 0};
    if (s->own->broker)
        return by_broker(s, addr, bytes, out, err);
    if (go_to_end(s, &stop, err) || timeline_stops(s->own->timeline, &stops, err) ||
        timeline_back(s->own->timeline, &stop, err))
        return -1;
    if (stop.why == STOP_WATCH)
        *out = (struct writer_write){.at = stop.at, .ticks = stop.ticks};
    return 0;
}
