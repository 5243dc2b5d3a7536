/* cut.c - a part of a recording, as a recording. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "replayer/cut.h"

#include "pinball/text.h"
#include "replayer/derived.h"

static int go(struct derived *d, const struct position *to, struct replay_stop *stop,
              struct err *err)
{
    char text[POSITION_TEXT];
    if (replay_run(d->replay, to, stop, err))
        return -1;
    position_format(to, text);
    return stop->why == STOP_POSITION ? 0 : err_set(err, "%s: not in this recording", text);
}

static int write_all(struct derived *d, const struct replay_stop *at, const struct position *to,
                     struct err *err)
{
    struct replay_stop end = {.events = UINT64_MAX};
    d->copied = at->events;
    if (derived_put_begin(d, err) || (to && go(d, to, &end, err)) ||
        derived_put_log(d, end.events, err) ||
        (to && (derived_put_end(d, end.ticks, err) || derived_put_kept(d, err))))
        return -1;
    return derived_finish(d, err);
}

int cut(struct pinball *pinball, const char *dir, const struct cut_options *options,
        struct err *err)
{
    struct derived d = {.message = options->message, .arg = options->arg};
    struct replay_stop at;
    struct text more = {0};
    char from[POSITION_TEXT];
    position_format(options->from, from);
    text_addf(&more, "part_of", "%s", pinball_path(pinball));
    text_add(&more, "part_from", from);
    int bad = derived_init(&d, pinball, err) || go(&d, options->from, &at, err) ||
              derived_create(&d, dir, &more, err) || write_all(&d, &at, options->to, err);
    derived_deinit(&d, !bad);
    text_deinit(&more);
    return bad ? -1 : 0;
}
