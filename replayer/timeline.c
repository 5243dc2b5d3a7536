/* timeline.c - walk a replay forwards and backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * `now` is a replaying process, stopped at a moment (messages.h). Forwards it runs on. Backwards
 * another process takes its place: a copy of a checkpoint, run up to where it is wanted. What is
 * wanted is found by scans, each from a checkpoint to the place where the last one began; the last
 * hit of the first scan that has one is it.
 *
 * Invariants:
 * 1. A move that fails leaves now as it was: the new process takes over when it has arrived. Only a
 *    forward run has nothing else to fall back on; now is then made again from a checkpoint.
 * 2. Any of the processes may end at any time, killed for want of memory, say. Whatever comes upon
 *    that fails with REPLAY_GONE; then checkpoints that are gone are dropped, the first one and now
 *    are made again, and the move is tried once more.
 * 3. The journal holds the events of the log up to the farthest that was ever executed, each once.
 */
#define _GNU_SOURCE
#include "replayer/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "pinball/pinball.h"
#include "replayer/timeline_divert.h"
#include "replayer/timeline_private.h"

/* ---- forwards ---- */

static int run_on(struct timeline *t, struct mailbox_run *how, struct debuggee_stop *stop,
                  struct err *err)
{
    struct walker w = {t->now, t->program, t->ns};
    struct err again;
    if (t->at_end)
        return timeline_finish(t, stop);
    if (timeline_give_stops(t, t->now, err))
        return -1;
    t->marks = true;
    int result = timeline_walk(t, &w, how, true, err);
    t->marks = false;
    bool exec = !result && replay_stopped(w.replay)->what.reason == STOP_EXEC;
    if (exec)
        result = timeline_enter_program(t, &w, err);
    if (result) {
        t->astray = true;
        if (err->code != REPLAY_GONE && timeline_mend(t, &again))
            err_set(err, "%s; and %s", err->msg, again.msg);
        return -1;
    }
    timeline_arrive(t, &w);
    if (exec)
        t->last.why = STOP_EXEC;
    return timeline_finish(t, stop);
}

/* In a recording that leaves code out, short pieces of that run all the same: nothing stops there.
 */
bool timeline_passes(const struct timeline *t, const struct debuggee_stop *stop)
{
    return t->statements.count &&
           (stop->why == STOP_BREAK || stop->why == STOP_STEP || stop->why == STOP_WATCH) &&
           !statements_have(&t->statements, &stop->at);
}

/* A stop there is one at this place, which is kept. */
int timeline_stop_at(struct timeline *t, uint32_t thread, uint64_t count, uint64_t pc,
                     struct debuggee_stop *stop, struct err *err)
{
    const struct debuggee_stop was = *stop;
    const struct position to = {.thread = thread, .count = count, .pc = pc};
    if (timeline_go_to(t, &(struct wish){.to = &to}, stop, err))
        return -1;
    if (stop->why == STOP_POSITION) {
        t->last.why = stop->why = was.why == STOP_BREAK ? STOP_STEP : was.why;
        t->last.addr = stop->addr = was.addr;
        t->last.watch_kind = stop->watch_kind = was.watch_kind;
    }
    return 0;
}

static int go_on(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                 struct err *err)
{
    struct mailbox_run how = {.step_thread = wish->thread, .low = wish->low, .high = wish->high};
    const struct position from = timeline_now(t)->at;
    int result;
    if (wish->to && replay_goal(wish->to, &how.goal, err))
        return -1;
    do {
        result = run_on(t, &how, stop, err);
    } while (!result && timeline_passes(t, stop) && stop->why == STOP_BREAK && !wish->thread);
    struct kept_statement next;
    const bool passes =
        !result && timeline_passes(t, stop) && (wish->thread || stop->why == STOP_WATCH);
    return passes && statements_next(&t->statements, &from, &stop->at, &next)
               ? timeline_stop_at(t, next.thread, next.count, next.pc, stop, err)
               : result;
}

int timeline_continue(struct timeline *t, struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return timeline_insist(t, go_on, &wish, stop, err);
}

int timeline_continue_to(struct timeline *t, const struct position *to, struct debuggee_stop *stop,
                         struct err *err)
{
    const struct wish wish = {.to = to};
    return timeline_insist(t, go_on, &wish, stop, err);
}

int timeline_step(struct timeline *t, uint32_t thread, uint64_t low, uint64_t high,
                  struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {.thread = thread ? thread : t->at.thread, .low = low, .high = high};
    return timeline_insist(t, go_on, &wish, stop, err);
}

/* ---- going somewhere ---- */

int timeline_at_begin(struct timeline *t, struct debuggee_stop *stop, struct err *err)
{
    struct walker w;
    if (timeline_copy_of(t, 0, &w, err))
        return -1;
    timeline_arrive(t, &w);
    t->last.why = STOP_BEGIN;
    return timeline_finish(t, stop);
}

static int go_to_begin(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                       struct err *err)
{
    (void)wish;
    if (timeline_at_begin(t, stop, err))
        return -1;
    t->last.why = stop->why = STOP_POSITION;
    return 0;
}

/* *is -1: the thread comes to it later, 0: it is there, 1: it has been there. */
static int relation(struct replay *r, const struct position *to, int *is, struct err *err)
{
    struct program_registers regs;
    if (replay_thread_state(r, to->thread, &regs, is, err))
        return -1;
    if (*is == 0 && regs.count != to->count)
        *is = regs.count < to->count ? -1 : 1;
    else if (*is == 0)
        *is = regs.rip < to->pc ? -1 : regs.rip > to->pc;
    return 0;
}

int timeline_compare(struct timeline *t, const struct position *to, int *order, struct err *err)
{
    int is;
    if (relation(timeline_replay(t), to, &is, err))
        return -1;
    if (is == 0 && t->at.thread != to->thread)
        is = 1; /* it waits there for its turn, or for a system call */
    *order = -is;
    return 0;
}

/* The last checkpoint that the thread has not come to the position yet; *is is for the first one of
 * all. */
static int point_before(struct timeline *t, const struct position *to, int *point, int *is,
                        struct err *err)
{
    int lo = -1, hi = (int)t->points.count, here;
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (relation(t->points.list[mid].replay, to, &here, err))
            return -1;
        if (here < 0)
            lo = mid;
        else
            hi = mid;
    }
    *point = lo;
    return relation(t->points.list[0].replay, to, is, err);
}

int timeline_go_to(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                   struct err *err)
{
    const struct position *to = wish->to;
    char text[POSITION_TEXT];
    struct walker w;
    int point, is;
    struct mailbox_run how = {.flags = RUN_SCAN,
                              .goal = {.events = ANY_EVENTS,
                                       .count = to->count,
                                       .pc = to->pc,
                                       .thread = to->thread,
                                       .stage = STAGE_BEFORE}};
    if (position_check(to, err) || point_before(t, to, &point, &is, err))
        return -1;
    if (point < 0 && is == 0)
        return go_to_begin(t, wish, stop, err);
    position_format(to, text);
    if (point < 0)
        return err_set(err, "%s: not in this recording", text);
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    t->marks = true;
    int result = timeline_walk(t, &w, &how, false, err);
    t->marks = false;
    if (!result && !t->interrupted && replay_stopped(w.replay)->what.reason != STOP_POSITION)
        result = err_set(err, "%s: not in this recording", text);
    if (result) {
        replay_free(w.replay);
        return -1;
    }
    timeline_arrive(t, &w);
    return timeline_finish(t, stop);
}

int timeline_goto(struct timeline *t, const struct position *to, struct debuggee_stop *stop,
                  struct err *err)
{
    const struct wish wish = {.to = to};
    return timeline_insist(t, timeline_go_to, &wish, stop, err);
}

int timeline_goto_begin(struct timeline *t, struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return timeline_insist(t, go_to_begin, &wish, stop, err);
}

static int go_to_end(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                     struct err *err)
{
    (void)wish;
    struct mailbox_run how = {.flags = RUN_SCAN};
    struct walker w;
    const int last = (int)t->points.count - 1;
    if (!t->at_end && checkpoints_compare(&t->points.list[last].at, &t->at) > 0) {
        if (timeline_copy_of(t, last, &w, err))
            return -1;
        timeline_arrive(t, &w);
    }
    do {
        if (run_on(t, &how, stop, err))
            return -1;
    } while (stop->why == STOP_EXEC);
    return 0;
}

int timeline_goto_end(struct timeline *t, struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return timeline_insist(t, go_to_end, &wish, stop, err);
}

static int go_to_ticks(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                       struct err *err)
{
    const uint64_t ticks = wish->ticks;
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN, .pause_ticks = ticks};
    int point = (int)t->points.count - 1;
    while (point > 0 && t->points.list[point].ticks >= ticks)
        point--;
    if (t->points.list[point].ticks >= ticks)
        return go_to_begin(t, wish, stop, err);
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    t->marks = true;
    int result = timeline_walk(t, &w, &how, false, err);
    t->marks = false;
    if (result) {
        replay_free(w.replay);
        return -1;
    }
    timeline_arrive(t, &w);
    if (t->last.why == STOP_PAUSED && !t->interrupted)
        t->last.why = STOP_POSITION;
    return timeline_finish(t, stop);
}

int timeline_goto_ticks(struct timeline *t, uint64_t ticks, struct debuggee_stop *stop,
                        struct err *err)
{
    const struct wish wish = {.ticks = ticks};
    return timeline_insist(t, go_to_ticks, &wish, stop, err);
}

/* ---- the timeline itself ---- */

struct timeline *timeline_new(struct pinball *pinball, const struct timeline_options *options,
                              struct err *err)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (!t) {
        err_set(err, "no memory");
        return NULL;
    }
    t->pinball = pinball;
    t->options = *options;
    checkpoints_init(&t->points, options->memory_bytes);
    /* Flags that no instruction reads are shown, too, and must not depend on the way there. */
    snprintf(t->engine, sizeof t->engine, "exact=1%s%s", options->engine ? "," : "",
             options->engine ? options->engine : "");
    struct walker w;
    if (statements_read(pinball, &t->statements, err) ||
        bookmarks_read(&t->bookmarks, pinball, err) || timeline_begin(t, &w, err)) {
        timeline_free(t);
        return NULL;
    }
    timeline_arrive(t, &w);
    return t;
}

void timeline_free(struct timeline *t)
{
    if (!t)
        return;
    checkpoints_deinit(&t->points);
    timeline_divert_end(t);
    replay_free(t->now);
    bookmarks_deinit(&t->bookmarks);
    statements_deinit(&t->statements);
    journal_deinit(&t->journal);
    programs_deinit(&t->programs);
    stoplist_deinit(&t->stops);
    free(t);
}

bool timeline_is_at_end(const struct timeline *t)
{
    return t->at_end;
}

void timeline_grown(struct timeline *t)
{
    t->at_end = false;
}

const struct debuggee_stop *timeline_now(const struct timeline *t)
{
    return &t->last;
}

int timeline_stops(struct timeline *t, const struct debuggee_stops *stops, struct err *err)
{
    return stoplist_set(&t->stops, stops, err);
}

int timeline_stops_as(struct timeline *t, const struct stoplist *stops, struct err *err)
{
    return stoplist_copy(&t->stops, stops, err);
}

struct pinball *timeline_pinball(struct timeline *t)
{
    return t->pinball;
}

struct replay *timeline_replay(struct timeline *t)
{
    struct err err; /* who asks the process gets one of its own */
    if (!t->diversion && (t->astray || replay_gone(t->now))) {
        timeline_say_lost(t, "the replaying process has ended");
        timeline_mend(t, &err);
    }
    return t->diversion ? t->diversion : t->now;
}

void timeline_program(struct timeline *t, struct debuggee_program *out)
{
    const char *counted = pinball_note_get(t->pinball, "instructions");
    programs_get(&t->programs, t->program, out);
    out->instructions = counted ? strtoull(counted, NULL, 10) : 0;
}

int timeline_event(struct timeline *t, size_t *place, struct debuggee_event *event)
{
    return journal_next(&t->journal, place, event);
}

int timeline_bookmark(struct timeline *t, const struct position *at, const char *note,
                      struct err *err)
{
    return position_check(at, err) ? -1 : bookmarks_add(&t->bookmarks, t->pinball, at, note, err);
}

int timeline_statement(struct timeline *t, size_t i, struct debuggee_statement *out)
{
    struct kept_statement s;
    if (!statements_get(&t->statements, i, &s))
        return 0;
    *out = (struct debuggee_statement){
        .at = {.thread = s.thread, .count = s.count, .pc = s.pc},
        .last = {.thread = s.thread, .count = s.last_count, .pc = s.last_pc},
        .depth = s.depth,
        .goes_on = s.how & KEPT_GOES_ON,
        .in_call = s.how & KEPT_IN_CALL};
    return 1;
}

int timeline_statement_at(struct timeline *t, const struct position *at, size_t *i)
{
    return statements_begun(&t->statements, at, i);
}

int timeline_statement_place(struct timeline *t, size_t i, uint64_t *first, uint64_t *last)
{
    return statements_place(&t->statements, i, first, last);
}

int timeline_bookmark_get(struct timeline *t, size_t i, struct position *at, const char **note)
{
    if (i >= t->bookmarks.count)
        return 0;
    *at = t->bookmarks.list[i].at;
    *note = t->bookmarks.list[i].note;
    return 1;
}
