/* launch.c - programs that are started here. SPDX-License-Identifier: MIT */
#include "gui/view/launch.h"

#include <string.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"

/* What the recorder in the terminal is making. */
struct making {
    struct window *window;
    char *path;
    bool until_failure;
};

static struct making *making_new(struct window *w, char *path, bool until_failure)
{
    struct making *m = g_new(struct making, 1);
    *m = (struct making){w, path, until_failure};
    return m;
}

static void making_free(struct making *m)
{
    g_free(m->path);
    g_free(m);
}

/* ---- which program ---- */

static char *text_of(struct window *w, const char *key)
{
    char *text = settings_text(w->settings, "program", key);
    return text ? text : g_strdup("");
}

void launch_last(struct window *w, struct program *p)
{
    program_deinit(p);
    p->command = text_of(w, "command");
    p->folder = text_of(w, "folder");
    p->environment = text_of(w, "environment");
}

bool launch_accept(struct window *w, const struct program *p)
{
    const char *const nothing[] = {NULL};
    struct err err;
    char **argv = program_argv(p, nothing, &err);
    if (!argv) {
        window_toast(w, err.msg);
        return false;
    }
    g_strfreev(argv);
    settings_set_text(w->settings, "program", "command", p->command);
    settings_set_text(w->settings, "program", "folder", p->folder);
    settings_set_text(w->settings, "program", "environment", p->environment);
    settings_save(w->settings);
    return true;
}

/* ---- live ---- */

void launch_live(struct window *w, const struct program *p)
{
    struct program copy = {0};
    program_copy(&copy, p);
    char *tty = launch_accept(w, &copy) ? terminal_tty(w) : NULL;
    if (tty)
        debugger_run(w->debugger, &copy, tty);
    g_free(tty);
    program_deinit(&copy);
}

void launch_restart(struct window *w)
{
    const struct program *p = debugger_program(w->debugger);
    if (p)
        launch_live(w, p);
    else
        debugger_restart(w->debugger);
}

static void on_window_gone(GPid pid, int status, gpointer arg)
{
    (void)status, (void)arg;
    g_spawn_close_pid(pid);
}

void launch_result(struct window *w, const char *path)
{
    char *self = g_file_read_link("/proc/self/exe", NULL);
    char *argv[] = {self, (char *)path, NULL};
    GError *error = NULL;
    GPid pid;
    if (!debugger_program(w->debugger)) {
        window_open(w, path);
    } else if (g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid,
                             &error)) {
        g_child_watch_add(pid, on_window_gone, NULL);
    } else {
        window_toast(w, error->message);
        g_error_free(error);
    }
    g_free(self);
}

/* ---- recorded in the terminal ---- */

static void on_recorded(void *arg, int status)
{
    struct making *m = arg;
    struct window *w = m->window;
    (void)status;
    window_announce(w, NULL, NULL, NULL);
    if (g_file_test(m->path, G_FILE_TEST_IS_DIR)) {
        launch_result(w, m->path);
    } else {
        window_toast(w, m->until_failure ? "No run failed within a minute"
                                         : "There is no recording: the terminal says why");
        if (!m->until_failure)
            window_show_pane(w, "terminal");
    }
    actions_update(w);
    making_free(m);
}

void launch_record(struct window *w, const struct program *p, bool until_failure)
{
    char *path = program_recording(p, "");
    const char *const plain[] = {w->drdebug, "record", "-o", path, "--", NULL};
    const char *const failing[] = {w->drdebug, "record", "--chaos", "--keep", "failed", "--retry",
                                   "60s",      "-o",     path,      "--",     NULL};
    struct err err;
    if (terminal_is_running(w) || !launch_accept(w, p)) {
        g_free(path);
        return;
    }
    char **argv = program_argv(p, until_failure ? failing : plain, &err);
    debugger_close(w->debugger);
    window_show_session(w);
    window_show_pane(w, "terminal");
    window_announce(w,
                    until_failure ? "The program is recorded again and again, until a run fails."
                                  : "The program is being recorded. It has the terminal below.",
                    "Stop", "win.record");
    terminal_run(w, argv, on_recorded, making_new(w, path, until_failure));
    actions_update(w);
    g_strfreev(argv);
}

/* ---- a live program's regions ---- */

static const char *complaint_of(const struct mi_record *result)
{
    return result && strcmp(result->name, "done") != 0 ? value_say(result->results, "msg") : NULL;
}

/* What was recorded until here is whole. */
static void on_off(void *arg, const struct mi_record *result)
{
    struct window *w = arg;
    if (!result || w->closing)
        return;
    if (complaint_of(result)) {
        window_toast(w, complaint_of(result));
    } else if (value_is_true(result->results, "later")) {
        window_toast(w, "The recording ends as soon as the program goes on");
    } else {
        window_announce(
            w, "The program is not recorded any more; what was recorded has a window of its own.",
            "Record from Here", "win.record");
        launch_result(w, value_say(result->results, "path"));
    }
}

static void on_on(void *arg, const struct mi_record *result)
{
    struct window *w = arg;
    if (!result || w->closing)
        return;
    if (complaint_of(result))
        window_toast(w, complaint_of(result));
    else
        window_announce(w, "The program is recorded from here on.", "Stop and Open", "win.record");
}

static void on_state(void *arg, const struct mi_record *result)
{
    struct window *w = arg;
    if (!result || w->closing)
        return;
    bool on = value_is_true(result->results, "on");
    if (complaint_of(result))
        window_toast(w, complaint_of(result));
    else
        debugger_command(w->debugger, on ? "-pin-record off" : "-pin-record on",
                         on ? on_off : on_on, w);
}

void launch_button(struct window *w)
{
    if (terminal_is_running(w))
        terminal_stop(w);
    else if (debugger_program(w->debugger))
        debugger_command(w->debugger, "-pin-record", on_state, w);
    else
        dialog_program(w);
}
