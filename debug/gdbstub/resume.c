/* resume.c - packets that let it run.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recording decides which thread runs when; what a packet says of threads tells whose step is
 * meant, and whether GDB lets one thread alone run. A stop of another one it would not survive: if
 * the user has locked the scheduler, others' stops are passed; if GDB steps a thread off a
 * breakpoint, they are told when it goes on. Before anything moves, it is looked at what is due:
 *
 * 1. A copy that is to call a function runs, and the recording stays (diversion.c).
 * 2. A stop that is to be told still is told.
 * 3. If the program is another one than GDB knows of, since something went past an execve, GDB is
 *    told that. It then resumes, and is told the stop (2).
 */
#include <string.h>

#include "debug/gdbstub/server_private.h"
#include "debug/gdbstub/signals.h"

struct resume {
    enum debuggee_way way; /* MOVE_ON to MOVE_BACK_ONE */
    uint32_t thread;       /* whose step; 0: the one of now */
    uint32_t alone; /* no other thread is to run; GDB does not expect to hear of one; 0: all run */
    int signal;     /* to deliver to the thread, GDB's number; 0: none */
    uint64_t low, high;
    struct position to; /* MOVE_ON: not past it; thread 0: nowhere */
};

static int move(struct server *s, const struct resume *r, struct debuggee_stop *stop,
                struct err *err)
{
    const struct debuggee_move how = {.way = r->way,
                                      .thread = r->thread,
                                      .low = r->low,
                                      .high = r->high,
                                      .to = r->to,
                                      .alone = r->alone,
                                      .signal = signals_from_gdb(r->signal)};

    return r->way == MOVE_BACK_ONE ? loop_step_back(s, r->thread, stop, err)
                                   : debuggee_move(&s->debuggee, &how, stop, err);
}

/* A call that only might have made a child process is passed. It may end a step, though. */
static bool is_passed(struct server *s, const struct resume *r, struct debuggee_stop *stop)
{
    if (!forks_passes(s, stop))
        return false;
    if (r->way != MOVE_STEP || stop->why != STOP_CALL_RETURN || stop->at.thread != r->thread ||
        (stop->at.pc >= r->low && stop->at.pc < r->high))
        return true;
    stop->why = STOP_STEP;
    return false;
}

static int move_on(struct server *s, const struct resume *r, struct debuggee_stop *stop,
                   struct err *err)
{
    do
        if (move(s, r, stop, err))
            return -1;
    while (is_passed(s, r, stop));
    return 0;
}

/* Nothing has moved, or not as it should have. */
static void failed(struct server *s, const struct err *err)
{
    server_console(s, "drdebug: %s\n", err->msg);
    s->stop = *debuggee_now(&s->debuggee);
    if (s->stop.why != STOP_END) /* which it still is */
        s->stop.why = STOP_POSITION;
}

static bool is_other_program(struct server *s)
{
    return s->exec_events && stops_program_mark(s) != s->program_mark;
}

/* A thread that is at a breakpoint is stepped off it before GDB goes on to where it is told: that
 * step is a step, of that thread. False: there is no such step. */
static bool step_first(struct server *s, const struct resume *r)
{
    const struct breakpoints_how how = {.steps = r->way == MOVE_STEP};
    struct err err;

    if ((r->way != MOVE_STEP && r->way != MOVE_BACK_ONE) || breakpoints_apply(s, &how, &err) ||
        move_on(s, r, &s->stop, &err) || s->stop.why != STOP_STEP)
        return false;
    stops_report(s, &s->stop);
    return true;
}

static bool is_of_another(uint32_t thread, const struct debuggee_stop *stop)
{
    return stop->at.thread != thread && stop_of(stop->why) == STOP_OF_THREAD;
}

/* Is it a step that gets a thread off a breakpoint, which GDB has taken out for that? If not, then
 * the thread is alone because the user wants it so. GDB may be wrong about where a thread is that
 * was not the last one to stop: any breakpoint may be the one. */
static bool steps_off(struct server *s, const struct resume *r)
{
    return r->alone && (r->way == MOVE_STEP || r->way == MOVE_BACK_ONE) &&
           breakpoints_is_out(s, s->stop.at.thread == r->alone ? s->stop.at.pc : 0);
}

/* Others have run during a step off a breakpoint. If one of them has stopped, GDB is told of the
 * step, and of that stop when it goes on. */
static void tell_step_off(struct server *s, const struct resume *r, struct debuggee_stop *told)
{
    if (!is_of_another(r->alone, told))
        return;
    s->pending = *told;
    s->has_pending = true;
    told->why = STOP_STEP;
    told->at.thread = r->alone;
}

/* Going back, others' turns may come before the step is made, and GDB 13 would not bear to hear of
 * their stops then. So the step is made, past such a stop, and the next move goes there. */
static void step_back_past(struct server *s, const struct resume *r, struct debuggee_stop *told)
{
    const struct breakpoints_how how = {.only = r->alone};
    struct err err;

    if (r->way != MOVE_BACK_ONE || told->why != STOP_BREAK || !is_of_another(r->alone, told))
        return;
    if (breakpoints_apply(s, &how, &err) || move_on(s, r, &s->stop, &err)) {
        failed(s, &err);
        return;
    }
    if (s->stop.why == STOP_STEP && s->stop.at.thread == r->alone) {
        s->passed = told->at;
        s->has_passed = true;
        *told = s->stop;
    } else if (debuggee_move(&s->debuggee, &(struct debuggee_move){.way = MOVE_TO, .to = told->at},
                             &s->stop, &err)) {
        failed(s, &err);
    }
}

/* True: GDB goes on back, and is told of the stop that its step has passed by. */
static bool goes_to_passed(struct server *s, const struct resume *r)
{
    const bool wanted = s->has_passed && r->way == MOVE_BACK && !r->alone;
    struct err err;

    s->has_passed = false;
    if (!wanted ||
        debuggee_move(&s->debuggee, &(struct debuggee_move){.way = MOVE_TO, .to = s->passed},
                      &s->stop, &err))
        return false;
    s->stop.why = STOP_BREAK;
    stops_report(s, &s->stop);
    return true;
}

/* If the recording ends in a step that gets a thread off a breakpoint, then GDB 13 must not hear of
 * that: it would wait for the end of this step for ever. Its user is told. */
static void tell_no_end(struct server *s, const struct resume *r, struct debuggee_stop *told)
{
    if ((r->way != MOVE_STEP && r->way != MOVE_BACK_ONE) || stop_of(told->why) != STOP_OF_LIMIT)
        return;
    server_console(s, "No more reverse-execution history.\n");
    told->why = STOP_POSITION;
    told->at.thread = r->alone;
}

/* The user's thread is the one to tell of, whatever has ended the run. If it is gone by now, it is
 * gone back to where it was there. */
static void tell_locked(struct server *s, const struct resume *r, const struct position *before,
                        struct debuggee_stop *told)
{
    const bool ahead = r->way == MOVE_ON || r->way == MOVE_STEP;
    struct registers regs;
    struct err err;

    if (told->why == STOP_EXEC)
        return;
    if (told->at.thread != r->alone && state_registers(s, r->alone, &regs, &err)) {
        if (debuggee_move(&s->debuggee, &(struct debuggee_move){.way = MOVE_TO, .to = *before},
                          &s->stop, &err))
            return;
        *told = s->stop;
        told->why = ahead ? STOP_THREAD_END : STOP_THREAD_BEGIN;
    }
    if (told->why == STOP_THREAD_END || told->why == STOP_THREAD_BEGIN)
        server_console(s, "drdebug: T%u, which alone is to run, %s here\n", r->alone,
                       told->why == STOP_THREAD_END ? "ends" : "begins");
    told->at.thread = r->alone;
}

/* GDB steps a thread off a breakpoint before it lets it go on. If it has not, the one that is here
 * is to be hit now: after `jump *$pc', and where a program begins. But a hit that its user has not
 * seen was not one for GDB: a library that has gone leaves breakpoints of which it knows no more.
 */
static bool is_at_breakpoint(const struct server *s, const struct resume *r)
{
    const struct debuggee_stop *now = &s->stop;

    return r->way == MOVE_ON && now->why != STOP_SIGNAL && now->why != STOP_END &&
           (now->why != STOP_BREAK || s->seen) && (!r->alone || r->alone == now->at.thread) &&
           breakpoints_is_set(s, now->at.pc);
}

/* Is the stop on the way to the goal, and something that its user has asked for? 1, 0; -1: it is
 * neither, the way goes on. A stop there counts, too. */
static int is_before(struct server *s, const struct resume *r, const struct debuggee_move *goal)
{
    const enum stop_kind why = s->stop.why;
    int order;
    struct err err;

    if (why == STOP_PAUSED)
        return 1;
    if (why == STOP_POSITION || stop_of(why) == STOP_OF_LIMIT ||
        debuggee_compare(&s->debuggee, &goal->to, &order, &err) ||
        (r->way == MOVE_ON ? order < 0 : order > 0))
        return 0;
    return why == STOP_SIGNAL ? -1 : order != 0 || why == STOP_BREAK || why == STOP_WATCH;
}

/* On the way to the goal, which stays the goal if so. What is watched may be written right before
 * it: that run has no end. */
static bool stops_before(struct server *s, const struct resume *r, const struct debuggee_move *goal)
{
    const struct breakpoints_how how = {.steps = false};
    struct resume on = *r;
    struct err err;
    int before;

    if (!s->goal_stops || goal->way != MOVE_TO || (r->way != MOVE_ON && r->way != MOVE_BACK) ||
        breakpoints_apply(s, &how, &err))
        return false;
    if (!breakpoints_watch(s))
        on.to = goal->to;
    do
        before = move_on(s, &on, &s->stop, &err) ? 0 : is_before(s, r, goal);
    while (before < 0);
    if (before)
        s->goal = *goal;
    return before;
}

static void run_recording(struct server *s, const struct resume *r)
{
    const bool off = steps_off(s, r);
    const uint32_t only = off ? 0 : r->alone;
    const struct position before = s->stop.at;
    const bool stays = off && s->stop.at.thread == r->alone;
    const struct breakpoints_how how = {only, r->way == MOVE_STEP, stays ? s->stop.at.pc : 0};
    struct debuggee_move goal = s->goal;
    struct err err;

    forks_seek(s, r->way == MOVE_STEP || r->way == MOVE_BACK_ONE,
               r->way == MOVE_BACK || r->way == MOVE_BACK_ONE, r->thread);
    if (forks_report_rest(s))
        return;
    s->loop.off = off;
    if (s->has_pending && only && is_of_another(only, &s->pending))
        s->has_pending = false;
    if (s->has_pending) {
        s->has_pending = false;
        stops_report(s, &s->pending);
        return;
    }
    if (is_other_program(s)) {
        stops_report_exec(s, &s->stop);
        return;
    }
    if (goal.way != MOVE_NONE && step_first(s, r))
        return;
    if (goes_to_passed(s, r))
        return;
    s->goal.way = MOVE_NONE;
    if (goal.way == MOVE_NONE && is_at_breakpoint(s, r)) {
        s->stop.why = STOP_BREAK;
        stops_report(s, &s->stop);
        return;
    }
    if (goal.way != MOVE_NONE && stops_before(s, r, &goal)) {
        stops_report(s, &s->stop);
        return;
    }
    if (goal.way != MOVE_NONE ? debuggee_move(&s->debuggee, &goal, &s->stop, &err)
                              : breakpoints_apply(s, &how, &err) || move_on(s, r, &s->stop, &err))
        failed(s, &err);
    struct debuggee_stop told = s->stop;
    if (goal.way == MOVE_NONE && off) {
        step_back_past(s, r, &told);
        tell_step_off(s, r, &told);
    } else if (goal.way == MOVE_NONE && only) {
        tell_locked(s, r, &before, &told);
    }
    if (goal.way == MOVE_NONE && r->alone)
        tell_no_end(s, r, &told);
    if (goal.way != MOVE_NONE && told.why != STOP_PAUSED)
        told.why = STOP_POSITION; /* at an end, too: that is no news */
    if (told.gone) {              /* and so is the process */
        stops_report_gone(s, &told);
        return;
    }
    if (told.why != STOP_EXEC && is_other_program(s)) {
        s->pending = told;
        s->has_pending = true;
        told.why = STOP_EXEC;
    }
    stops_report(s, &told);
}

/* Without having moved. */
static void report_now(struct server *s, const struct resume *r, enum stop_kind why)
{
    struct debuggee_stop now = s->stop;

    now.why = why;
    if (r->alone)
        now.at.thread = r->alone;
    stops_report(s, &now);
}

static void run_copy(struct server *s, const struct resume *r)
{
    uint32_t thread = diversion_thread(s);
    const struct breakpoints_how how = {.steps = r->way == MOVE_STEP};
    struct err err;

    const bool prepared = diversion_is_prepared(s);
    if (prepared && r->way == MOVE_STEP && r->thread && r->thread != thread) {
        stops_pretend_step(s, r->thread);
        return;
    }
    if (!s->told_of_calls)
        server_console(s, "drdebug: functions are called in a copy: what one writes is seen until "
                          "the next move or call\n");
    s->told_of_calls = true;
    if (r->thread && !prepared) /* else it is one that gets its signal back */
        thread = r->thread;
    s->forks.sought = false;
    if (breakpoints_apply(s, &how, &err) == 0 &&
        diversion_run(s, thread, r->way == MOVE_STEP, &err) == 0) {
        stops_report(s, &s->diversion.stop);
        return;
    }
    diversion_drop(s);
    server_console(s, "drdebug: %s; back in the recording\n", err.msg);
    report_now(s, r, STOP_POSITION);
}

/* GDB gives back the signal that a thread has stopped for, which is delivered as it was recorded.
 * Any other one is the user's. */
static bool is_new_signal(const struct server *s, const struct resume *r)
{
    bool known = s->stop.why == STOP_SIGNAL || s->stop.why == STOP_PAUSED;

    return r->signal && !debuggee_diverted(&s->debuggee) && !debuggee_alive(&s->debuggee) &&
           !(known && r->signal == stops_signal_of(&s->stop));
}

static void resume(struct server *s, const struct resume *r)
{
    bool ahead = r->way == MOVE_ON || r->way == MOVE_STEP;

    if (!s->alive) {
        server_refuse(s);
        return;
    }
    s->running = true;
    if (s->interrupt) {
        s->interrupt = false;
        report_now(s, r, STOP_PAUSED);
    } else if (is_new_signal(s, r)) {
        server_console(s, "drdebug: a recording cannot be changed: the signal was not sent\n");
        report_now(s, r, STOP_POSITION);
    } else if (ahead && s->goal.way == MOVE_NONE && debuggee_diverted(&s->debuggee)) {
        run_copy(s, r);
    } else {
        if (debuggee_diverted(&s->debuggee))
            server_console(s, "drdebug: a recording cannot be changed; what was set is gone\n");
        diversion_drop(s);
        run_recording(s, r);
    }
    s->running = false;
}

/* ---- packets ---- */

/* The thread of a step that names none. */
static uint32_t usual_thread(const struct server *s)
{
    return s->resumed ? s->resumed : s->selected ? s->selected : s->general;
}

/* One action of vCont, the first or a later one; false if it is none. */
static bool parse_action(struct server *s, struct args *part, bool first, struct resume *out)
{
    struct resume r = {.way = MOVE_ON};
    uint64_t signal;
    int64_t thread = -1;

    if (args_take(part, 'r')) {
        if (!args_hex(part, &r.low) || !args_take(part, ',') || !args_hex(part, &r.high))
            return false;
        r.way = MOVE_STEP;
    } else if (args_take(part, 'S') || args_take(part, 'C')) {
        r.way = part->at[-1] == 'S' ? MOVE_STEP : MOVE_ON;
        if (!args_hex(part, &signal) || signal > SIGNALS_UNKNOWN)
            return false;
        r.signal = (int)signal;
    } else if (args_take(part, 's')) {
        r.way = MOVE_STEP;
    } else if (!args_take(part, 'c') && !args_take(part, 't')) {
        return false;
    }
    if (args_take(part, ':') && !threads_parse(s, part, &thread))
        return false;
    r.thread = thread > 0 ? (uint32_t)thread : r.way == MOVE_STEP ? usual_thread(s) : 0;
    r.alone = first && thread > 0 ? r.thread : 0;
    const int wanted = r.signal ? r.signal : first ? 0 : out->signal;
    if (first || (r.way == MOVE_STEP && out->way != MOVE_STEP))
        *out = r;
    out->alone = r.alone;
    out->signal = wanted;
    return args_empty(part);
}

void resume_vcont(struct server *s, struct args *args)
{
    struct resume r = {.way = MOVE_ON};
    struct args part;
    int actions = 0;

    for (; args_until(args, ';', &part); actions++)
        if (!parse_action(s, &part, actions == 0, &r)) {
            server_refuse(s);
            return;
        }
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
static void resume_plainly(struct server *s, struct args *args, enum debuggee_way way)
{
    struct resume r = {.way = way, .thread = usual_thread(s), .alone = s->resumed};
    uint64_t signal = 0;

    if ((args->at[-1] == 'C' || args->at[-1] == 'S') &&
        (!args_hex(args, &signal) || signal > SIGNALS_UNKNOWN))
        server_refuse(s);
    else if (!args_empty(args))
        server_refuse(s);
    else {
        r.signal = (int)signal;
        resume(s, &r);
    }
}

void resume_continue(struct server *s, struct args *args)
{
    resume_plainly(s, args, MOVE_ON);
}

void resume_step(struct server *s, struct args *args)
{
    resume_plainly(s, args, MOVE_STEP);
}

void resume_back(struct server *s, struct args *args)
{
    (void)args;
    resume(s, &(struct resume){.way = MOVE_BACK, .thread = s->resumed, .alone = s->resumed});
}

void resume_step_back(struct server *s, struct args *args)
{
    (void)args;
    resume(s,
           &(struct resume){.way = MOVE_BACK_ONE, .thread = usual_thread(s), .alone = s->resumed});
}

/* ---- from the start ---- */

static int restart(struct server *s, struct err *err)
{
    diversion_drop(s);
    breakpoints_clear(s, true);
    s->has_pending = false;
    forks_drop_rest(s);
    s->goal.way = MOVE_NONE;
    s->general = s->resumed = s->selected = 0;
    if (debuggee_move(&s->debuggee, &(struct debuggee_move){.way = MOVE_TO_BEGIN}, &s->stop, err))
        return -1;
    s->alive = true;
    return 0;
}

/* The program that it names is the recording's, whatever it is. One that GDB does not know of yet
 * is announced at the next resume. */
void resume_run(struct server *s, struct args *args)
{
    struct debuggee_stop begin;
    struct args file;
    struct err err;

    args_until(args, ';', &file);
    if (s->options->live) {
        s->alive = false;
        server_error(s, "a program is started once: `drdebug live' starts it again");
        return;
    }
    if (!arguments_are(s, args, ';')) {
        s->alive = false;
        server_message(s,
                       "run: a recording has its own arguments; `set args' and `run' without any");
        server_error(s, "a recording has its own arguments");
        return;
    }
    if (restart(s, &err)) {
        server_error(s, "%s", err.msg);
        return;
    }
    begin = s->stop;
    begin.why = STOP_STEP;
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
