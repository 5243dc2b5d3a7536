/* guide.c - the sample bug, and three steps to its cause. SPDX-License-Identifier: MIT
 *
 * Its source comes with the window; it is compiled here, so that what is seen is real from the
 * start.
 */
#include "gui/view/guide.h"

#include <string.h>

#include "gui/link/job.h"
#include "gui/view/launch.h"
#include "gui/view/panes.h"

enum { STEP_NONE, STEP_FAILURE, STEP_WHY, STEP_CAUSE, STEP_SEEN };

static const struct {
    const char *words, *button, *action;
} steps[] = {
    [STEP_FAILURE] =
        {"Step 1 of 3.  Threads counted visitors, and some are missing. Go to where the program noticed.",
         "Go to Failure", "win.failure"},
    [STEP_WHY] =
        {"Step 2 of 3.  `total` is too small here. Ask why: the lines that made it so become yellow.",
         "Why Did It Fail?", "win.why-failure"},
    [STEP_CAUSE] =
        {"Step 3 of 3.  Why names a lost update, and a yellow line's arrow opens what it depends on. "
         "Go to the write that lost it.",
         "Show Me", "win.guide-show"},
    [STEP_SEEN] = {"That is the bug: another thread wrote `total` between line 30 and line 32. "
                   "Step back with Ctrl+Shift+F10, or through the slice with Ctrl+Shift+F4.",
                   NULL, NULL},
};

struct sample {
    struct window *window;
    GtkWidget *button;
    char *recording;
};

static void show_step(struct window *w, int step)
{
    w->guide = step;
    window_announce(w, steps[step].words, steps[step].button, steps[step].action);
}

/* ---- made ---- */

static void on_made(void *arg, const char *out, const char *complaint)
{
    struct sample *s = arg;
    struct window *w = s->window;
    (void)out;
    gtk_button_set_label(GTK_BUTTON(s->button), "Try the Sample Bug");
    gtk_widget_set_sensitive(s->button, TRUE);
    if (!complaint || g_file_test(s->recording, G_FILE_TEST_IS_DIR)) {
        w->guide = STEP_FAILURE;
        window_open(w, s->recording);
    } else {
        window_toast(w, complaint);
    }
    g_object_unref(s->button);
    g_free(s->recording);
    g_free(s);
}

/* The folder with its source; to be freed. NULL: that was told. */
static char *write_source(struct window *w)
{
    GBytes *text = g_resources_lookup_data("/org/drdebug/gui/sample/racy_counter.c", 0, NULL);
    char *cache = g_build_filename(g_get_user_cache_dir(), "drdebug", NULL);
    char *folder = g_build_filename(cache, "sample.XXXXXX", NULL);
    GError *error = NULL;
    bool good = g_mkdir_with_parents(cache, 0700) == 0 && g_mkdtemp(folder);
    char *path = g_build_filename(folder, "racy_counter.c", NULL);
    gsize bytes;
    const char *source = g_bytes_get_data(text, &bytes);
    good = good && g_file_set_contents(path, source, (gssize)bytes, &error);
    if (!good)
        window_toast(w, error ? error->message : "There is no room for the sample");
    g_clear_error(&error);
    g_bytes_unref(text);
    g_free(path);
    g_free(cache);
    return good ? folder : (g_free(folder), NULL);
}

void guide_begin(struct window *w, GtkWidget *button)
{
    static const char script[] =
        "cd \"$1\" && cc -g -pthread racy_counter.c -o racy_counter && \"$2\" record -q --chaos --keep failed "
        "--retry 60s -o racy_counter.pinball -- ./racy_counter";
    char *folder = write_source(w);
    if (!folder)
        return;
    const char *const argv[] = {"sh", "-c", script, "sh", folder, w->drdebug, NULL};
    struct sample *s = g_new(struct sample, 1);
    *s = (struct sample){w, g_object_ref(button),
                         g_build_filename(folder, "racy_counter.pinball", NULL)};
    struct job_listener listener = {.done = on_made, .arg = s};
    struct err err;
    gtk_button_set_label(GTK_BUTTON(button), "Recording a Run That Fails …");
    gtk_widget_set_sensitive(button, FALSE);
    if (!job_new(argv, &listener, &err))
        on_made(s, "", err.msg);
    g_free(folder);
}

/* ---- the steps ---- */

void guide_changed(struct window *w, enum debugger_change change)
{
    const struct session *s = &w->debugger->session;
    if (w->guide == STEP_NONE)
        return;
    if (change == CHANGE_RECORDING && w->guide > STEP_FAILURE)
        w->guide = STEP_NONE;
    else if (change == CHANGE_RECORDING && s->recording.path)
        show_step(w, STEP_FAILURE);
    else if (change == CHANGE_PLACE && w->guide == STEP_FAILURE && s->why)
        show_step(w, STEP_WHY);
    else if (change == CHANGE_SLICE && w->debugger->slice && w->guide < STEP_CAUSE)
        show_step(w, STEP_CAUSE);
}

void guide_show(struct window *w)
{
    const char *position = story_cause(w);
    if (!position)
        return;
    show_step(w, STEP_SEEN);
    debugger_goto(w->debugger, position);
}
