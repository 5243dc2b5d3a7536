/* timeline_loop.c - back over the turns of a loop at once.
 *
 * SPDX-License-Identifier: MIT
 *
 * Going back by single instructions through a loop shows the same instructions over and over. Now
 * is b, and c is what the thread executed right before it; the caller goes on from c, since (c, b)
 * is one of the edges that it went on from before. So do all earlier moments as long as there are
 * only such edges: the thread was in this *stretch* all the time. It is found in three steps:
 *
 * 1. The last moment x before now at which the thread was outside: a scan back from now with a
 *    fence around the edges. A stop that somebody wants ends it, too.
 * 2. From x forwards, the first moment at which it is inside: there the stretch begins.
 * 3. From there by single steps, the first c that is followed by b.
 *
 * The caller then sees c after b, as it would have without all this, and what it keeps in mind
 * about the last step is the same.
 */
#include "base/search.h"
#include "replayer/timeline_private.h"

enum {
    FIRST_STEPS = 4096, /* from the begin of the stretch to the first c and b */
};

/* The moment x. */
struct outside {
    struct mailbox_what what;
    bool stop;     /* somebody wants it, wherever the thread is */
    bool at_point; /* it is a checkpoint */
};

static bool is_inside(const struct wish *wish, uint64_t pc)
{
    size_t i = search_below(wish->edges, wish->edge_count, pc, pc);
    return i < wish->edge_count && wish->edges[i].pc == pc;
}

static bool is_edge(const struct wish *wish, uint64_t pc, uint64_t next)
{
    for (size_t i = 0; i < wish->edge_count; i++)
        if (wish->edges[i].pc == pc && wish->edges[i].next == next)
            return true;
    return false;
}

static bool thread_is_inside(struct replay *r, const struct wish *wish)
{
    struct program_registers regs;
    struct err none;
    return replay_registers(r, wish->thread, &regs, &none) == 0 && is_inside(wish, regs.rip);
}

static int raise(struct walker *w, const struct wish *wish, bool entry, struct err *err)
{
    struct mailbox_fence fence = {
        .thread = wish->thread, .entry = entry, .edges = wish->edge_count};
    for (size_t i = 0; i < wish->edge_count; i++)
        fence.edge[i] = wish->edges[i];
    return replay_fence(w->replay, &fence, err);
}

/* From a checkpoint to `end`: the last time that the thread was outside, or that something stops.
 * 1: there is one, 0: none, -1. */
static int scan(struct timeline *t, int point, const struct wish *wish,
                const struct mailbox_moment *end, struct mailbox_what *hit, struct err *err)
{
    struct walker w;
    struct mailbox_run how = {.flags = RUN_SCAN | RUN_FENCE, .goal = *end};
    if (timeline_copy_of(t, point, &w, err))
        return -1;
    int result = raise(&w, wish, false, err);
    if (result == 0)
        *hit = (struct mailbox_what){.reason = STOP_STEP, .at = *end};
    if (result > 0) {
        result = timeline_walk(t, &w, &how, true, err) ? -1 : 0;
        *hit = replay_stopped(w.replay)->hit;
    }
    replay_free(w.replay);
    return result < 0 ? -1 : hit->reason != 0;
}

/* 1: found; 0: there is no such moment in this program, or t->interrupted; -1. */
static int find_outside(struct timeline *t, const struct wish *wish, struct outside *out,
                        struct err *err)
{
    struct mailbox_moment end = t->at;
    for (;;) {
        int point = timeline_last_before(t, &end, false, t->program, err);
        if (point < 0 || t->points.list[point].program != t->program)
            return point == -2 ? -1 : 0;
        const struct checkpoint *c = &t->points.list[point];
        const struct mailbox_moment from = c->at;
        *out = (struct outside){.what = {.at = c->at, .ticks = c->ticks}, .at_point = true};
        struct mailbox_what hit;
        int found = scan(t, point, wish, &end, &hit, err);
        if (found < 0 || t->interrupted)
            return found < 0 ? -1 : 0;
        if (found) {
            *out = (struct outside){.what = hit, .stop = hit.reason != STOP_STEP};
            return checkpoints_compare(&hit.at, &end) < 0;
        }
        if (!thread_is_inside(t->points.list[point].replay, wish))
            return 1;
        end = from;
    }
}

/* A process at x. */
static int go_outside(struct timeline *t, const struct outside *x, struct walker *w,
                      struct err *err)
{
    int point = checkpoints_before(&t->points, &x->what.at, true);
    struct mailbox_run how = {.flags = RUN_SCAN, .goal = x->what.at};
    if (point < 0)
        return err_set(err, "there is no way back");
    bool there = checkpoints_compare(&t->points.list[point].at, &x->what.at) == 0;
    if (timeline_copy_of(t, point, w, err))
        return -1;
    if (there || timeline_walk(t, w, &how, true, err) == 0)
        return 0;
    replay_free(w->replay);
    return -1;
}

/* From x on. 1: *first is the first c of the stretch; 0: there is none to be found; -1. */
static int find_turn(struct timeline *t, struct walker *w, const struct wish *wish,
                     const struct outside *x, uint64_t c, struct mailbox_what *first,
                     struct err *err)
{
    struct mailbox_what before = {0};
    int raised = raise(w, wish, true, err);
    /* A stop at x may come once more, when what it is about has happened. */
    for (int tries = x->stop ? 2 : 1; raised > 0 && tries && before.reason != STOP_STEP; tries--) {
        struct mailbox_run in = {.flags = RUN_FENCE, .goal = t->at};
        if (timeline_walk(t, w, &in, true, err))
            return -1;
        before = replay_stopped(w->replay)->what;
        if (t->interrupted)
            return 0;
    }
    if (raised <= 0 || before.reason != STOP_STEP)
        return raised < 0 ? -1 : 0;
    timeline_mark(t, w, CHECKPOINT_NEIGHBOUR);
    for (int i = 0; i < FIRST_STEPS; i++) {
        struct mailbox_run step = {.step_thread = wish->thread, .goal = t->at};
        if (timeline_walk(t, w, &step, true, err))
            return -1;
        const struct mailbox_what *now = &replay_stopped(w->replay)->what;
        if (t->interrupted || now->reason != STOP_STEP || now->at.thread != wish->thread)
            return 0;
        if (before.at.pc == c && now->at.pc == t->at.pc) {
            *first = before;
            return 1;
        }
        before = *now;
    }
    return 0;
}

/* Goes to where the loop's first turn is like this one. 1: it is done; 0: one step is to be made.
 */
static int leave_turns_out(struct timeline *t, const struct wish *wish, uint64_t c,
                           struct debuggee_stop *stop, struct err *err)
{
    struct outside x;
    struct walker w;
    struct mailbox_what first;
    int result = find_outside(t, wish, &x, err);
    if (result <= 0)
        return result;
    if (go_outside(t, &x, &w, err))
        return -1;
    bool inside = thread_is_inside(w.replay, wish);
    result = t->interrupted || (x.stop && inside) ? 0 : find_turn(t, &w, wish, &x, c, &first, err);
    replay_free(w.replay);
    if (result < 0 || t->interrupted)
        return result < 0 ? -1 : 0;
    if (x.stop && inside)
        return timeline_go_to_hit(t, &x.what, stop, err) ? -1 : 1;
    if (!result || timeline_move(t, &first.at, first.ticks, err))
        return result ? -1 : 0;
    if (t->last.why != STOP_PAUSED)
        t->last.why = STOP_STEP;
    timeline_finish(t, stop);
    return 1;
}

static int loop_back(struct timeline *t, const struct wish *wish, struct debuggee_stop *stop,
                     struct err *err)
{
    size_t n;
    if (timeline_find_trail(t, wish->thread, &n, err))
        return -1;
    const struct mailbox_moment c = n ? t->trail[n - 1] : (struct mailbox_moment){0};
    bool hit = t->trail_hit.reason && checkpoints_compare(&t->trail_hit.at, &c) >= 0;
    if (!t->interrupted && n && !hit && t->at.thread == wish->thread && !t->at_end &&
        t->at.stage == STAGE_BEFORE && is_edge(wish, c.pc, t->at.pc)) {
        int done = leave_turns_out(t, wish, c.pc, stop, err);
        if (done)
            return done < 0 ? -1 : 0;
    }
    if (t->interrupted) {
        t->last.why = STOP_PAUSED;
        return timeline_finish(t, stop);
    }
    return timeline_one_back(t, wish, stop, err);
}

int timeline_loop_back(struct timeline *t, uint32_t thread, const struct stop_edge *edges,
                       size_t count, struct debuggee_stop *stop, struct err *err)
{
    const struct wish wish = {.thread = thread ? thread : t->at.thread,
                              .edges = edges,
                              .edge_count = count <= STOP_MAX_EDGES ? count : 0};
    return timeline_insist(t, loop_back, &wish, stop, err);
}
