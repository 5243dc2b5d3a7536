/* entries.c - what a program did, told by a plain replay. SPDX-License-Identifier: MIT */
#include "ask/entries.h"

#include "pinball/pinball.h"
#include "replayer/journal.h"

struct reading {
    struct asking *q;
    const struct entries_options *options;
    uint64_t total; /* ticks of the recording; 0: not known */
    int end;        /* what the function returned last */
    struct err *err;
};

static bool take(void *arg, const struct mailbox_entry *entry, const void *text)
{
    struct reading *r = arg;
    struct debuggee_event event;
    if (r->end)
        return true;
    journal_read(entry, text, &event);
    r->end = r->options->fn(r->options->arg, &event, r->err);
    if (r->q->progress)
        r->q->progress(r->q->arg, event.ticks, r->total);
    return true;
}

static bool should_pause(void *arg)
{
    const struct reading *r = arg;
    return r->end || r->q->interrupted();
}

int entries_replay(struct asking *q, const struct entries_options *o, struct err *err)
{
    struct pinball *p = q->study->pinball;
    struct reading r = {
        .q = q, .options = o, .total = pinball_end_number(p, "ticks", 0), .err = err};
    struct replay *replay = replay_new(
        p,
        &(struct replay_options){.entry = take, .tell = o->tell, .pause = should_pause, .arg = &r},
        err);
    struct replay_stop stop;
    struct err ran = {.code = 0};
    if (!replay || (o->begin && o->begin(o->arg, replay, err))) {
        replay_free(replay);
        return -1;
    }
    int failed = replay_run(replay, NULL, &stop, &ran);
    if (r.end >= 0 && failed)
        *err = ran; /* else *err says why the function gave up */
    if (r.end >= 0 && !failed && o->end && o->end(o->arg, replay, &stop, err))
        r.end = -1;
    replay_free(replay);
    if (r.end < 0 || failed)
        return -1;
    return r.end || stop.why == STOP_PAUSED;
}

int entries_ticks(struct asking *q, const struct position *at, uint64_t *out, struct err *err)
{
    char text[POSITION_TEXT];
    struct replay_stop stop;
    struct replay *replay = replay_new(q->study->pinball, &(struct replay_options){0}, err);
    int bad = !replay || replay_run(replay, at, &stop, err);
    replay_free(replay);
    if (bad)
        return -1;
    position_format(at, text);
    *out = stop.ticks;
    return stop.why == STOP_POSITION ? 0 : err_set(err, "%s: it never comes to that", text);
}
