/* resume.c - packets that let it run.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recording decides which thread runs when; what a packet says of threads tells whose step is
 * meant. Before anything moves, it is looked at what is due:
 *
 * 1. A copy that is to call a function runs, and the recording stays (diversion.c).
 * 2. A stop that is to be told still is told.
 * 3. If the program is another one than GDB knows of, since something went past an execve, GDB is
 *    told that. It then resumes, and is told the stop (2).
 */
#include <string.h>

#include "replayer/gdbstub/server_private.h"

enum way { WAY_ON, WAY_STEP, WAY_BACK, WAY_STEP_BACK };

struct resume {
    enum way way;
    uint32_t thread; /* whose step; 0: the one of now */
    bool alone;      /* no other thread is to run; GDB does not expect to hear of one */
    uint64_t low, high;
};

static int go(struct server *s, const struct goal *goal, struct timeline_stop *stop,
              struct err *err)
{
    int result;

    switch (goal->kind) {
    case GOAL_BEGIN:
        result = timeline_goto_begin(s->timeline, stop, err);
        break;
    case GOAL_END:
        result = timeline_goto_end(s->timeline, stop, err);
        break;
    case GOAL_TICKS:
        result = timeline_goto_ticks(s->timeline, goal->ticks, stop, err);
        break;
    default:
        result = timeline_goto(s->timeline, &goal->position, stop, err);
    }
    return result;
}

static int move(struct server *s, const struct resume *r, struct timeline_stop *stop,
                struct err *err)
{
    switch (r->way) {
    case WAY_STEP:
        return timeline_step(s->timeline, r->thread, r->low, r->high, stop, err);
    case WAY_BACK:
        return timeline_back(s->timeline, stop, err);
    case WAY_STEP_BACK:
        return timeline_step_back(s->timeline, r->thread, stop, err);
    default:
        return timeline_continue(s->timeline, stop, err);
    }
}

/* Nothing has moved, or not as it should have. */
static void failed(struct server *s, const struct err *err)
{
    server_console(s, "drdebug: %s\n", err->msg);
    s->stop = *timeline_now(s->timeline);
    s->stop.why = TIMELINE_POSITION;
}

static bool is_other_program(struct server *s)
{
    return s->exec_events && stops_program_mark(s) != s->program_mark;
}

/* A thread that is at a breakpoint is stepped off it before GDB goes on to where it is told: that
 * step is a step, of that thread. False: there is no such step. */
static bool step_first(struct server *s, const struct resume *r)
{
    struct err err;

    if ((r->way != WAY_STEP && r->way != WAY_STEP_BACK) || breakpoints_apply(s, &err) ||
        move(s, r, &s->stop, &err) || s->stop.why != TIMELINE_STEP)
        return false;
    stops_report(s, &s->stop);
    return true;
}

/* The recorded schedule has others run during a step that GDB wants of one thread alone, to get it
 * off a breakpoint. If one of them stops, GDB is told of the step, and of that stop when it goes
 * on: of another thread's it would not believe. */
static bool is_of_another(const struct resume *r, const struct timeline_stop *stop)
{
    return stop->at.thread != r->thread &&
           (stop->why == TIMELINE_BREAK || stop->why == TIMELINE_WATCH ||
            stop->why == TIMELINE_SIGNAL || stop->why == TIMELINE_CALL_ENTRY ||
            stop->why == TIMELINE_CALL_RETURN);
}

static void run_recording(struct server *s, const struct resume *r)
{
    struct goal goal = s->goal;
    struct err err;

    if (s->has_pending) {
        s->has_pending = false;
        stops_report(s, &s->pending);
        return;
    }
    if (is_other_program(s)) {
        stops_report_exec(s, &s->stop);
        return;
    }
    if (goal.kind != GOAL_NONE && step_first(s, r))
        return;
    s->goal.kind = GOAL_NONE;
    if (goal.kind != GOAL_NONE ? go(s, &goal, &s->stop, &err)
                               : breakpoints_apply(s, &err) || move(s, r, &s->stop, &err))
        failed(s, &err);
    struct timeline_stop told = s->stop;
    if (r->alone && is_of_another(r, &told)) {
        s->pending = told;
        s->has_pending = true;
        told.why = TIMELINE_STEP;
        told.at.thread = r->thread;
    }
    if (goal.kind != GOAL_NONE && told.why != TIMELINE_INTERRUPTED)
        told.why = TIMELINE_POSITION; /* at an end, too: that is no news */
    if (told.why != TIMELINE_EXEC && is_other_program(s)) {
        s->pending = told;
        s->has_pending = true;
        told.why = TIMELINE_EXEC;
    }
    stops_report(s, &told);
}

/* Out of a copy without having moved. */
static void report_now(struct server *s)
{
    struct timeline_stop now = s->stop;

    now.why = TIMELINE_POSITION;
    stops_report(s, &now);
}

static void run_copy(struct server *s, const struct resume *r)
{
    struct err err;

    if (breakpoints_apply(s, &err) == 0 && diversion_run(s, r->way == WAY_STEP, &err) == 0) {
        stops_report(s, &s->diversion.stop);
        return;
    }
    diversion_drop(s);
    server_console(s, "drdebug: %s; back in the recording\n", err.msg);
    report_now(s);
}

static void resume(struct server *s, const struct resume *r)
{
    bool ahead = r->way == WAY_ON || r->way == WAY_STEP, lost = s->diversion.lost;

    if (!s->alive) {
        server_refuse(s);
        return;
    }
    s->running = true;
    if (ahead && s->goal.kind == GOAL_NONE && diversion_calls(s)) {
        run_copy(s, r);
    } else if (ahead && s->goal.kind == GOAL_NONE && timeline_diverted(s->timeline) && lost) {
        diversion_drop(s);
        server_console(s, "drdebug: the function cannot go on; back in the recording\n");
        report_now(s);
    } else {
        if (timeline_diverted(s->timeline))
            server_console(s, "drdebug: a recording cannot be changed; what was set is gone\n");
        diversion_drop(s);
        run_recording(s, r);
    }
    s->running = false;
}

/* ---- packets ---- */

/* Of a step that names no thread. */
static uint32_t usual_thread(const struct server *s)
{
    return s->resumed ? s->resumed : s->general;
}

/* One action of vCont; false if it is none. */
static bool parse_action(struct server *s, struct args *part, struct resume *out)
{
    struct resume r = {.way = WAY_ON};
    uint64_t signal;
    int64_t thread = -1;

    if (args_take(part, 'r')) {
        if (!args_hex(part, &r.low) || !args_take(part, ',') || !args_hex(part, &r.high))
            return false;
        r.way = WAY_STEP;
    } else if (args_take(part, 'S') || args_take(part, 'C')) {
        r.way = part->at[-1] == 'S' ? WAY_STEP : WAY_ON;
        if (!args_hex(part, &signal))
            return false;
    } else if (args_take(part, 's')) {
        r.way = WAY_STEP;
    } else if (!args_take(part, 'c') && !args_take(part, 't')) {
        return false;
    }
    if (args_take(part, ':') && !threads_parse(s, part, &thread))
        return false;
    if (r.way == WAY_STEP && out->way != WAY_STEP) {
        *out = r;
        out->thread = thread > 0 ? (uint32_t)thread : usual_thread(s);
        out->alone = thread > 0;
    }
    return args_empty(part);
}

void resume_vcont(struct server *s, struct args *args)
{
    struct resume r = {.way = WAY_ON};
    struct args part;
    int actions = 0;

    for (; args_until(args, ';', &part); actions++)
        if (!parse_action(s, &part, &r)) {
            server_refuse(s);
            return;
        }
    r.alone &= actions == 1;
    if (actions)
        resume(s, &r);
    else
        server_refuse(s);
}

void resume_vcont_query(struct server *s, struct args *args)
{
    (void)args;
    reply_text(&s->reply, "vCont;c;C;s;S;t;r");
}

/* c, C, s and S: an address to resume at would change the recording. */
static void resume_plainly(struct server *s, struct args *args, enum way way)
{
    struct resume r = {.way = way, .thread = usual_thread(s)};
    uint64_t signal;

    if ((args->at[-1] == 'C' || args->at[-1] == 'S') && !args_hex(args, &signal))
        server_refuse(s);
    else if (!args_empty(args))
        server_refuse(s);
    else
        resume(s, &r);
}

void resume_continue(struct server *s, struct args *args)
{
    resume_plainly(s, args, WAY_ON);
}

void resume_step(struct server *s, struct args *args)
{
    resume_plainly(s, args, WAY_STEP);
}

void resume_back(struct server *s, struct args *args)
{
    (void)args;
    resume(s, &(struct resume){.way = WAY_BACK});
}

void resume_step_back(struct server *s, struct args *args)
{
    (void)args;
    resume(s, &(struct resume){
                  .way = WAY_STEP_BACK, .thread = usual_thread(s), .alone = s->resumed != 0});
}

/* ---- from the start ---- */

static int restart(struct server *s, struct err *err)
{
    diversion_drop(s);
    breakpoints_clear(s, true);
    s->has_pending = false;
    s->goal.kind = GOAL_NONE;
    s->general = s->resumed = 0;
    if (timeline_goto_begin(s->timeline, &s->stop, err))
        return -1;
    s->alive = true;
    return 0;
}

/* The program and arguments that it names are the recording's, whatever they are. A program that
 * GDB does not know of yet is announced at the next resume. */
void resume_run(struct server *s, struct args *args)
{
    struct timeline_stop begin;
    struct err err;

    (void)args;
    if (restart(s, &err)) {
        server_error(s, "%s", err.msg);
        return;
    }
    begin = s->stop;
    begin.why = TIMELINE_STEP;
    stops_report(s, &begin);
}

void resume_restart(struct server *s, struct args *args)
{
    struct err err;

    (void)args;
    if (restart(s, &err))
        server_message(s, "%s", err.msg);
    s->silent = true;
}
