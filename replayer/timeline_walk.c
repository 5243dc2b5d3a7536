/* timeline_walk.c - the processes of a timeline: running them, arriving, and making again what is
 * gone. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "replayer/timeline_divert.h"
#include "replayer/timeline_private.h"

enum {
    NEIGHBOUR_TICKS = 3000, /* a neighbour is not closer than that */
    NEIGHBOUR_RATIO = 4,    /* ... and each is so much closer than the one before */
    TRIES = 8,              /* of a move, when processes end */
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what the replay tells while it runs ---- */

static void take_output(void *arg, int fd, const void *bytes, size_t n)
{
    struct timeline *t = arg;
    if (t->options.listener.output)
        t->options.listener.output(t->options.listener.arg, fd, bytes, n);
}

static void take_message(void *arg, const char *line)
{
    struct timeline *t = arg;
    if (t->options.listener.message)
        t->options.listener.message(t->options.listener.arg, line);
}

static bool take_entry(void *arg, const struct mailbox_entry *e, const void *text)
{
    struct timeline *t = arg;
    const struct position at = {.thread = e->at.thread, .count = e->at.count, .pc = e->at.pc};
    if (t->diversion)
        return true;
    return !(e->kind == EVENT_OUTPUT && statements_hush(&t->statements, &at)) &&
           journal_add(&t->journal, e, text);
}

static bool should_pause(void *arg)
{
    struct timeline *t = arg;
    if (!t->walks)
        return false; /* what takes so long is not the program */
    if (!t->deaf && t->options.listener.interrupted &&
        t->options.listener.interrupted(t->options.listener.arg))
        t->interrupted = true;
    return t->interrupted || (t->marks && clock_ns() >= t->mark_at_ns);
}

/* ---- running ---- */

static int add_checkpoint(struct timeline *t, struct walker *w, enum checkpoint_kind kind,
                          struct err *err)
{
    const struct mailbox_what *at = &replay_stopped(w->replay)->what;
    struct checkpoint c = {
        .at = at->at, .ticks = at->ticks, .ns = w->ns, .program = w->program, .kind = kind};
    return checkpoints_add(&t->points, w->replay, &c, err);
}

void timeline_mark(struct timeline *t, struct walker *w, enum checkpoint_kind kind)
{
    struct err none; /* without the checkpoint, going back takes longer */
    int before = checkpoints_before(&t->points, &replay_stopped(w->replay)->what.at, true);
    if (kind == CHECKPOINT_MARK && before >= 0 &&
        w->ns < t->points.list[before].ns + t->points.apart_ns)
        return;
    add_checkpoint(t, w, kind, &none);
}

int timeline_give_stops(struct timeline *t, struct replay *to, struct err *err)
{
    const struct debuggee_stops none = {0};
    if (!t->stops.count && stoplist_set(&t->stops, &none, err))
        return -1;
    return replay_set_stops(to, t->stops.bytes, t->stops.count, err);
}

int timeline_enter_program(struct timeline *t, struct walker *w, struct err *err)
{
    if (replay_exec(w->replay, err))
        return -1;
    w->program++;
    if (programs_note(&t->programs, w->program, w->replay, t->pinball, err))
        return -1;
    timeline_mark(t, w, CHECKPOINT_BEGIN);
    return timeline_give_stops(t, w->replay, err);
}

int timeline_walk(struct timeline *t, struct walker *w, struct mailbox_run *how, bool execs,
                  struct err *err)
{
    how->flags |= RUN_OUTPUT | RUN_EVENTS | (t->options.grows ? RUN_GROWS : 0);
    t->interrupted = false;
    journal_run(&t->journal);
    for (;;) {
        uint64_t start = clock_ns();
        t->mark_at_ns = start + t->points.apart_ns;
        how->told_events = t->journal.told;
        t->walks = true;
        int result = replay_go(w->replay, how, err);
        t->walks = false;
        if (result)
            return -1;
        w->ns += clock_ns() - start;
        const struct mailbox_what *s = &replay_stopped(w->replay)->what;
        journal_told(&t->journal, s->at.events);
        if (s->reason == STOP_EXEC && !execs) {
            if (timeline_enter_program(t, w, err))
                return -1;
            continue;
        }
        bool ticks = how->pause_ticks && s->ticks >= how->pause_ticks;
        if (s->reason != STOP_PAUSED || t->interrupted || ticks)
            return replay_failure(w->replay, err);
        timeline_mark(t, w, CHECKPOINT_MARK);
        how->flags |= RUN_ON;
    }
}

int timeline_copy_of(struct timeline *t, int point, struct walker *w, struct err *err)
{
    const struct checkpoint *c = &t->points.list[point];
    w->replay = replay_copy(c->replay, err);
    w->program = c->program;
    w->ns = c->ns;
    if (!w->replay || timeline_give_stops(t, w->replay, err)) {
        replay_free(w->replay);
        w->replay = NULL;
        return -1;
    }
    return 0;
}

/* ---- arriving ---- */

void timeline_arrive(struct timeline *t, struct walker *w)
{
    const struct mailbox_stop *s = replay_stopped(w->replay);
    timeline_divert_end(t);
    if (t->now != w->replay)
        replay_free(t->now);
    t->now = w->replay;
    t->astray = false;
    t->program = w->program;
    t->ns = w->ns;
    t->at = s->what.at;
    t->at_end = s->what.reason == STOP_END || s->what.reason == STOP_LOG_END;
    debuggee_stopped(&s->what, &t->last);
    t->last.reason = s->what.reason == STOP_END ? s->end : 0;
    t->last.status = s->status;
}

int timeline_finish(struct timeline *t, struct debuggee_stop *stop)
{
    *stop = t->last;
    return 0;
}

/* Runs w to the moment, and leaves neighbours on the way, closer and closer. */
static int walk_to(struct timeline *t, struct walker *w, const struct mailbox_moment *to,
                   uint64_t ticks, struct err *err)
{
    uint64_t from = replay_stopped(w->replay)->what.ticks;
    uint64_t left = ticks > from ? ticks - from : 0;
    while (left > NEIGHBOUR_RATIO * NEIGHBOUR_TICKS) {
        left /= NEIGHBOUR_RATIO;
        struct mailbox_run how = {.flags = RUN_SCAN, .goal = *to, .pause_ticks = ticks - left};
        if (timeline_walk(t, w, &how, false, err))
            return -1;
        if (t->interrupted || replay_stopped(w->replay)->what.reason != STOP_PAUSED)
            break;
        timeline_mark(t, w, CHECKPOINT_NEIGHBOUR);
    }
    const struct mailbox_what *s = &replay_stopped(w->replay)->what;
    if (t->interrupted || (s->reason == STOP_POSITION && !checkpoints_compare(&s->at, to)))
        return 0;
    struct mailbox_run how = {.flags = RUN_SCAN, .goal = *to};
    return timeline_walk(t, w, &how, false, err);
}

int timeline_move(struct timeline *t, const struct mailbox_moment *to, uint64_t ticks,
                  struct err *err)
{
    struct walker w;
    int point = checkpoints_before(&t->points, to, true);
    if (point < 0)
        return err_set(err, "there is no way back");
    bool there = checkpoints_compare(&t->points.list[point].at, to) == 0;
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    if (!there && walk_to(t, &w, to, ticks, err)) {
        replay_free(w.replay);
        return -1;
    }
    if (!there && !t->interrupted && replay_stopped(w.replay)->what.reason != STOP_POSITION) {
        replay_free(w.replay);
        return err_set(err, "a place that was met before is not met again");
    }
    timeline_arrive(t, &w);
    /* A checkpoint that was left in a pause has that as its reason. */
    t->last.why = t->interrupted ? STOP_PAUSED : STOP_POSITION;
    return 0;
}

/* ---- processes that are gone ---- */

/* Makes the end of the recording now. */
static int move_to_end(struct timeline *t, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN};
    if (timeline_copy_of(t, (int)t->points.count - 1, &w, err))
        return -1;
    if (timeline_walk(t, &w, &how, false, err)) {
        replay_free(w.replay);
        return -1;
    }
    timeline_arrive(t, &w);
    return 0;
}

/* Makes another process for now: the one there was has run on, or is gone. */
static int restore(struct timeline *t, struct err *err)
{
    const struct debuggee_stop last = t->last;
    const struct mailbox_moment at = t->at;
    t->deaf = true;
    int result = t->at_end ? move_to_end(t, err) : timeline_move(t, &at, last.ticks, err);
    t->deaf = false;
    t->last = last;
    return result;
}

int timeline_first(struct timeline *t, struct walker *w, struct err *err)
{
    const struct replay_options o = {.output = take_output,
                                     .message = take_message,
                                     .entry = take_entry,
                                     .pause = should_pause,
                                     .arg = t,
                                     .copies = true,
                                     .engine = t->engine};
    *w = (struct walker){.replay = replay_new(t->pinball, &o, err)};
    if (!w->replay)
        return -1;
    if (!programs_note(&t->programs, 0, w->replay, t->pinball, err) &&
        !add_checkpoint(t, w, CHECKPOINT_BEGIN, err))
        return 0;
    replay_free(w->replay);
    return -1;
}

int timeline_begin(struct timeline *t, struct walker *w, struct err *err)
{
    for (int tries = 1; timeline_first(t, w, err); tries++) {
        if (err->code != REPLAY_GONE || tries == TRIES)
            return -1;
        timeline_say_lost(t, err->msg);
    }
    return 0;
}

static bool has_begin(const struct timeline *t, unsigned program)
{
    for (size_t i = 0; i < t->points.count; i++)
        if (t->points.list[i].kind == CHECKPOINT_BEGIN && t->points.list[i].program == program)
            return true;
    return false;
}

/* A checkpoint at the begin of a program that was executed before. */
static int begin_again(struct timeline *t, unsigned program, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN};
    int point = (int)t->points.count - 1, result = 0;
    while (point > 0 && t->points.list[point].program >= program)
        point--;
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    t->deaf = true;
    while (!result && w.program < program) {
        result = timeline_walk(t, &w, &how, true, err);
        if (!result && replay_stopped(w.replay)->what.reason != STOP_EXEC)
            result = err_set(err, "a program that was met before is not met again");
        result = result ? -1 : timeline_enter_program(t, &w, err);
    }
    t->deaf = false;
    if (!result && !has_begin(t, program))
        result = add_checkpoint(t, &w, CHECKPOINT_BEGIN, err);
    replay_free(w.replay);
    return result;
}

int timeline_last_before(struct timeline *t, const struct mailbox_moment *at, bool or_at,
                         unsigned program, struct err *err)
{
    int point = checkpoints_before(&t->points, at, or_at);
    if (point < 0 || t->points.list[point].program == program || has_begin(t, program))
        return point;
    return begin_again(t, program, err) ? -2 : checkpoints_before(&t->points, at, or_at);
}

int timeline_mend(struct timeline *t, struct err *err)
{
    struct walker w;
    checkpoints_drop_gone(&t->points);
    const struct checkpoint *first = t->points.list;
    if (!t->points.count || first->kind != CHECKPOINT_BEGIN || first->program) {
        if (timeline_first(t, &w, err))
            return -1;
        replay_free(w.replay);
    }
    return t->astray || replay_gone(t->now) ? restore(t, err) : 0;
}

void timeline_say_lost(struct timeline *t, const char *why)
{
    char line[sizeof((struct err *)0)->msg + 64];
    snprintf(line, sizeof line, "%s; what it was for is done again", why);
    take_message(t, line);
}

int timeline_insist(struct timeline *t, mover *go, const struct wish *wish,
                    struct debuggee_stop *stop, struct err *err)
{
    for (int tries = 1;; tries++) {
        if ((tries == 1 && !t->astray) || timeline_mend(t, err) == 0)
            if (go(t, wish, stop, err) == 0)
                return 0;
        if (err->code != REPLAY_GONE || tries == TRIES)
            return -1;
        timeline_say_lost(t, err->msg);
    }
}
