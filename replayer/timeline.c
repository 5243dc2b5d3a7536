/* timeline.c - walk a replay forwards and backwards.
 *
 * SPDX-License-Identifier: MIT
 *
 * `now` is a replaying process, stopped at a moment (mailbox.h). Forwards it runs on. Backwards
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
#include <string.h>
#include <time.h>

#include "pinball/pinball.h"
#include "replayer/bookmarks.h"
#include "replayer/checkpoints.h"
#include "replayer/journal.h"
#include "replayer/programs.h"
#include "replayer/stoplist.h"
#include "replayer/timeline_private.h"

enum {
    TRAIL_TICKS = 8,         /* of a thread, that are stepped through to find what was before */
    NEIGHBOUR_TICKS = 3000,  /* a neighbour is not closer than that */
    NEIGHBOUR_RATIO = 4,     /* ... and each is so much closer than the one before */
    TRAIL_DISTANCE = 100000, /* ticks; a trail that begins farther away gets a neighbour */
    TRIES = 8,               /* of a move, when processes end */
};

struct timeline {
    struct pinball *pinball;
    struct timeline_options options;
    char engine[512]; /* its options */
    struct checkpoints points;
    struct journal journal;
    struct programs programs;
    struct stoplist stops;
    struct replay *now;
    struct mailbox_moment at; /* of now */
    struct timeline_stop last;
    unsigned program; /* that runs now */
    uint64_t ns;      /* that it takes to replay up to now */
    bool at_end;
    bool astray; /* the process of now is not there: a move has failed on the way */
    struct bookmarks bookmarks;
    struct replay *diversion, *parked;
    /* While something runs. */
    bool walks, interrupted, marks, deaf; /* deaf: nothing interrupts it */
    uint64_t mark_at_ns;                  /* on the clock */
    /* Where a thread was, one instruction after the other, up to trail_end. */
    struct mailbox_moment trail[MAILBOX_TRAIL], trail_end;
    size_t trail_count;
    uint32_t trail_thread;
    uint64_t trail_stops; /* which stops it was made with */
    struct mailbox_what trail_hit;
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
    if (t->options.output)
        t->options.output(t->options.arg, fd, bytes, n);
}

static void take_message(void *arg, const char *line)
{
    struct timeline *t = arg;
    if (t->options.message)
        t->options.message(t->options.arg, line);
}

static bool take_entry(void *arg, const struct mailbox_entry *e, const void *text)
{
    struct timeline *t = arg;
    return t->diversion || journal_add(&t->journal, e, text);
}

static bool should_pause(void *arg)
{
    struct timeline *t = arg;
    if (!t->walks)
        return false; /* what takes so long is not the program */
    if (!t->deaf && t->options.interrupted && t->options.interrupted(t->options.arg))
        t->interrupted = true;
    return t->interrupted || (t->marks && clock_ns() >= t->mark_at_ns);
}

/* ---- running ---- */

/* A process on its way. */
struct walker {
    struct replay *replay;
    unsigned program;
    uint64_t ns;
};

static void mark(struct timeline *t, struct walker *w, enum checkpoint_kind kind)
{
    const struct mailbox_what *at = &replay_stopped(w->replay)->what;
    int before = checkpoints_before(&t->points, &at->at, true);
    if (kind == CHECKPOINT_MARK && before >= 0 &&
        w->ns < t->points.list[before].ns + t->points.apart_ns)
        return;
    struct checkpoint c = {
        .at = at->at, .ticks = at->ticks, .ns = w->ns, .program = w->program, .kind = kind};
    checkpoints_add(&t->points, w->replay, &c);
}

static int enter_program(struct timeline *t, struct walker *w, struct err *err)
{
    if (replay_exec(w->replay, err))
        return -1;
    w->program++;
    if (programs_note(&t->programs, w->program, w->replay, t->pinball, err))
        return -1;
    mark(t, w, CHECKPOINT_BEGIN);
    return stoplist_give(&t->stops, w->replay, err);
}

/* Runs until a stop that means something: not a pause to leave a mark. A pause that is left is an
 * interruption, or the ticks that were asked for. An exec is passed, unless `execs`. */
static int walk(struct timeline *t, struct walker *w, struct mailbox_run *how, bool execs,
                struct err *err)
{
    how->flags |= RUN_OUTPUT | RUN_EVENTS;
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
            if (enter_program(t, w, err))
                return -1;
            continue;
        }
        bool ticks = how->pause_ticks && s->ticks >= how->pause_ticks;
        if (s->reason != STOP_PAUSED || t->interrupted || ticks)
            return replay_failure(w->replay, err);
        mark(t, w, CHECKPOINT_MARK);
        how->flags |= RUN_ON;
    }
}

static int copy_of(struct timeline *t, int point, struct walker *w, struct err *err)
{
    const struct checkpoint *c = &t->points.list[point];
    w->replay = replay_copy(c->replay, err);
    w->program = c->program;
    w->ns = c->ns;
    if (!w->replay || stoplist_give(&t->stops, w->replay, err)) {
        replay_free(w->replay);
        w->replay = NULL;
        return -1;
    }
    return 0;
}

/* ---- arriving ---- */

static void fill(const struct mailbox_what *w, struct timeline_stop *out)
{
    static const enum timeline_why why[] = {
        [STOP_STEP] = TIMELINE_STEP,          [STOP_BREAK] = TIMELINE_BREAK,
        [STOP_WATCH] = TIMELINE_WATCH,        [STOP_ENTRY] = TIMELINE_CALL_ENTRY,
        [STOP_RETURN] = TIMELINE_CALL_RETURN, [STOP_SIGNAL] = TIMELINE_SIGNAL,
        [STOP_PAUSED] = TIMELINE_INTERRUPTED, [STOP_END] = TIMELINE_END,
        [STOP_LOG_ENDS] = TIMELINE_END,       [STOP_EXEC] = TIMELINE_EXEC,
    };
    *out = (struct timeline_stop){.at = {w->at.thread, w->at.count, w->at.pc},
                                  .ticks = w->ticks,
                                  .events = w->at.events,
                                  .addr = w->addr,
                                  .watch_kind = (enum timeline_watch_kind)w->kind};
    out->why = w->reason < sizeof why / sizeof *why ? why[w->reason] : TIMELINE_POSITION;
    if (w->reason == STOP_SIGNAL)
        out->signal = (int)w->number;
    else
        out->call = (long)w->number;
    memcpy(out->siginfo, w->siginfo, sizeof out->siginfo);
}

/* The walker's place is now. */
static void arrive(struct timeline *t, struct walker *w)
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
    t->at_end = s->what.reason == STOP_END || s->what.reason == STOP_LOG_ENDS;
    fill(&s->what, &t->last);
    t->last.reason = s->what.reason == STOP_END ? s->end : 0;
    t->last.status = s->status;
}

static int finish(struct timeline *t, struct timeline_stop *stop)
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
        if (walk(t, w, &how, false, err))
            return -1;
        if (t->interrupted || replay_stopped(w->replay)->what.reason != STOP_PAUSED)
            break;
        mark(t, w, CHECKPOINT_NEIGHBOUR);
    }
    const struct mailbox_what *s = &replay_stopped(w->replay)->what;
    if (t->interrupted || (s->reason == STOP_POSITION && !checkpoints_compare(&s->at, to)))
        return 0;
    struct mailbox_run how = {.flags = RUN_SCAN, .goal = *to};
    return walk(t, w, &how, false, err);
}

/* Makes the moment now. */
static int move(struct timeline *t, const struct mailbox_moment *to, uint64_t ticks,
                struct err *err)
{
    struct walker w;
    int point = checkpoints_before(&t->points, to, true);
    if (point < 0)
        return err_set(err, "there is no way back");
    bool there = checkpoints_compare(&t->points.list[point].at, to) == 0;
    if (copy_of(t, point, &w, err))
        return -1;
    if (!there && walk_to(t, &w, to, ticks, err)) {
        replay_free(w.replay);
        return -1;
    }
    if (!there && !t->interrupted && replay_stopped(w.replay)->what.reason != STOP_POSITION) {
        replay_free(w.replay);
        return err_set(err, "a place that was met before is not met again");
    }
    arrive(t, &w);
    if (t->interrupted)
        t->last.why = TIMELINE_INTERRUPTED;
    return 0;
}

/* ---- processes that are gone ---- */

/* Makes the end of the recording now. */
static int move_to_end(struct timeline *t, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN};
    if (copy_of(t, (int)t->points.count - 1, &w, err))
        return -1;
    if (walk(t, &w, &how, false, err)) {
        replay_free(w.replay);
        return -1;
    }
    arrive(t, &w);
    return 0;
}

/* Makes another process for now: the one there was has run on, or is gone. */
static int restore(struct timeline *t, struct err *err)
{
    const struct timeline_stop last = t->last;
    const struct mailbox_moment at = t->at;
    t->deaf = true;
    int result = t->at_end ? move_to_end(t, err) : move(t, &at, last.ticks, err);
    t->deaf = false;
    t->last = last;
    return result;
}

/* A process at the recording's begin, and a checkpoint there. */
static int begin(struct timeline *t, struct walker *w, struct err *err)
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
    if (programs_note(&t->programs, 0, w->replay, t->pinball, err) == 0) {
        mark(t, w, CHECKPOINT_BEGIN);
        if (t->points.count && t->points.list[0].kind == CHECKPOINT_BEGIN)
            return 0;
        err_set(err, "no copy of the replaying process can be made");
    }
    replay_free(w->replay);
    return -1;
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
    if (copy_of(t, point, &w, err))
        return -1;
    t->deaf = true;
    while (!result && w.program < program) {
        result = walk(t, &w, &how, true, err);
        if (!result && replay_stopped(w.replay)->what.reason != STOP_EXEC)
            result = err_set(err, "a program that was met before is not met again");
        result = result ? -1 : enter_program(t, &w, err);
    }
    t->deaf = false;
    replay_free(w.replay);
    if (!result && !has_begin(t, program))
        result = err_set(err, "no copy of the replaying process can be made");
    return result;
}

/* The last checkpoint before `at` (or at it). If that is in another program than `program`, then
 * there is nothing of that one before it. -1: no checkpoint; -2 with *err set. */
static int last_before(struct timeline *t, const struct mailbox_moment *at, bool or_at,
                       unsigned program, struct err *err)
{
    int point = checkpoints_before(&t->points, at, or_at);
    if (point < 0 || t->points.list[point].program == program || has_begin(t, program))
        return point;
    return begin_again(t, program, err) ? -2 : checkpoints_before(&t->points, at, or_at);
}

/* Drops what is gone, and makes again what is always there. */
static int mend(struct timeline *t, struct err *err)
{
    struct walker w;
    checkpoints_drop_gone(&t->points);
    const struct checkpoint *first = t->points.list;
    if (!t->points.count || first->kind != CHECKPOINT_BEGIN || first->program) {
        if (begin(t, &w, err))
            return -1;
        replay_free(w.replay);
    }
    return t->astray || replay_gone(t->now) ? restore(t, err) : 0;
}

/* What a move is to do. */
struct wish {
    uint32_t thread;
    uint64_t low, high, ticks;
    const struct position *to;
};

typedef int mover(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                  struct err *err);

static void say_lost(struct timeline *t, const char *why)
{
    char line[sizeof((struct err *)0)->msg + 64];
    snprintf(line, sizeof line, "%s; what it was for is done again", why);
    take_message(t, line);
}

static int insist(struct timeline *t, mover *go, const struct wish *wish,
                  struct timeline_stop *stop, struct err *err)
{
    for (int tries = 1;; tries++) {
        if ((tries == 1 && !t->astray) || mend(t, err) == 0)
            if (go(t, wish, stop, err) == 0)
                return 0;
        if (err->code != REPLAY_GONE || tries == TRIES)
            return -1;
        say_lost(t, err->msg);
    }
}

/* ---- forwards ---- */

static int run_on(struct timeline *t, struct mailbox_run *how, struct timeline_stop *stop,
                  struct err *err)
{
    struct walker w = {t->now, t->program, t->ns};
    struct err again;
    if (t->at_end)
        return finish(t, stop);
    if (stoplist_give(&t->stops, t->now, err))
        return -1;
    t->marks = true;
    int result = walk(t, &w, how, true, err);
    t->marks = false;
    bool exec = !result && replay_stopped(w.replay)->what.reason == STOP_EXEC;
    if (exec)
        result = enter_program(t, &w, err);
    if (result) {
        t->astray = true;
        if (err->code != REPLAY_GONE && mend(t, &again))
            err_set(err, "%s; and %s", err->msg, again.msg);
        return -1;
    }
    arrive(t, &w);
    if (exec)
        t->last.why = TIMELINE_EXEC;
    return finish(t, stop);
}

static int go_on(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                 struct err *err)
{
    struct mailbox_run how = {.step_thread = wish->thread, .low = wish->low, .high = wish->high};
    return run_on(t, &how, stop, err);
}

int timeline_continue(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return insist(t, go_on, &wish, stop, err);
}

int timeline_step(struct timeline *t, uint32_t thread, uint64_t low, uint64_t high,
                  struct timeline_stop *stop, struct err *err)
{
    const struct wish wish = {.thread = thread ? thread : t->at.thread, .low = low, .high = high};
    return insist(t, go_on, &wish, stop, err);
}

/* ---- backwards ---- */

/* The last hit between a checkpoint and `end`, if any; the end of the program, or of the recording,
 * if that is not met or NULL. 1: there is one, 0: none, -1. */
static int scan(struct timeline *t, int point, const struct mailbox_moment *end,
                struct mailbox_what *hit, struct mailbox_what *last, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN};
    if (end)
        how.goal = *end;
    if (copy_of(t, point, &w, err))
        return -1;
    int result = walk(t, &w, &how, true, err);
    if (!result) {
        const struct mailbox_stop *s = replay_stopped(w.replay);
        *hit = s->hit;
        *last = s->what;
        result = hit->reason != 0;
    }
    replay_free(w.replay);
    return result;
}

static int at_begin(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    struct walker w;
    if (copy_of(t, 0, &w, err))
        return -1;
    arrive(t, &w);
    t->last.why = TIMELINE_BEGIN;
    return finish(t, stop);
}

static int go_to_begin(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                       struct err *err)
{
    (void)wish;
    if (at_begin(t, stop, err))
        return -1;
    t->last.why = stop->why = TIMELINE_POSITION;
    return 0;
}

static int go_to_hit(struct timeline *t, const struct mailbox_what *hit, struct timeline_stop *stop,
                     struct err *err)
{
    if (move(t, &hit->at, hit->ticks, err))
        return -1;
    if (t->last.why != TIMELINE_INTERRUPTED)
        fill(hit, &t->last);
    return finish(t, stop);
}

static mover go_to;

/* The program before: to the place where it is about to become this one. */
static int back_over_exec(struct timeline *t, const struct mailbox_what *exec,
                          struct timeline_stop *stop, struct err *err)
{
    struct position at = {exec->at.thread, exec->at.count, exec->at.pc};
    const struct wish wish = {.to = &at};
    if (go_to(t, &wish, stop, err))
        return -1;
    t->last.why = stop->why = TIMELINE_EXEC;
    return 0;
}

static int back(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                struct err *err)
{
    (void)wish;
    struct mailbox_moment end = t->at;
    struct mailbox_what hit, last = {0};
    bool to_end = t->at_end;
    unsigned program = t->program;
    for (;;) {
        int point = last_before(t, &end, to_end, program, err);
        if (point < 0)
            return point == -1 ? at_begin(t, stop, err) : -1;
        const struct mailbox_moment from = t->points.list[point].at;
        bool other = t->points.list[point].program != program;
        const struct mailbox_moment *goal = other || to_end ? NULL : &end;
        int found = scan(t, point, goal, &hit, &last, err);
        if (found < 0)
            return -1;
        if (t->interrupted) {
            if (checkpoints_compare(&end, &t->at) && move(t, &end, 0, err))
                return -1;
            t->last.why = TIMELINE_INTERRUPTED;
            return finish(t, stop);
        }
        if (other)
            return back_over_exec(t, &last, stop, err);
        if (found)
            return go_to_hit(t, &hit, stop, err);
        end = from;
        to_end = false;
    }
}

int timeline_back(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return insist(t, back, &wish, stop, err);
}

/* ---- one instruction back ---- */

/* Before now, and not just an earlier stage of the same instruction. */
static bool is_earlier(const struct timeline *t, const struct mailbox_moment *m)
{
    bool same = m->thread == t->at.thread && m->count == t->at.count && m->pc == t->at.pc;
    return !same && checkpoints_compare(m, &t->at) < 0;
}

static bool trail_is_good(const struct timeline *t, uint32_t thread)
{
    return t->trail_count && t->trail_thread == thread && t->trail_stops == t->stops.serial &&
           checkpoints_compare(&t->at, &t->trail_end) <= 0 && is_earlier(t, &t->trail[0]) &&
           (!t->trail_hit.reason || checkpoints_compare(&t->trail_hit.at, &t->at) < 0);
}

/* To a few ticks before the place where the thread is now, if that is not behind it already. */
static int approach(struct timeline *t, struct walker *w, uint32_t thread, uint64_t count,
                    struct err *err)
{
    struct replay_registers regs;
    struct err none;
    uint64_t from = replay_stopped(w->replay)->what.ticks;
    uint64_t wanted = count > TRAIL_TICKS ? count - TRAIL_TICKS : 0;
    if (replay_registers(w->replay, thread, &regs, &none) == 0 && regs.count >= wanted)
        return 0;
    struct mailbox_run how = {
        .flags = RUN_SCAN,
        .goal = {.events = ANY_EVENTS, .count = wanted, .thread = thread, .stage = STAGE_BEFORE}};
    if (!wanted || walk(t, w, &how, true, err))
        return wanted ? -1 : 0;
    if (!t->interrupted && replay_stopped(w->replay)->what.ticks - from > TRAIL_DISTANCE)
        mark(t, w, CHECKPOINT_NEIGHBOUR);
    return 0;
}

/* Fills the trail from the checkpoint on. */
static int follow(struct timeline *t, int point, uint32_t thread, uint64_t count, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN, .step_thread = thread};
    if (!t->at_end)
        how.goal = t->at;
    if (copy_of(t, point, &w, err))
        return -1;
    if (approach(t, &w, thread, count, err) || t->interrupted || walk(t, &w, &how, true, err)) {
        replay_free(w.replay);
        return t->interrupted ? 0 : -1;
    }
    if (replay_trail(w.replay, t->trail, &t->trail_count, err)) {
        t->trail_count = 0;
        replay_free(w.replay);
        return -1;
    }
    while (t->trail_count && !is_earlier(t, &t->trail[t->trail_count - 1]))
        t->trail_count--;
    t->trail_hit = replay_stopped(w.replay)->hit;
    t->trail_thread = thread;
    t->trail_end = t->at;
    t->trail_stops = t->stops.serial;
    replay_free(w.replay);
    return 0;
}

static int make_trail(struct timeline *t, uint32_t thread, struct err *err)
{
    struct replay_registers regs;
    int point = last_before(t, &t->at, t->at_end, t->program, err);
    if (point == -2 || replay_registers(t->now, thread, &regs, err))
        return -1;
    for (t->trail_count = 0; point >= 0 && !t->trail_count;) {
        const struct mailbox_moment from = t->points.list[point].at;
        if (t->points.list[point].program != t->program)
            return 0;
        if (follow(t, point, thread, regs.count, err))
            return -1;
        if (t->interrupted || t->trail_hit.reason)
            return 0;
        point = last_before(t, &from, false, t->program, err);
    }
    return point == -2 ? -1 : 0;
}

static int step_back(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                     struct err *err)
{
    const uint32_t thread = wish->thread;
    if (!trail_is_good(t, thread) && make_trail(t, thread, err))
        return -1;
    if (t->interrupted) {
        t->last.why = TIMELINE_INTERRUPTED;
        return finish(t, stop);
    }
    size_t n = t->trail_count;
    while (n && !is_earlier(t, &t->trail[n - 1]))
        n--;
    const struct mailbox_what *hit = &t->trail_hit;
    if (hit->reason && (!n || checkpoints_compare(&hit->at, &t->trail[n - 1]) >= 0)) {
        const struct mailbox_what there = *hit;
        return go_to_hit(t, &there, stop, err);
    }
    if (!n && t->program == t->points.list[0].program) {
        t->last.why = TIMELINE_BEGIN; /* of this thread */
        return finish(t, stop);
    }
    if (!n)
        return back(t, wish, stop, err);
    if (move(t, &t->trail[n - 1], t->last.ticks, err))
        return -1;
    if (t->last.why != TIMELINE_INTERRUPTED)
        t->last.why = TIMELINE_STEP;
    return finish(t, stop);
}

int timeline_step_back(struct timeline *t, uint32_t thread, struct timeline_stop *stop,
                       struct err *err)
{
    const struct wish wish = {.thread = thread ? thread : t->at.thread};
    return insist(t, step_back, &wish, stop, err);
}

/* ---- going somewhere ---- */

/* *is -1: the thread comes to it later, 0: it is there, 1: it has been there. */
static int relation(struct replay *r, const struct position *to, int *is, struct err *err)
{
    struct replay_registers regs;
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

static int go_to(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
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
    if (point_before(t, to, &point, &is, err))
        return -1;
    if (point < 0 && is == 0)
        return go_to_begin(t, wish, stop, err);
    position_format(to, text);
    if (point < 0)
        return err_set(err, "%s: not in this recording", text);
    if (copy_of(t, point, &w, err))
        return -1;
    t->marks = true;
    int result = walk(t, &w, &how, false, err);
    t->marks = false;
    if (!result && !t->interrupted && replay_stopped(w.replay)->what.reason != STOP_POSITION)
        result = err_set(err, "%s: not in this recording", text);
    if (result) {
        replay_free(w.replay);
        return -1;
    }
    arrive(t, &w);
    return finish(t, stop);
}

int timeline_goto(struct timeline *t, const struct position *to, struct timeline_stop *stop,
                  struct err *err)
{
    const struct wish wish = {.to = to};
    return insist(t, go_to, &wish, stop, err);
}

int timeline_goto_begin(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return insist(t, go_to_begin, &wish, stop, err);
}

static int go_to_end(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
                     struct err *err)
{
    (void)wish;
    struct mailbox_run how = {.flags = RUN_SCAN};
    do {
        if (run_on(t, &how, stop, err))
            return -1;
    } while (stop->why == TIMELINE_EXEC);
    return 0;
}

int timeline_goto_end(struct timeline *t, struct timeline_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return insist(t, go_to_end, &wish, stop, err);
}

static int go_to_ticks(struct timeline *t, const struct wish *wish, struct timeline_stop *stop,
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
    if (copy_of(t, point, &w, err))
        return -1;
    t->marks = true;
    int result = walk(t, &w, &how, false, err);
    t->marks = false;
    if (result) {
        replay_free(w.replay);
        return -1;
    }
    arrive(t, &w);
    if (t->last.why == TIMELINE_INTERRUPTED && !t->interrupted)
        t->last.why = TIMELINE_POSITION;
    return finish(t, stop);
}

int timeline_goto_ticks(struct timeline *t, uint64_t ticks, struct timeline_stop *stop,
                        struct err *err)
{
    const struct wish wish = {.ticks = ticks};
    return insist(t, go_to_ticks, &wish, stop, err);
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
    if (bookmarks_read(&t->bookmarks, pinball, err) || begin(t, &w, err)) {
        timeline_free(t);
        return NULL;
    }
    arrive(t, &w);
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
    journal_deinit(&t->journal);
    programs_deinit(&t->programs);
    stoplist_deinit(&t->stops);
    free(t);
}

const struct timeline_stop *timeline_now(const struct timeline *t)
{
    return &t->last;
}

int timeline_stops(struct timeline *t, const struct timeline_stops *stops, struct err *err)
{
    return stoplist_set(&t->stops, stops, err);
}

struct pinball *timeline_pinball(struct timeline *t)
{
    return t->pinball;
}

struct replay *timeline_replay(struct timeline *t)
{
    struct err err; /* who asks the process gets one of its own */
    if (!t->diversion && (t->astray || replay_gone(t->now))) {
        say_lost(t, "the replaying process has ended");
        mend(t, &err);
    }
    return t->diversion ? t->diversion : t->now;
}

void timeline_program(struct timeline *t, struct timeline_program *out)
{
    const char *counted = pinball_note_get(t->pinball, "instructions");
    programs_get(&t->programs, t->program, out);
    out->instructions = counted ? strtoull(counted, NULL, 10) : 0;
}

int timeline_event(struct timeline *t, size_t *place, struct timeline_event *event)
{
    return journal_next(&t->journal, place, event);
}

int timeline_bookmark(struct timeline *t, const struct position *at, const char *note,
                      struct err *err)
{
    return bookmarks_add(&t->bookmarks, t->pinball, at, note, err);
}

int timeline_bookmark_get(struct timeline *t, size_t i, struct position *at, const char **note)
{
    if (i >= t->bookmarks.count)
        return 0;
    *at = t->bookmarks.list[i].at;
    *note = t->bookmarks.list[i].note;
    return 1;
}

/* ---- diversions ---- */

int timeline_divert(struct timeline *t, struct err *err)
{
    if (t->diversion)
        return 0;
    t->diversion = replay_copy(timeline_replay(t), err);
    if (!t->diversion)
        return -1;
    if (stoplist_give(&t->stops, t->diversion, err) || replay_divert(t->diversion, err)) {
        timeline_divert_end(t);
        return -1;
    }
    return 0;
}

bool timeline_diverted(const struct timeline *t)
{
    return t->diversion != NULL;
}

void timeline_divert_end(struct timeline *t)
{
    replay_free(t->diversion);
    replay_free(t->parked);
    t->diversion = t->parked = NULL;
}

void timeline_divert_park(struct timeline *t)
{
    t->parked = t->diversion;
    t->diversion = NULL;
}

void timeline_divert_unpark(struct timeline *t)
{
    t->diversion = t->parked;
    t->parked = NULL;
}

size_t timeline_write(struct timeline *t, uint64_t addr, const void *bytes, size_t n)
{
    return t->diversion ? replay_write(t->diversion, addr, bytes, n) : 0;
}

int timeline_set_registers(struct timeline *t, uint32_t thread,
                           const struct replay_registers *registers, struct err *err)
{
    if (!t->diversion)
        return err_set(err, "a recording cannot be changed");
    return replay_set_registers(t->diversion, thread, registers, err);
}

int timeline_divert_run(struct timeline *t, uint32_t thread, bool step, struct timeline_stop *stop,
                        struct err *err)
{
    struct mailbox_run how = {.flags = RUN_OUTPUT,
                              .run_thread = thread,
                              .step_thread = step ? (thread ? thread : t->at.thread) : 0};
    if (!t->diversion)
        return err_set(err, "there is no diversion");
    t->interrupted = false;
    if (stoplist_give(&t->stops, t->diversion, err))
        return -1;
    t->walks = true;
    int result = replay_go(t->diversion, &how, err);
    t->walks = false;
    if (result || replay_failure(t->diversion, err))
        return -1;
    fill(&replay_stopped(t->diversion)->what, stop);
    return 0;
}
