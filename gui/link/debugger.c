/* debugger.c - a recording that is open. SPDX-License-Identifier: MIT */
#include "gui/link/debugger.h"

#include <gio/gio.h>
#include <string.h>

#include "gui/link/debugger_own.h"
#include "gui/link/json.h"
#include "gui/model/text.h"

void debugger_tell(struct debugger *d, enum debugger_change change)
{
    d->own->listener.changed(d->own->listener.arg, change);
}

void debugger_complain(struct debugger *d, const char *text)
{
    d->own->listener.failed(d->own->listener.arg, text);
}

void debugger_set_state(struct debugger *d, enum session_state state)
{
    if (d->session.state == state)
        return;
    d->session.state = state;
    debugger_tell(d, CHANGE_STATE);
}

/* ---- what GDB says ---- */

/* At a failure the innermost calls are the C library's: the first one with source is looked at. */
static void on_frames(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    const struct value *list = result ? value_get(result->results, "stack") : NULL;
    GPtrArray *paths = g_ptr_array_new();
    for (unsigned i = 0; i < value_count(list); i++)
        g_ptr_array_add(paths, (char *)value_say(value_at(list, i), "fullname"));
    debugger_find_source(d, paths);
    g_ptr_array_unref(paths);
}

static void look_for_source(struct debugger *d)
{
    const struct session *s = &d->session;
    bool there = !d->own->remote && s->frame.fullname &&
                 g_file_test(s->frame.fullname, G_FILE_TEST_IS_REGULAR);
    if ((s->why || s->at_end) && s->recording.own && !there)
        debugger_query(d, "-stack-list-frames 0 50", on_frames, d);
}

static void on_place(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    if (!result || strcmp(result->name, "done") != 0) {
        /* An interrupt that was meant for the move ended the question. */
        if (result && !d->own->place_again)
            debugger_query(d, "-pin-place", on_place, d);
        d->own->place_again = true;
        return;
    }
    session_take_place(&d->session, result->results);
    debugger_tell(d, CHANGE_PLACE);
    if (d->session.at_end && !d->session.why && d->session.frame.level == 0)
        look_for_source(d);
    if (d->session.recording.live && d->session.now)
        debugger_ask_timeline(d); /* the program has gone on */
}

static void on_breakpoints(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    d->own->breakpoints_asked = false;
    if (!result || strcmp(result->name, "done") != 0)
        return;
    g_ptr_array_unref(d->breakpoints);
    d->breakpoints = breakpoints_new(result->results);
    debugger_tell(d, CHANGE_BREAKPOINTS);
}

static void ask_breakpoints(struct debugger *d)
{
    if (d->own->breakpoints_asked)
        return;
    d->own->breakpoints_asked = true;
    gdb_send(d->gdb, GDB_COMMAND, "-break-list", on_breakpoints, d);
}

static void on_guest_gone(void *arg, const struct mi_record *result)
{
    if (result)
        ask_breakpoints(arg); /* GDB gives no notice of what MI deletes */
}

/* The breakpoint of a run to a line has done its duty, hit or not. */
static void drop_guest(struct debugger *d)
{
    if (!d->own->guest)
        return;
    char *command = g_strdup_printf("-break-delete %s", d->own->guest);
    g_clear_pointer(&d->own->guest, g_free);
    gdb_send(d->gdb, GDB_COMMAND, command, on_guest_gone, d);
    g_free(command);
}

/* The program has ended: GDB has nothing any more, but its recording is there. */
static void end_live(struct debugger *d)
{
    debugger_remember(d);
    d->own->ended = true;
    gdb_send(d->gdb, GDB_COMMAND, "-gdb-exit", NULL, NULL);
}

static void ask_about_stop(struct debugger *d)
{
    debugger_tell(d, CHANGE_STOP);
    drop_guest(d);
    d->own->place_again = false;
    debugger_query(d, "-pin-place", on_place, d);
    look_for_source(d);
}

/* A move that did not take place: what was still to be asked about the last stop was given up for
 * it. */
static void stay(struct debugger *d)
{
    if (d->session.state == SESSION_STOPPED && d->own->stops)
        ask_about_stop(d);
}

static void on_stopped(struct debugger *d, const struct value *stop)
{
    if (d->session.recording.live && g_str_has_prefix(value_say(stop, "reason"), "exited")) {
        end_live(d);
        return;
    }
    d->own->stops++;
    session_take_stop(&d->session, stop);
    debugger_tell(d, CHANGE_STATE);
    ask_about_stop(d);
}

static void on_notice(struct debugger *d, const struct mi_record *r)
{
    if (g_str_has_prefix(r->name, "breakpoint-")) {
        ask_breakpoints(d);
    } else if (strcmp(r->name, "remote") == 0 && d->own->remote) {
        g_free(d->own->remote_gdb);
        d->own->remote_gdb = g_strdup(value_say(r->results, "pid"));
    } else if (strcmp(r->name, "thread-selected") == 0 && value_get(r->results, "frame") &&
               d->session.state == SESSION_STOPPED) { /* typed at the prompt */
        session_take_frame(&d->session.frame, value_get(r->results, "frame"));
        d->session.gdb_thread = (unsigned)value_number(r->results, "id", d->session.gdb_thread);
        debugger_tell(d, CHANGE_FRAME);
    }
}

static void on_record(void *arg, const struct mi_record *r)
{
    struct debugger *d = arg;
    switch (r->kind) {
    case MI_EXEC:
        if (strcmp(r->name, "stopped") == 0)
            on_stopped(d, r->results);
        else if (d->session.state == SESSION_STOPPED)
            debugger_set_state(d, SESSION_RUNNING);
        break;
    case MI_NOTIFY:
        on_notice(d, r);
        break;
    case MI_RESULT: /* a move that did not take place */
        debugger_complain(d, value_say(r->results, "msg"));
        debugger_set_state(d, SESSION_STOPPED);
        stay(d);
        break;
    default:
        if (r->text)
            d->own->listener.said(d->own->listener.arg, r->text);
        break;
    }
}

static void on_busy(void *arg, bool busy)
{
    struct debugger *d = arg;
    d->own->busy = busy;
    debugger_tell(d, CHANGE_WORK);
}

static void on_ended(void *arg, const char *words)
{
    struct debugger *d = arg;
    bool loading = d->session.state == SESSION_LOADING;
    struct gdb *gdb = d->gdb;
    char *text = text_lines(words);
    d->gdb = NULL;
    g_clear_pointer(&d->own->remote_gdb, g_free);
    if (d->own->ended) {
        g_free(text);
        gdb_free(gdb);
        d->own->ended = false;
        g_clear_pointer(&d->own->again_at, g_free);
        char *path = g_strdup(d->own->path);
        debugger_open(d, path);
        g_free(path);
        return;
    }
    debugger_set_state(d, SESSION_LOST);
    if (loading)
        debugger_complain(d, *text ? text : "GDB could not be started");
    g_free(text);
    gdb_free(gdb);
    debugger_tell(d, CHANGE_WORK);
}

/* ---- open and close ---- */

/* What is typed into GDB's own settings here concerns how it prints to a window. */
static const char *const settings[] = {
    "-gdb-set confirm off",    "-gdb-set pagination off",
    "-gdb-set width 0",        "-gdb-set print frame-arguments scalars",
    "-enable-pretty-printing", "-gdb-set suppress-cli-notifications off"};

/* Slices tell what flowed; that takes a replay of their own, which a GDB that is confined cannot
 * start. */
static const char values[] =
    "-interpreter-exec console \"python import drdebug; drdebug.slices.values = True\"";

/* What starts GDB on a recording; to be freed. */
static char **recording_words(struct debugger *d)
{
    const struct session_recording *r = &d->session.recording;
    const char *gdb = d->own->remote ? NULL : d->own->gdb; /* the setting is about this machine */
    const char *const words[] = {d->own->drdebug,
                                 "debug",
                                 r->own ? NULL : "--confined",
                                 gdb ? "--gdb" : NULL,
                                 gdb,
                                 d->own->again_at ? "--start" : NULL,
                                 d->own->path,
                                 "--",
                                 "-i=mi3",
                                 r->own ? NULL : "-nx",
                                 r->own ? NULL : "-iex",
                                 r->own ? NULL : "set source open off"};
    const char *given[G_N_ELEMENTS(words) + 1] = {NULL};
    for (size_t i = 0, n = 0; i < G_N_ELEMENTS(words); i++)
        if (words[i])
            given[n++] = words[i];
    return debugger_words(d, REMOTE_GDB, given);
}

void debugger_remember(struct debugger *d)
{
    g_clear_pointer(&d->own->again, g_ptr_array_unref);
    d->own->again = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < d->breakpoints->len; i++) {
        char *command = breakpoint_command(g_ptr_array_index(d->breakpoints, i));
        if (command)
            g_ptr_array_add(d->own->again, command);
    }
    g_free(d->own->again_at);
    d->own->again_at = g_strdup(d->session.position);
}

/* What an earlier GDB had, if one is followed. */
static void bring_back(struct debugger *d)
{
    GPtrArray *again = g_steal_pointer(&d->own->again);
    char *position = g_steal_pointer(&d->own->again_at);
    for (unsigned i = 0; again && i < again->len; i++)
        gdb_send(d->gdb, GDB_COMMAND, g_ptr_array_index(again, i), NULL, NULL);
    if (position)
        debugger_goto(d, position);
    if (again) {
        ask_breakpoints(d);
        g_ptr_array_unref(again);
    }
    g_free(position);
}

void debugger_start_gdb(struct debugger *d)
{
    struct gdb_listener listener = {
        .record = on_record, .busy = on_busy, .ended = on_ended, .arg = d};
    char **argv = d->session.recording.live ? debugger_live_words(d) : recording_words(d);
    struct err err;
    debugger_set_state(d, SESSION_LOADING);
    if (argv && !(d->gdb = gdb_new((const char *const *)argv, &listener, &err)))
        debugger_complain(d, err.msg);
    g_strfreev(argv);
    if (!d->gdb) {
        debugger_set_state(d, SESSION_LOST);
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        gdb_send(d->gdb, GDB_COMMAND, settings[i], NULL, NULL);
    debugger_set_sources(d);
    if (d->session.recording.own)
        gdb_send(d->gdb, GDB_COMMAND, values, NULL, NULL);
    if (d->own->places && *d->own->places)
        debugger_select_frame(d, 0); /* the first stop was told before */
    bring_back(d);
}

static void on_info(void *arg, const char *out, const char *complaint)
{
    struct debugger *d = arg;
    struct value *info = complaint ? NULL : json_parse(out);
    d->own->opening = NULL;
    if (!info) {
        debugger_complain(d, complaint && *complaint ? complaint : "drdebug info gave no answer");
        debugger_set_state(d, SESSION_NONE);
        debugger_tell(d, CHANGE_RECORDING);
        return;
    }
    session_take_info(&d->session, d->own->spec, info);
    d->traced = value_is_true(info, "traced");
    value_free(info);
    debugger_tell(d, CHANGE_RECORDING);
    debugger_start_gdb(d);
    debugger_ask_timeline(d);
}

void debugger_ask_info(struct debugger *d)
{
    struct job_listener listener = {.done = on_info, .arg = d};
    struct err err;
    const char *const words[] = {d->own->drdebug, "info", "--json", "--", d->own->path, NULL};
    char **argv = debugger_words(d, REMOTE_JOB, words);
    if (!(d->own->opening = job_new((const char *const *)argv, &listener, &err)))
        debugger_complain(d, err.msg);
    g_strfreev(argv);
}

void debugger_open(struct debugger *d, const char *path)
{
    GPtrArray *again = g_steal_pointer(&d->own->again);
    char *again_at = g_steal_pointer(&d->own->again_at);
    char *spec = remote_is(path, NULL, NULL) ? g_strdup(path) : g_canonicalize_filename(path, NULL);
    debugger_close(d);
    d->own->again = again;
    d->own->again_at = again_at;
    d->own->spec = spec;
    debugger_set_state(d, SESSION_LOADING);
    if (remote_is(spec, NULL, NULL)) {
        debugger_connect(d);
        return;
    }
    d->own->path = g_strdup(spec);
    debugger_ask_info(d);
}

void debugger_close(struct debugger *d)
{
    struct gdb *gdb = d->gdb;
    d->gdb = NULL;
    gdb_free(gdb);
    job_forget(d->own->opening);
    d->own->opening = NULL;
    debugger_forget_work(d);
    session_deinit(&d->session);
    g_ptr_array_set_size(d->breakpoints, 0);
    timeline_free(d->timeline);
    d->timeline = timeline_new();
    slice_free(d->slice);
    d->slice = NULL;
    d->traced = false;
    d->own->breakpoints_asked = false;
    g_clear_pointer(&d->own->guest, g_free);
    g_clear_pointer(&d->own->path, g_free);
    g_clear_pointer(&d->own->spec, g_free);
    g_clear_pointer(&d->own->remote_gdb, g_free);
    struct remote *remote = g_steal_pointer(&d->own->remote);
    remote_free(remote);
    debugger_forget_sources(d);
    g_clear_pointer(&d->own->again, g_ptr_array_unref);
    g_clear_pointer(&d->own->again_at, g_free);
    d->own->ended = false;
    debugger_tell(d, CHANGE_RECORDING);
    debugger_tell(d, CHANGE_STATE);
}

void debugger_recover(struct debugger *d)
{
    if (d->gdb || !d->session.recording.path)
        return;
    debugger_remember(d);
    if (d->session.recording.live) {
        char *path = g_strdup(d->own->path);
        debugger_open(d, path);
        g_free(path);
        return;
    }
    g_ptr_array_set_size(d->breakpoints, 0);
    slice_free(d->slice); /* it was that GDB's */
    d->slice = NULL;
    debugger_tell(d, CHANGE_SLICE);
    if (d->own->remote && !remote_is_connected(d->own->remote))
        debugger_connect(d);
    else
        debugger_start_gdb(d);
}

struct debugger *debugger_new(const char *drdebug, const struct debugger_listener *listener)
{
    struct debugger *d = g_new0(struct debugger, 1);
    d->own = g_new0(struct debugger_own, 1);
    d->own->drdebug = g_strdup(drdebug);
    d->own->listener = *listener;
    d->own->tasks = g_queue_new();
    d->own->fetches = g_ptr_array_new_with_free_func(debugger_fetch_free);
    d->own->sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    d->timeline = timeline_new();
    d->breakpoints = g_ptr_array_new();
    d->percent = -1;
    return d;
}

void debugger_free(struct debugger *d)
{
    if (!d)
        return;
    d->own->listener = debugger_silence;
    debugger_close(d);
    timeline_free(d->timeline);
    g_ptr_array_unref(d->breakpoints);
    g_queue_free(d->own->tasks);
    g_ptr_array_unref(d->own->fetches);
    g_hash_table_unref(d->own->sources);
    program_deinit(&d->own->program);
    g_free(d->own->tty);
    g_free(d->own->places);
    g_free(d->own->gdb);
    g_free(d->own->drdebug);
    g_free(d->own);
    g_free(d);
}

/* ---- moves ---- */

/* The line of GDB's own as a command of MI. To be freed. */
static char *console(const char *line)
{
    char *quoted = mi_quote(line);
    char *command = g_strdup_printf("-interpreter-exec console %s", quoted);
    g_free(quoted);
    return command;
}

static void on_moved(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    if (result && strcmp(result->name, "error") == 0)
        debugger_complain(d, value_say(result->results, "msg"));
}

static void on_move(void *arg, const struct mi_record *result)
{
    on_moved(arg, result);
    if (result && strcmp(result->name, "error") == 0)
        stay(arg);
}

void debugger_move(struct debugger *d, const char *command)
{
    char *whole = *command == '-' ? g_strdup(command) : console(command);
    gdb_send(d->gdb, GDB_MOVE, whole, on_move, d);
    g_free(whole);
}

void debugger_goto(struct debugger *d, const char *position)
{
    char *command = g_strdup_printf("pin goto %s", position);
    debugger_move(d, command);
    g_free(command);
}

void debugger_goto_ticks(struct debugger *d, uint64_t ticks)
{
    uint64_t now = d->session.ticks;
    char *where = g_strdup_printf("%c%" G_GUINT64_FORMAT, ticks < now ? '-' : '+',
                                  ticks < now ? now - ticks : ticks - now);
    if (ticks != now)
        debugger_goto(d, where);
    g_free(where);
}

void debugger_restart(struct debugger *d)
{
    debugger_move(d, "start");
}

void debugger_goto_failure(struct debugger *d)
{
    debugger_move(d, d->session.recording.live ? "pin goto end"
                                               : "python import drdebug; drdebug.start('end')");
}

static void on_guest(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    const struct value *b = result ? value_get(result->results, "bkpt") : NULL;
    if (!b) {
        on_moved(d, result);
        return;
    }
    drop_guest(d); /* of a run that was asked for before this one and has not begun */
    d->own->guest = g_strdup(value_say(b, "number"));
    debugger_move(d, d->own->guest_back ? "reverse-continue" : "-exec-continue");
}

void debugger_run_to(struct debugger *d, const char *file, unsigned line, bool back)
{
    char *quoted = mi_quote(file);
    char *command = g_strdup_printf("-break-insert --source %s --line %u", quoted, line);
    d->own->guest_back = back;
    gdb_send(d->gdb, GDB_COMMAND, command, on_guest, d);
    g_free(command);
    g_free(quoted);
}

/* ---- frames and threads ---- */

static void on_frame(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    const struct value *frame = result ? value_get(result->results, "frame") : NULL;
    if (!frame)
        return;
    session_take_frame(&d->session.frame, frame);
    debugger_tell(d, CHANGE_FRAME);
}

void debugger_select_frame(struct debugger *d, unsigned level)
{
    char *command = g_strdup_printf("-stack-select-frame %u", level);
    gdb_send(d->gdb, GDB_COMMAND, command, NULL, NULL);
    gdb_send(d->gdb, GDB_COMMAND, "-stack-info-frame", on_frame, d);
    g_free(command);
}

void debugger_select_thread(struct debugger *d, unsigned gdb_thread)
{
    char *command = g_strdup_printf("-thread-select %u", gdb_thread);
    d->session.gdb_thread = gdb_thread;
    gdb_send(d->gdb, GDB_COMMAND, command, NULL, NULL);
    gdb_send(d->gdb, GDB_COMMAND, "-stack-info-frame", on_frame, d);
    g_free(command);
}

/* ---- breakpoints ---- */

static void on_breakpoint(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    on_moved(d, result);
    if (result)
        ask_breakpoints(d);
}

void debugger_breakpoint_command(struct debugger *d, const char *command)
{
    gdb_send(d->gdb, GDB_COMMAND, command, on_breakpoint, d);
}

void debugger_toggle_breakpoint(struct debugger *d, const char *file, unsigned line, bool temporary)
{
    const struct breakpoint *b = breakpoints_at(d->breakpoints, file, line);
    char *quoted = mi_quote(file), *command;
    if (b)
        command = g_strdup_printf("-break-delete %s", b->number);
    else
        command = g_strdup_printf("-break-insert %s--source %s --line %u", temporary ? "-t " : "",
                                  quoted, line);
    debugger_breakpoint_command(d, command);
    g_free(command);
    g_free(quoted);
}

void debugger_enable_breakpoint(struct debugger *d, const char *number, bool enabled)
{
    char *command = g_strdup_printf("-break-%s %s", enabled ? "enable" : "disable", number);
    debugger_breakpoint_command(d, command);
    g_free(command);
}

/* ---- anything else ---- */

void debugger_query(struct debugger *d, const char *command, gdb_answer *answer, void *arg)
{
    gdb_send(d->gdb, GDB_QUERY, command, answer, arg);
}

void debugger_command(struct debugger *d, const char *command, gdb_answer *answer, void *arg)
{
    gdb_send(d->gdb, GDB_COMMAND, command, answer, arg);
}

static void on_value_changed(void *arg, const struct mi_record *result)
{
    struct debugger *d = arg;
    on_moved(d, result);
    if (result && strcmp(result->name, "done") == 0)
        debugger_tell(d, CHANGE_FRAME);
}

void debugger_change_value(struct debugger *d, const char *expression, const char *value)
{
    char *command = g_strdup_printf("-gdb-set var %s = %s", expression, value);
    debugger_command(d, command, on_value_changed, d);
    g_free(command);
}

void debugger_type(struct debugger *d, const char *line)
{
    char *command = console(line);
    gdb_send(d->gdb, GDB_COMMAND, command, on_moved, d);
    g_free(command);
}
