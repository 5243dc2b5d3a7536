/* query.c - what scripts inside GDB ask (qDrdebug), and `monitor`.
 *
 * SPDX-License-Identifier: MIT
 *
 * `qDrdebug,COMMAND ARGUMENT...`, in words; the answer is a JSON object in hexadecimal, and
 * {"error": "..."} if something is wrong. docs/gdb-packets.md lists them.
 */
#include <inttypes.h>
#include <string.h>

#include "debug/gdbstub/server_private.h"

static void put_error(struct reply *out, const char *text)
{
    reply_clear(out);
    reply_text(out, "{\"error\":");
    reply_json(out, text, strlen(text));
    reply_text(out, "}");
}

static void put_position(struct reply *out, const struct position *at)
{
    char text[POSITION_TEXT];

    position_format(at, text);
    reply_addf(out, "\"position\":\"%s\"", text);
}

static bool is_at(const struct position *a, const struct position *b)
{
    return a->thread == b->thread && a->count == b->count && a->pc == b->pc;
}

static bool is_at_begin(const struct server *s)
{
    return is_at(&s->stop.at, &s->begin); /* a place is met once */
}

static bool is_at_end(const struct server *s)
{
    return s->stop.why == STOP_END;
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* ---- when ---- */

static void when(struct server *s, struct args *args, struct reply *out)
{
    const struct debuggee_stop *now = &s->stop;
    struct registers regs;
    struct debuggee_program program;
    struct err err;

    (void)args;
    regs.r.tid = 0;
    if (state_registers(s, now->at.thread, &regs, &err))
        regs.r.tid = 0;
    reply_text(out, "{");
    put_position(out, &now->at);
    reply_addf(out, ",\"thread\":%" PRIu32 ",\"tid\":%" PRId32, now->at.thread, regs.r.tid);
    reply_addf(out, ",\"ticks\":%" PRIu64 ",\"count\":%" PRIu64 ",\"pc\":%" PRIu64, now->ticks,
               now->at.count, now->at.pc);
    reply_addf(out, ",\"events\":%" PRIu64 ",\"why\":\"%s\"", now->events, stop_name(now->why));
    reply_addf(out, ",\"at_begin\":%s,\"at_end\":%s,\"diverted\":%s", truth(is_at_begin(s)),
               truth(is_at_end(s)), truth(debuggee_diverted(&s->debuggee)));
    if (now->why == STOP_SIGNAL)
        reply_addf(out, ",\"signal\":%d", now->signal);
    if (s->has_pending)
        reply_text(out, ",\"pending\":true");
    if (debuggee_alive(&s->debuggee)) {
        struct debuggee_recorded recorded;
        const bool told = debuggee_record(&s->debuggee, RECORD_TOLD, &recorded, &err) == 0;
        reply_addf(out, ",\"alive\":true,\"recorded\":%s", truth(told && recorded.on));
    }
    debuggee_program(&s->debuggee, &program);
    if (is_at_end(s))
        reply_addf(out, ",\"reason\":%" PRIu32 ",\"status\":%" PRId32, now->reason, now->status);
    if (program.instructions)
        reply_addf(out, ",\"instructions\":%" PRIu64, program.instructions);
    reply_text(out, "}");
}

/* ---- goto ---- */

/* `+N` and `-N`; where that is before the begin, the begin. */
static int by_ticks(struct server *s, struct args *args, struct debuggee_move *goal, int *order,
                    struct err *err)
{
    bool back = *args->at == '-';
    uint64_t n, now = s->stop.ticks;

    args->at++;
    if (!args_decimal(args, &n) || !args_empty(args))
        return err_set(err, "a number of ticks is needed behind + or -");
    goal->way = MOVE_TO_TICKS;
    *order = n == 0 ? 0 : back ? -1 : 1;
    goal->ticks = back ? now - n : now + n;
    if (back && n > now)
        goal->way = MOVE_TO_BEGIN;
    if (!back && goal->ticks < now)
        goal->way = MOVE_TO_END;
    return 0;
}

static int by_position(struct server *s, const struct args *args, struct debuggee_move *goal,
                       int *order, struct err *err)
{
    char text[POSITION_TEXT];

    if (!args_copy(args, text, sizeof text))
        return err_set(err, "this is too long for a position such as T1:2045:401136");
    if (position_parse(text, &goal->to, err))
        return -1;
    goal->way = MOVE_TO;
    return debuggee_compare(&s->debuggee, &goal->to, order, err);
}

static int find_goal(struct server *s, struct args *args, struct debuggee_move *goal, int *order,
                     struct err *err)
{
    struct args whole = *args;

    if (args_word(&whole, "none") && args_empty(&whole)) {
        *order = 0;
        return 0;
    }
    whole = *args;
    if (args_word(&whole, "begin") && args_empty(&whole)) {
        goal->way = MOVE_TO_BEGIN;
        *order = is_at_begin(s) ? 0 : -1;
        return 0;
    }
    whole = *args;
    if (args_word(&whole, "end") && args_empty(&whole)) {
        goal->way = MOVE_TO_END;
        *order = is_at_end(s) ? 0 : 1;
        return 0;
    }
    whole = *args;
    if (args_word(&whole, "recorded") && args_empty(&whole)) {
        goal->way = MOVE_TO_RECORDED;
        *order = -1;
        return 0;
    }
    if (args_empty(args))
        return err_set(err, "goto what? A position, begin, end, +TICKS or -TICKS");
    if (*args->at == '+' || *args->at == '-')
        return by_ticks(s, args, goal, order, err);
    return by_position(s, args, goal, order, err);
}

/* The next resume goes there, whatever it says. Here: there is nothing to resume for. `stops`: it
 * stops at breakpoints and watchpoints on the way, and after such a stop the goal is still that. */
static void go_to(struct server *s, struct args *args, struct reply *out)
{
    static const char *const direction[] = {"backward", "here", "forward"};
    struct debuggee_move goal = {0};
    int order = 0;
    struct err err;

    s->goal.way = MOVE_NONE;
    s->goal_stops = args_word(args, "stops ");
    if (find_goal(s, args, &goal, &order, &err)) {
        put_error(out, err.msg);
        return;
    }
    order = order < 0 ? -1 : order > 0;
    if (order)
        s->goal = goal;
    reply_addf(out, "{\"direction\":\"%s\"}", direction[order + 1]);
}

/* ---- last ---- */

/* Back to where it was. */
static int go_back(struct server *s, struct err *err)
{
    const struct debuggee_move to = {.way = is_at_end(s) ? MOVE_TO_END : MOVE_TO, .to = s->stop.at};
    struct debuggee_stop stop;
    int result = debuggee_move(&s->debuggee, &to, &stop, err);

    if (result == 0 && stop.why == STOP_PAUSED)
        return err_set(err, "interrupted; now is somewhere else");
    return result;
}

/* The last write to a range before now: a watchpoint, backwards. */
static int find_last(struct server *s, const struct debuggee_watch *watch,
                     struct debuggee_stop *found, struct err *err)
{
    struct debuggee_stops stops;
    struct err second;

    memset(&stops, 0, sizeof stops);
    stops.watches[0] = *watch;
    stops.watch_count = 1;
    diversion_drop(s);
    s->breakpoints.is_given = false;
    if (debuggee_stops(&s->debuggee, &stops, err))
        return -1;
    int result = debuggee_move(&s->debuggee, &(struct debuggee_move){.way = MOVE_BACK}, found, err);
    if (go_back(s, &second)) {
        s->stop = *debuggee_now(&s->debuggee);
        return err_set(err, "%s", second.msg);
    }
    if (result == 0 && found->why == STOP_PAUSED)
        return err_set(err, "interrupted");
    return result;
}

static void last(struct server *s, struct args *args, struct reply *out)
{
    struct debuggee_watch watch = {.kind = WATCH_WRITE};
    struct debuggee_stop found;
    uint64_t bytes = 0;
    struct err err;

    args_word(args, "0x");
    if (!args_hex(args, &watch.addr) || !args_take(args, ' ') || !args_decimal(args, &bytes) ||
        !args_empty(args) || bytes < 1 || bytes > 4096) {
        put_error(out, "last needs an address in hexadecimal and 1 to 4096 bytes");
        return;
    }
    watch.bytes = (uint32_t)bytes;
    if (find_last(s, &watch, &found, &err)) {
        put_error(out, err.msg);
        return;
    }
    reply_text(out, "{");
    if (found.why == STOP_WATCH)
        put_position(out, &found.at);
    else
        reply_text(out, "\"position\":null");
    reply_text(out, "}");
}

/* ---- bookmarks ---- */

static void bookmark(struct server *s, struct args *args, struct reply *out)
{
    char text[POSITION_TEXT], note[1024] = "";
    struct position at;
    struct args word;
    struct err err;

    if (!args_until(args, ' ', &word) || !args_copy(&word, text, sizeof text) ||
        !args_copy(args, note, sizeof note))
        put_error(out, "bookmark needs a position and a note of up to 1023 bytes");
    else if (position_parse(text, &at, &err) || debuggee_bookmark(&s->debuggee, &at, note, &err))
        put_error(out, err.msg);
    else
        reply_text(out, "{}");
}

static void bookmarks(struct server *s, struct args *args, struct reply *out)
{
    struct position at;
    const char *note;

    (void)args;
    reply_text(out, "{\"bookmarks\":[");
    for (size_t i = 0; debuggee_bookmark_get(&s->debuggee, i, &at, &note); i++) {
        reply_text(out, i ? ",{" : "{");
        put_position(out, &at);
        reply_text(out, ",\"note\":");
        reply_json(out, note, strlen(note));
        reply_text(out, "}");
    }
    reply_text(out, "]}");
}

/* ---- recording ---- */

/* What a script needs to start drdebug itself. A path is bytes, which JSON has no way to say. */
static void recording(struct server *s, struct args *args, struct reply *out)
{
    const struct server_options *o = s->options;
    struct debuggee_recorded recorded;
    struct err err;

    (void)args;
    if (debuggee_settle(&s->debuggee, &err) ||
        debuggee_record(&s->debuggee, RECORD_TOLD, &recorded, &err)) {
        put_error(out, err.msg);
        return;
    }
    const char *path = recorded.path ? recorded.path : o->path;
    reply_text(out, "{\"path\":\"");
    reply_hex(out, path, strlen(path));
    reply_text(out, "\",\"program\":\"");
    reply_hex(out, o->program, strlen(o->program));
    reply_text(out, "\"}");
}

/* `on`, `off`, or nothing: is the living program being recorded, and where? */
static void record(struct server *s, struct args *args, struct reply *out)
{
    struct debuggee_recorded recorded;
    enum debuggee_record what = args_empty(args) ? RECORD_TOLD : RECORD_ON;
    struct args word = *args;
    struct err err;

    if (args_word(&word, "off")) {
        what = RECORD_OFF;
        *args = word;
    } else {
        args_word(args, "on");
    }
    if (!args_empty(args)) {
        put_error(out, "record on, or record off?");
        return;
    }
    if (what != RECORD_TOLD)
        diversion_drop(s);
    if (debuggee_record(&s->debuggee, what, &recorded, &err)) {
        put_error(out, err.msg);
        return;
    }
    if (what == RECORD_ON && recorded.on)
        s->begin = s->stop.at;
    reply_addf(out, "{\"on\":%s,\"later\":%s,\"path\":\"", truth(recorded.on),
               truth(recorded.later));
    if (recorded.path)
        reply_hex(out, recorded.path, strlen(recorded.path));
    reply_text(out, "\"}");
}

/* A path in hexadecimal: the living program's standard input and output from here on. */
static void terminal(struct server *s, struct args *args, struct reply *out)
{
    char path[4096];
    struct err err;

    if (!args_string(args, path, sizeof path))
        err_set(&err, "which terminal?");
    else if (debuggee_terminal(&s->debuggee, path, &err) == 0)
        err.msg[0] = 0;
    if (err.msg[0])
        put_error(out, err.msg);
    else
        reply_text(out, "{}");
}

/* ---- thread ---- */

/* The user's thread: a step back that names none is of this one. */
static void thread(struct server *s, struct args *args, struct reply *out)
{
    uint64_t number;

    if (args_decimal(args, &number) && args_empty(args) && threads_user_selects(s, number))
        reply_text(out, "{}");
    else
        put_error(out, "no such thread");
}

/* What comes next is one step by lines. */
static void lines(struct server *s, struct args *args, struct reply *out)
{
    (void)args;
    loop_wanted(s);
    reply_text(out, "{}");
}

/* Words in hexadecimal: is the program started with these? */
static void arguments(struct server *s, struct args *args, struct reply *out)
{
    reply_addf(out, "{\"recorded\":%s}", truth(arguments_are(s, args, ' ')));
}

/* `on` or `off`: does somebody want to know of child processes? */
static void forks(struct server *s, struct args *args, struct reply *out)
{
    s->forks.wanted = args_word(args, "on");
    reply_text(out, "{}");
}

/* ---- packets ---- */

/* `COMMAND ARGUMENT...` */
static void answer(struct server *s, struct args *args)
{
    static const struct {
        const char *name;
        void (*answer)(struct server *s, struct args *args, struct reply *out);
    } commands[] = {
        {"when", when},
        {"goto", go_to},
        {"last", last},
        {"events", history_events},
        {"output", history_output},
        {"bookmark", bookmark},
        {"bookmarks", bookmarks},
        {"statements", history_statements},
        {"recording", recording},
        {"record", record},
        {"terminal", terminal},
        {"thread", thread},
        {"lines", lines},
        {"forks", forks},
        {"arguments", arguments},
    };
    struct reply out = {0};
    struct args word;

    if (args_until(args, ' ', &word))
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            struct args name = word;
            if (args_word(&name, commands[i].name) && args_empty(&name)) {
                commands[i].answer(s, args, &out);
                break;
            }
        }
    if (out.failed)
        put_error(&out, "no memory");
    else if (!out.bytes)
        put_error(&out, "unknown command");
    reply_hex(&s->reply, out.data, out.bytes);
    reply_deinit(&out);
}

void query_packet(struct server *s, struct args *args)
{
    answer(s, args);
}

/* ---- monitor ---- */

static void monitor_when(struct server *s, struct reply *out)
{
    char at[POSITION_TEXT];

    position_format(&s->stop.at, at);
    reply_addf(out, "%s  %" PRIu64 " ticks, %" PRIu64 " events  (%s%s)\n", at, s->stop.ticks,
               s->stop.events, stop_name(s->stop.why),
               debuggee_diverted(&s->debuggee) ? ", in a throw-away copy" : "");
}

/* `monitor COMMAND`, in hexadecimal, and so is the answer. `monitor json COMMAND...` is a qDrdebug
 * that may take its time: for other packets' answers GDB waits a few seconds only. */
void query_monitor(struct server *s, struct args *args)
{
    char command[2048];
    struct reply out = {0};
    bool known = args_string(args, command, sizeof command);
    struct args words = {command, known ? command + strlen(command) : command};

    if (args_word(&words, "json ")) {
        s->monitoring = true;
        answer(s, &words);
        s->monitoring = false;
        return;
    }
    if (known && strcmp(command, "when") == 0) {
        monitor_when(s, &out);
    } else {
        if (!known || strcmp(command, "help") != 0)
            reply_text(&out, "unknown monitor command\n");
        reply_text(&out, "monitor when             the position in the recording\n"
                         "monitor json COMMAND...  what scripts ask\n"
                         "monitor help             this list\n");
    }
    reply_hex(&s->reply, out.data, out.bytes);
    reply_deinit(&out);
}
