/* launch.c - programs that are started here. SPDX-License-Identifier: MIT */
#include "gui/view/launch.h"

#include <string.h>

#include "gui/link/job.h"
#include "gui/model/text.h"
#include "gui/view/panes.h"

/* What is being made, by the recorder in the terminal or by a cut. */
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

void launch_result(struct window *w, const char *path)
{
    char *self = g_file_read_link("/proc/self/exe", NULL);
    char *argv[] = {self, (char *)path, NULL};
    GError *error = NULL;
    if (!debugger_program(w->debugger)) {
        window_open(w, path);
    } else if (!g_spawn_async(NULL, argv, NULL, 0, NULL, NULL, NULL, &error)) {
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

/* ---- a region of a live program ---- */

static void on_cut(void *arg, const char *out, const char *complaint)
{
    struct making *m = arg;
    (void)out;
    if (complaint && *complaint)
        window_toast(m->window, complaint);
    else if (!complaint)
        launch_result(m->window, m->path);
    making_free(m);
}

static void cut(struct window *w, const char *from, const char *to)
{
    char *path = program_recording(debugger_program(w->debugger), ".region");
    const char *const argv[] = {
        w->drdebug, "cut", w->debugger->session.recording.path, "--from", from, "--to", to, "-o",
        path,       NULL};
    struct making *m = making_new(w, path, false);
    struct job_listener listener = {.done = on_cut, .arg = m};
    struct err err;
    if (!job_new(argv, &listener, &err))
        on_cut(m, "", err.msg);
}

static void toggle_region(struct window *w)
{
    const struct session *s = &w->debugger->session;
    char *from = g_steal_pointer(&w->region);
    if (!s->position) {
        w->region = from;
        window_toast(w, "Stop the program first");
        return;
    }
    if (!from) {
        w->region = g_strdup(s->position);
        w->region_ticks = s->ticks;
        window_announce(
            w,
            "A region is being recorded from here. Let the program run, and stop it where the region ends.",
            "End the Region", "win.record");
        return;
    }
    window_announce(w, NULL, NULL, NULL);
    if (w->region_ticks == s->ticks)
        window_toast(w, "Nothing was executed in this region");
    else if (w->region_ticks < s->ticks)
        cut(w, from, s->position);
    else
        cut(w, s->position, from);
    g_free(from);
}

void launch_button(struct window *w)
{
    if (terminal_is_running(w))
        terminal_stop(w);
    else if (debugger_program(w->debugger))
        toggle_region(w);
    else
        dialog_program(w);
}
