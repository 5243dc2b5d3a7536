/* debugger_work.c - what takes long: questions, the trace, slices. SPDX-License-Identifier: MIT
 *
 * Questions are processes of their own, one after the other. Slices are GDB's, so that its prompt,
 * its slice-step and the window mean the same one; the trace that they need is collected before, by
 * a process that tells how far it is.
 */
#include <string.h>

#include "gui/link/answer.h"
#include "gui/link/debugger_own.h"
#include "gui/model/text.h"

enum { TURNS_MOST = 1000000 };

struct task {
    struct debugger *d;
    char *title;
    char **argv;
    bool trace; /* not a question */
    answer_row *row;
    struct answer *answer; /* as far as it has come; of a question */
    debugger_answered *fn;
    void *arg;
};

static void changed_nothing(void *arg, enum debugger_change change)
{
    (void)arg;
    (void)change;
}

static void said_nothing(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

const struct debugger_listener debugger_silence = {changed_nothing, said_nothing, said_nothing,
                                                   NULL};

static void task_free(struct task *t)
{
    if (t->answer)
        value_free(answer_end(t->answer));
    g_free(t->title);
    g_strfreev(t->argv);
    g_free(t);
}

/* ---- one after the other ---- */

static void start_next(struct debugger *d);

static void on_progress(void *arg, int percent, const char *words)
{
    struct task *t = arg;
    (void)words;
    t->d->percent = percent;
    debugger_tell(t->d, CHANGE_WORK);
}

static void on_line(void *arg, const char *line)
{
    struct task *t = arg;
    if (t->answer)
        answer_take_line(t->answer, line);
}

static void on_done(void *arg, const char *out, const char *complaint)
{
    struct task *t = arg;
    struct debugger *d = t->d;
    struct answer *came = g_steal_pointer(&t->answer);
    struct value *whole = came ? answer_end(came) : NULL;
    const struct value *answer = complaint ? NULL : whole;
    (void)out;
    d->own->job = NULL;
    d->work = NULL;
    d->percent = -1;
    g_queue_pop_head(d->own->tasks);
    if (complaint && *complaint)
        debugger_complain(d, complaint);
    if (t->trace && !complaint) {
        d->traced = !d->session.recording.live; /* a live one grows */
        debugger_tell(d, CHANGE_TRACE);
    }
    if (t->fn && (!t->trace || !complaint))
        t->fn(t->arg, answer);
    value_free(whole);
    task_free(t);
    start_next(d);
}

static void start_next(struct debugger *d)
{
    struct task *t = g_queue_peek_head(d->own->tasks);
    struct err err;
    if (t && !d->own->job) {
        struct job_listener listener = {
            .progress = on_progress, .line = on_line, .done = on_done, .arg = t};
        d->work = t->title;
        d->percent = -1;
        d->own->job = job_new((const char *const *)t->argv, &listener, &err);
        if (!d->own->job)
            on_done(t, "", err.msg);
    }
    debugger_tell(d, CHANGE_WORK);
}

/* argv: the words that start it, of others' memory. */
static void enqueue(struct debugger *d, struct task task, GPtrArray *argv)
{
    struct task *t = g_new(struct task, 1);
    g_ptr_array_add(argv, NULL);
    *t = task;
    t->d = d;
    if (!t->trace)
        t->answer = answer_new(t->row, t->arg);
    t->argv = debugger_words(d, REMOTE_JOB, (const char *const *)argv->pdata);
    g_ptr_array_unref(argv);
    g_queue_push_tail(d->own->tasks, t);
    start_next(d);
}

void debugger_forget_work(struct debugger *d)
{
    job_forget(d->own->job);
    d->own->job = NULL;
    d->work = NULL;
    d->own->timeline_asked = d->own->timeline_old = false;
    timeline_free(g_steal_pointer(&d->own->coming));
    for (struct task *t; (t = g_queue_pop_head(d->own->tasks));)
        task_free(t);
}

void debugger_cancel(struct debugger *d)
{
    if (d->own->job)
        job_cancel(d->own->job);
    else if (d->own->busy && d->own->remote_gdb)
        remote_interrupt(d->own->remote, d->own->remote_gdb);
    else if (d->own->busy)
        gdb_interrupt(d->gdb);
}

/* ---- questions ---- */

void debugger_ask_rows(struct debugger *d, const char *title, const char *const words[],
                       answer_row *row, debugger_answered *fn, void *arg)
{
    if (!d->own->path)
        return;
    GPtrArray *argv = g_ptr_array_new();
    const char *const asked[] = {d->own->drdebug, "ask", "--json", d->own->path};
    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++)
        g_ptr_array_add(argv, (char *)asked[i]);
    for (; *words; words++)
        g_ptr_array_add(argv, (char *)*words);
    enqueue(d, (struct task){.title = g_strdup(title), .row = row, .fn = fn, .arg = arg}, argv);
}

void debugger_ask(struct debugger *d, const char *title, const char *const words[],
                  debugger_answered *fn, void *arg)
{
    debugger_ask_rows(d, title, words, NULL, fn, arg);
}

void debugger_trace(struct debugger *d, debugger_answered *fn, void *arg)
{
    if (d->traced || !d->own->path) {
        if (fn && d->own->path)
            fn(arg, NULL);
        return;
    }
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, d->own->drdebug);
    g_ptr_array_add(argv, "trace");
    g_ptr_array_add(argv, d->own->path);
    enqueue(d,
            (struct task){
                .title = g_strdup("Collecting the trace"), .trace = true, .fn = fn, .arg = arg},
            argv);
}

/* ---- signals and marks ---- */

static void take_moments(struct debugger *d, enum timeline_kind kind, const char *words,
                         const struct value *answer)
{
    const struct value *rows = value_get(answer, "rows");
    uint64_t ticks;
    timeline_clear_marks(d->timeline, kind);
    for (unsigned i = 0; i < value_count(rows); i++) {
        const struct value *row = value_at(rows, i);
        const char *at = value_say(row, "at");
        char *label = text_line(value_say(row, words));
        if (timeline_when_position(d->timeline, at, &ticks))
            timeline_add_mark(d->timeline, kind, (uint32_t)g_ascii_strtoull(at + 1, NULL, 10),
                              ticks, label);
        g_free(label);
    }
    debugger_tell(d, CHANGE_MARKS);
}

static void on_signals(void *arg, const struct value *answer)
{
    take_moments(arg, TIMELINE_SIGNAL, "event", answer);
}

static void on_marks(void *arg, const struct value *answer)
{
    take_moments(arg, TIMELINE_MARK, "event", answer);
}

static void on_output(void *arg, const struct value *answer)
{
    take_moments(arg, TIMELINE_OUTPUT, "text", answer);
}

/* They need no trace. */
static void ask_moments(struct debugger *d)
{
    static const char *const signals[] = {"events", "signal", "--limit", "20000", NULL},
                             *const marks[] = {"events", "mark", "--limit", "20000", NULL},
                             *const output[] = {"output", "--limit", "20000", NULL};
    debugger_ask(d, "Reading signals", signals, on_signals, d);
    debugger_ask(d, "Reading marks", marks, on_marks, d);
    debugger_ask(d, "Reading the output", output, on_output, d);
}

/* ---- the timeline ---- */

static void on_turn(void *arg, const struct value *row)
{
    struct timeline *t = ((struct debugger *)arg)->own->coming;
    const char *at = strchr(value_say(row, "at"), ':'), *why = value_say(row, "why");
    timeline_add_turn(t, (uint32_t)value_number(row, "thread", 0), value_number(row, "from", 0),
                      value_number(row, "to", 0), at ? g_ascii_strtoull(at + 1, NULL, 10) : 0);
    if (*why && strcmp(why, "end of its slice") != 0)
        timeline_add_wait(t);
}

static void on_turns(void *arg, const struct value *answer)
{
    struct debugger *d = arg;
    struct timeline *old = d->timeline, *made = g_steal_pointer(&d->own->coming);
    d->own->timeline_asked = false;
    if (d->own->timeline_old)
        debugger_ask_timeline(d);
    if (!answer) {
        timeline_free(made);
        return;
    }
    d->timeline = made;
    timeline_move_marks(d->timeline, old);
    timeline_free(old);
    debugger_tell(d, CHANGE_TIMELINE);
    ask_moments(d);
}

void debugger_ask_timeline(struct debugger *d)
{
    d->own->timeline_old = d->own->timeline_asked;
    if (d->own->timeline_old)
        return;
    char *most = g_strdup_printf("%d", TURNS_MOST);
    d->own->timeline_asked = true;
    d->own->coming = timeline_new();
    const char *const words[] = {"schedule", "--limit", most, NULL};
    debugger_ask_rows(d, "Reading the schedule", words, on_turn, on_turns, d);
    g_free(most);
}

/* ---- slices ---- */

/* A slice on its way: first the trace, then GDB's answer, then all its lines. */
struct slicing {
    struct debugger *d;
    char *command;
    debugger_answered *fn;
    void *arg;
};

static void slicing_free(struct slicing *s)
{
    g_free(s->command);
    g_free(s);
}

static void take_slice(struct debugger *d, const struct value *answer)
{
    struct slice *made = slice_new(answer);
    if (!made)
        return;
    slice_free(d->slice);
    d->slice = made;
    debugger_tell(d, CHANGE_SLICE);
}

static void on_lines(void *arg, const struct mi_record *result)
{
    if (result && strcmp(result->name, "done") == 0)
        take_slice(arg, result->results);
}

static void on_slice(void *arg, const struct mi_record *result)
{
    struct slicing *s = arg;
    struct debugger *d = s->d;
    bool good = result && strcmp(result->name, "done") == 0;
    if (result && !good)
        debugger_complain(d, value_say(result->results, "msg"));
    if (good && value_get(result->results, "lines")) {
        take_slice(d, result->results);
    } else if (good) { /* -pin-why tells the story only */
        char *command = g_strdup_printf("-pin-list %s", value_say(result->results, "number"));
        gdb_send(d->gdb, GDB_COMMAND, command, on_lines, d);
        g_free(command);
    }
    if (s->fn)
        s->fn(s->arg, good ? result->results : NULL);
    slicing_free(s);
}

static void on_traced(void *arg, const struct value *answer)
{
    struct slicing *s = arg;
    (void)answer;
    gdb_send(s->d->gdb, GDB_COMMAND, s->command, on_slice, s);
}

void debugger_slice(struct debugger *d, const char *command, debugger_answered *fn, void *arg)
{
    struct slicing *s = g_new(struct slicing, 1);
    *s = (struct slicing){.d = d, .command = g_strdup(command), .fn = fn, .arg = arg};
    debugger_trace(d, on_traced, s);
}

void debugger_why(struct debugger *d, const char *expression, debugger_answered *fn, void *arg)
{
    char *quoted = expression ? mi_quote(expression) : g_strdup("");
    char *command = g_strdup_printf("-pin-why %s", quoted);
    debugger_slice(d, command, fn, arg);
    g_free(command);
    g_free(quoted);
}

void debugger_drop_slice(struct debugger *d)
{
    slice_free(d->slice);
    d->slice = NULL;
    debugger_tell(d, CHANGE_SLICE);
}
