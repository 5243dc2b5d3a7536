/* timeline_back.c - a replay backwards: to the last stop before, and by one instruction.
 * SPDX-License-Identifier: MIT */
#include "replayer/timeline_private.h"

enum {
    TRAIL_TICKS = 8,         /* of a thread, that are stepped through to find what was before */
    TRAIL_DISTANCE = 100000, /* ticks; a trail that begins farther away gets a neighbour */
};

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
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    int result = timeline_walk(t, &w, &how, true, err);
    if (!result) {
        const struct mailbox_stop *s = replay_stopped(w.replay);
        *hit = s->hit;
        *last = s->what;
        result = hit->reason != 0;
    }
    replay_free(w.replay);
    return result;
}

int timeline_go_to_hit(struct timeline *t, const struct mailbox_what *hit,
                       struct debuggee_stop *stop, struct err *err)
{
    if (timeline_move(t, &hit->at, hit->ticks, err))
        return -1;
    if (t->last.why != STOP_PAUSED)
        debuggee_stopped(hit, &t->last);
    return timeline_finish(t, stop);
}

/* As timeline_passes(). */
static bool passes(const struct timeline *t, const struct mailbox_what *hit)
{
    const struct debuggee_stop stop = {
        .why = (enum stop_kind)hit->reason,
        .at = {.thread = hit->at.thread, .count = hit->at.count, .pc = hit->at.pc}};
    return timeline_passes(t, &stop);
}

/* To before the last instruction of the statement before a place; or to the begin. */
static int to_statement_before(struct timeline *t, const struct position *at,
                               struct debuggee_stop *stop, struct err *err)
{
    struct kept_statement k;
    return statements_before(&t->statements, at, &k)
               ? timeline_stop_at(t, k.thread, k.last_count, k.last_pc, stop, err)
               : timeline_at_begin(t, stop, err);
}

/* What is left out has written there. */
static int back_to_write(struct timeline *t, const struct mailbox_what *hit,
                         struct debuggee_stop *stop, struct err *err)
{
    return timeline_go_to_hit(t, hit, stop, err) || to_statement_before(t, &stop->at, stop, err)
               ? -1
               : 0;
}

/* The program before: to the place where it is about to become this one. */
static int back_over_exec(struct timeline *t, const struct mailbox_what *exec,
                          struct debuggee_stop *stop, struct err *err)
{
    struct position at = {.thread = exec->at.thread, .count = exec->at.count, .pc = exec->at.pc};
    const struct wish wish = {.to = &at};
    if (timeline_go_to(t, &wish, stop, err))
        return -1;
    t->last.why = stop->why = STOP_EXEC;
    return 0;
}

static int back(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                struct err *err)
{
    (void)wish;
    struct mailbox_moment end = t->at;
    struct mailbox_what hit, last = {0};
    bool to_end = t->at_end;
    unsigned program = t->program;
    for (;;) {
        int point = timeline_last_before(t, &end, to_end, program, err);
        if (point < 0)
            return point == -1 ? timeline_at_begin(t, stop, err) : -1;
        const struct mailbox_moment from = t->points.list[point].at;
        bool other = t->points.list[point].program != program;
        const struct mailbox_moment *goal = other || to_end ? NULL : &end;
        int found = scan(t, point, goal, &hit, &last, err);
        if (found < 0)
            return -1;
        if (t->interrupted) {
            if (checkpoints_compare(&end, &t->at) && timeline_move(t, &end, 0, err))
                return -1;
            t->last.why = STOP_PAUSED;
            return timeline_finish(t, stop);
        }
        if (other)
            return back_over_exec(t, &last, stop, err);
        if (found && !passes(t, &hit))
            return timeline_go_to_hit(t, &hit, stop, err);
        if (found && hit.reason == STOP_WATCH)
            return back_to_write(t, &hit, stop, err);
        end = found ? hit.at : from;
        to_end = false;
    }
}

int timeline_back(struct timeline *t, struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {0};
    return timeline_insist(t, back, &wish, stop, err);
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
    struct program_registers regs;
    struct err none;
    uint64_t from = replay_stopped(w->replay)->what.ticks;
    uint64_t wanted = count > TRAIL_TICKS ? count - TRAIL_TICKS : 0;
    if (replay_registers(w->replay, thread, &regs, &none) == 0 && regs.count >= wanted)
        return 0;
    struct mailbox_run how = {
        .flags = RUN_SCAN,
        .goal = {.events = ANY_EVENTS, .count = wanted, .thread = thread, .stage = STAGE_BEFORE}};
    if (!wanted || timeline_walk(t, w, &how, true, err))
        return wanted ? -1 : 0;
    if (!t->interrupted && replay_stopped(w->replay)->what.ticks - from > TRAIL_DISTANCE)
        timeline_mark(t, w, CHECKPOINT_NEIGHBOUR);
    return 0;
}

/* Fills the trail from the checkpoint on. */
static int follow(struct timeline *t, int point, uint32_t thread, uint64_t count, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN, .step_thread = thread};
    if (!t->at_end)
        how.goal = t->at;
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    if (approach(t, &w, thread, count, err) || t->interrupted ||
        timeline_walk(t, &w, &how, true, err)) {
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
    struct program_registers regs;
    int point = timeline_last_before(t, &t->at, t->at_end, t->program, err);
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
        point = timeline_last_before(t, &from, false, t->program, err);
    }
    return point == -2 ? -1 : 0;
}

int timeline_find_trail(struct timeline *t, uint32_t thread, size_t *before, struct err *err)
{
    if (!trail_is_good(t, thread) && make_trail(t, thread, err))
        return -1;
    size_t n = t->trail_count;
    while (n && !is_earlier(t, &t->trail[n - 1]))
        n--;
    *before = n;
    return 0;
}

static int one_back(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                    struct err *err)
{
    size_t n;
    if (timeline_find_trail(t, wish->thread, &n, err))
        return -1;
    if (t->interrupted) {
        t->last.why = STOP_PAUSED;
        return timeline_finish(t, stop);
    }
    const struct mailbox_what *hit = &t->trail_hit;
    if (hit->reason && (!n || checkpoints_compare(&hit->at, &t->trail[n - 1]) >= 0)) {
        const struct mailbox_what there = *hit;
        return timeline_go_to_hit(t, &there, stop, err);
    }
    if (!n && t->program == t->points.list[0].program) {
        t->last.why = STOP_BEGIN; /* of this thread */
        return timeline_finish(t, stop);
    }
    if (!n)
        return back(t, wish, stop, err);
    if (timeline_move(t, &t->trail[n - 1], t->last.ticks, err))
        return -1;
    if (t->last.why != STOP_PAUSED)
        t->last.why = STOP_STEP;
    return timeline_finish(t, stop);
}

/* A step into what is left out goes to the end of the statement before. */
int timeline_one_back(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                      struct err *err)
{
    const struct position from = timeline_now(t)->at;
    if (one_back(t, wish, stop, err))
        return -1;
    if (!timeline_passes(t, stop))
        return 0;
    return to_statement_before(t, &from, stop, err);
}

int timeline_step_back(struct timeline *t, uint32_t thread, struct debuggee_stop *stop,
                       struct err *err)
{
    const struct wish wish = {.thread = thread ? thread : t->at.thread};
    return timeline_insist(t, timeline_one_back, &wish, stop, err);
}
