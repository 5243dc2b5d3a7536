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

static void take(void *arg, const struct mailbox_entry *entry, const void *text)
{
    struct reading *r = arg;
    struct debuggee_event event;
    if (r->end)
        return;
    journal_read(entry, text, &event);
    r->end = r->options->fn(r->options->arg, &event, r->err);
    if (r->q->progress)
        r->q->progress(r->q->arg, event.ticks, r->total);
}

static bool has_enough(void *arg)
{
    const struct reading *r = arg;
    return r->end || r->q->interrupted();
}

int entries_replay(struct asking *q, const struct entries_options *o, struct err *err)
{
    struct reading r = {.q = q, .options = o, .err = err};
    const struct past_telling how = {.entry = take, .enough = has_enough, .arg = &r};
    struct past *past = past_new_telling(q->study, o->tell, err);
    struct replay_stop stop;
    struct err ran = {.code = 0};
    r.total = pinball_end_number(q->study->pinball, "ticks", 0);
    if (!past || (o->begin && o->begin(o->arg, past, err))) {
        past_free(past);
        return -1;
    }
    int failed = past_tell(past, NULL, &how, &stop, &ran);
    if (r.end >= 0 && failed)
        *err = ran; /* else *err says why the function gave up */
    if (!r.end && !failed && o->end && o->end(o->arg, past, &stop, err))
        r.end = -1;
    past_free(past);
    if (r.end < 0 || failed)
        return -1;
    return r.end || stop.why == STOP_PAUSED;
}

static void drop(void *arg, const struct mailbox_entry *entry, const void *text)
{
    (void)arg;
    (void)entry;
    (void)text;
}

static bool is_interrupted(void *arg)
{
    return ((const struct asking *)arg)->interrupted();
}

int entries_ticks(struct asking *q, const struct position *at, uint64_t *out, struct err *err)
{
    const struct past_telling how = {.entry = drop, .enough = is_interrupted, .arg = q};
    char text[POSITION_TEXT];
    struct replay_stop stop;
    struct past *past = past_new_telling(q->study, 0, err);
    int bad = !past || past_tell(past, at, &how, &stop, err);
    past_free(past);
    if (bad)
        return -1;
    position_format(at, text);
    *out = stop.ticks;
    return stop.why == STOP_POSITION ? 0 : err_set(err, "%s: it never comes to that", text);
}
