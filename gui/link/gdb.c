/* gdb.c - a GDB in a process of its own. SPDX-License-Identifier: MIT
 *
 * 1. `sent` is the command under way, or NULL once its result has come.
 * 2. Nothing is sent before GDB's prompt (`ready`): at first it loads the recording; a move is over
 * when it prompts for the next command and the program does not run. Its last stop is told then.
 * 3. A freed gdb stays in memory until its reads are over (references); `gone` keeps it silent.
 */
#define _GNU_SOURCE
#include "gui/link/gdb.h"

#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    WORDS_MOST = 4000, /* of what it said on standard error */
    LONG_LINE = 1 << 16
};

struct command {
    enum gdb_class class;
    uint64_t token;
    char *text;
    gdb_answer *answer;
    void *arg;
};

struct gdb {
    struct gdb_listener listener;
    GSubprocess *process;
    GOutputStream *in;
    GDataInputStream *out, *err;
    GQueue *waiting; /* of struct command * */
    struct command *sent;
    struct mi_record *stop; /* not told yet */
    GString *words;
    uint64_t tokens, last; /* given; of the last result */
    int pid;
    int references;
    bool started, ready, running, gone, ended, busy;
};

/* ---- the queue ---- */

static void answer(struct command *c, const struct mi_record *result)
{
    if (c->answer)
        c->answer(c->arg, result);
    c->answer = NULL;
}

static void command_free(struct command *c)
{
    if (!c)
        return;
    g_free(c->text);
    g_free(c);
}

static void drop(struct gdb *gdb, bool (*which)(const struct command *))
{
    for (GList *at = gdb->waiting->head, *next; at; at = next) {
        struct command *c = at->data;
        next = at->next;
        if (!which(c))
            continue;
        g_queue_delete_link(gdb->waiting, at);
        answer(c, NULL);
        command_free(c);
    }
}

static bool is_stale(const struct command *c)
{
    return c->class != GDB_COMMAND;
}

static bool is_any(const struct command *c)
{
    (void)c;
    return true;
}

static void tell_busy(struct gdb *gdb)
{
    bool busy = gdb_is_busy(gdb);
    if (busy == gdb->busy || gdb->gone)
        return;
    gdb->busy = busy;
    gdb->listener.busy(gdb->listener.arg, busy);
}

static void send_next(struct gdb *gdb)
{
    if (!gdb->ready || gdb->sent || gdb->running || gdb->gone || gdb->ended)
        return;
    struct command *c = g_queue_pop_head(gdb->waiting);
    if (c) {
        char *line = g_strdup_printf("%" G_GUINT64_FORMAT "%s\n", c->token, c->text);
        gdb->sent = c;
        gdb->ready = false;
        /* A pipe has room for a line; where it has not, GDB reads it. */
        g_output_stream_write_all(gdb->in, line, strlen(line), NULL, NULL, NULL);
        g_free(line);
    }
    tell_busy(gdb);
}

void gdb_send(struct gdb *gdb, enum gdb_class class, const char *command, gdb_answer *fn, void *arg)
{
    if (!gdb || gdb->ended) {
        if (fn)
            fn(arg, NULL);
        return;
    }
    struct command *c = g_new(struct command, 1);
    *c = (struct command){.class = class, .token = ++gdb->tokens, .answer = fn, .arg = arg};
    c->text = g_strdup(command);
    if (class == GDB_MOVE)
        drop(gdb, is_stale);
    g_queue_push_tail(gdb->waiting, c);
    send_next(gdb);
}

bool gdb_is_busy(const struct gdb *gdb)
{
    return gdb && !gdb->ended &&
           (!gdb->started || gdb->running || (gdb->sent && gdb->sent->class != GDB_QUERY));
}

int gdb_pid(const struct gdb *gdb)
{
    return gdb ? gdb->pid : 0;
}

/* Once it has ended, its number may be another's. */
static bool is_alive(const struct gdb *gdb)
{
    return g_subprocess_get_identifier(gdb->process) != NULL;
}

void gdb_interrupt(struct gdb *gdb)
{
    if (gdb && is_alive(gdb))
        kill(-gdb->pid, SIGINT);
}

/* ---- what it says ---- */

static void finish_sent(struct gdb *gdb)
{
    struct command *c = gdb->sent;
    gdb->sent = NULL;
    command_free(c);
}

static void take_result(struct gdb *gdb, const struct mi_record *r)
{
    struct command *c = gdb->sent;
    if (!c && r->token == gdb->last && strcmp(r->name, "error") == 0 && !gdb->gone) {
        gdb->running = false; /* a move that was begun did not get there */
        gdb->listener.record(gdb->listener.arg, r);
    }
    if (!c || r->token != c->token)
        return;
    gdb->last = c->token;
    if (strcmp(r->name, "running") == 0)
        gdb->running = true;
    /* The answer may send more, which must wait for this one's end: it is over before. */
    gdb->sent = NULL;
    answer(c, r);
    command_free(c);
}

/* A command of several moves stops several times; only where it ends is worth showing. */
static void take_exec(struct gdb *gdb, struct mi_record *r)
{
    gdb->running = strcmp(r->name, "running") == 0;
    mi_free(gdb->stop);
    gdb->stop = gdb->running ? NULL : r;
    if (gdb->running) {
        gdb->listener.record(gdb->listener.arg, r);
        mi_free(r);
    }
}

static void take_prompt(struct gdb *gdb)
{
    struct mi_record *stop = gdb->stop;
    if (gdb->running || gdb->sent)
        return;
    gdb->ready = gdb->started = true;
    gdb->stop = NULL;
    if (stop)
        gdb->listener.record(gdb->listener.arg, stop);
    mi_free(stop);
}

static void take_record(struct gdb *gdb, struct mi_record *r)
{
    if (r->kind == MI_EXEC) {
        take_exec(gdb, r);
        return;
    }
    if (r->kind == MI_RESULT && r->token)
        take_result(gdb, r);
    else if (r->kind == MI_PROMPT)
        take_prompt(gdb);
    else
        gdb->listener.record(gdb->listener.arg, r);
    mi_free(r);
    send_next(gdb);
}

static void unref(struct gdb *gdb)
{
    if (--gdb->references)
        return;
    g_clear_object(&gdb->out);
    g_clear_object(&gdb->err);
    g_clear_object(&gdb->process);
    mi_free(gdb->stop);
    g_queue_free(gdb->waiting);
    g_string_free(gdb->words, TRUE);
    g_free(gdb);
}

static void end(struct gdb *gdb)
{
    if (gdb->ended)
        return;
    gdb->ended = true;
    if (gdb->sent)
        answer(gdb->sent, NULL);
    finish_sent(gdb);
    drop(gdb, is_any);
    if (!gdb->gone)
        gdb->listener.ended(gdb->listener.arg, gdb->words->str);
}

static void read_out(struct gdb *gdb);

static void on_parsed(GObject *source, GAsyncResult *result, void *arg)
{
    struct gdb *gdb = arg;
    struct mi_record *r = g_task_propagate_pointer(G_TASK(result), NULL);
    (void)source;
    if (gdb->gone)
        mi_free(r);
    else
        take_record(gdb, r);
    read_out(gdb);
    unref(gdb);
}

static void parse(GTask *task, void *source, void *line, GCancellable *cancellable)
{
    (void)source, (void)cancellable;
    g_task_return_pointer(task, mi_parse(line), NULL);
}

/* A slice of thousands of lines takes a while; the next line is read when it is over. */
static void parse_apart(struct gdb *gdb, char *line)
{
    GTask *task = g_task_new(NULL, NULL, on_parsed, gdb);
    g_task_set_task_data(task, line, g_free);
    g_task_run_in_thread(task, parse);
    g_object_unref(task);
}

static void on_out(GObject *source, GAsyncResult *result, void *arg)
{
    struct gdb *gdb = arg;
    char *line =
        g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(source), result, NULL, NULL);
    if (line && strlen(line) >= LONG_LINE) {
        parse_apart(gdb, line);
        return;
    }
    if (line && !gdb->gone)
        take_record(gdb, mi_parse(line));
    if (line)
        read_out(gdb);
    else
        end(gdb);
    g_free(line);
    unref(gdb);
}

static void read_out(struct gdb *gdb)
{
    gdb->references++;
    g_data_input_stream_read_line_async(gdb->out, G_PRIORITY_DEFAULT, NULL, on_out, gdb);
}

static void read_err(struct gdb *gdb);

static void on_err(GObject *source, GAsyncResult *result, void *arg)
{
    struct gdb *gdb = arg;
    char *line =
        g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(source), result, NULL, NULL);
    if (line) {
        char *valid = g_utf8_make_valid(line, -1);
        if (gdb->words->len > WORDS_MOST)
            g_string_truncate(gdb->words, 0);
        g_string_append_printf(gdb->words, "%s%s", gdb->words->len ? "\n" : "", valid);
        g_free(valid);
        read_err(gdb);
    }
    g_free(line);
    unref(gdb);
}

static void read_err(struct gdb *gdb)
{
    gdb->references++;
    g_data_input_stream_read_line_async(gdb->err, G_PRIORITY_DEFAULT, NULL, on_err, gdb);
}

/* ---- begin and end ---- */

/* A group of its own: an interrupt is for GDB and what it starts, and so is the end. */
static void in_child(void *arg)
{
    (void)arg;
    setsid();
}

struct gdb *gdb_new(const char *const argv[], const struct gdb_listener *listener, struct err *err)
{
    GError *error = NULL;
    GSubprocessLauncher *launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                  G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_set_child_setup(launcher, in_child, NULL, NULL);
    GSubprocess *process = g_subprocess_launcher_spawnv(launcher, argv, &error);
    g_object_unref(launcher);
    if (!process) {
        err_set(err, "%s", error->message);
        g_error_free(error);
        return NULL;
    }
    struct gdb *gdb = g_new0(struct gdb, 1);
    gdb->listener = *listener;
    gdb->process = process;
    gdb->references = 1;
    const char *number = g_subprocess_get_identifier(process); /* NULL: it has ended already */
    gdb->pid = number ? atoi(number) : 0;
    gdb->in = g_subprocess_get_stdin_pipe(process);
    gdb->out = g_data_input_stream_new(g_subprocess_get_stdout_pipe(process));
    gdb->err = g_data_input_stream_new(g_subprocess_get_stderr_pipe(process));
    gdb->waiting = g_queue_new();
    gdb->words = g_string_new(NULL);
    gdb->busy = true; /* it loads the recording; its listener knows that */
    read_out(gdb);
    read_err(gdb);
    return gdb;
}

void gdb_free(struct gdb *gdb)
{
    if (!gdb)
        return;
    gdb->gone = true;
    end(gdb);
    if (is_alive(gdb)) {
        kill(-gdb->pid, SIGTERM);
        g_subprocess_force_exit(gdb->process);
    }
    g_output_stream_close(gdb->in, NULL, NULL);
    unref(gdb);
}
