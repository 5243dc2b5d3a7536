/* dialog_find.c - the search for a schedule under which a program fails. SPDX-License-Identifier:
 * MIT
 *
 * `drdebug maple` runs on its own beside the session; its line of progress is shown as it is.
 */
#include "gui/link/job.h"
#include "gui/link/json.h"
#include "gui/model/text.h"
#include "gui/view/form.h"
#include "gui/view/launch.h"

struct finding {
    struct form form;
    GtkWidget *command, *strategy, *runs, *say, *bar, *button;
    struct program program;
    struct job *job; /* the search, or NULL */
    char *path;
    unsigned pulse;
};

static const char *const strategies[] = {
    "All in turn",
#define STRATEGY(name, share, help) #name,
#include "maple-bridge/strategies.def"
#undef STRATEGY
    NULL,
};

static void stop_pulse(struct finding *f)
{
    if (f->pulse)
        g_source_remove(f->pulse);
    f->pulse = 0;
}

static void finding_free(void *arg)
{
    struct finding *f = arg;
    stop_pulse(f);
    job_forget(f->job);
    program_deinit(&f->program);
    g_free(f->path);
    g_free(f);
}

static gboolean on_pulse(void *arg)
{
    struct finding *f = arg;
    gtk_progress_bar_pulse(GTK_PROGRESS_BAR(f->bar));
    return G_SOURCE_CONTINUE;
}

static void show_running(struct finding *f, bool running)
{
    gtk_button_set_label(GTK_BUTTON(f->button), running ? "Stop" : "Search");
    gtk_widget_grab_focus(f->button); /* an entry that is switched off must not have it */
    gtk_widget_set_visible(f->bar, running);
    gtk_widget_set_sensitive(f->command, !running);
    gtk_widget_set_sensitive(f->strategy, !running);
    gtk_widget_set_sensitive(f->runs, !running);
    stop_pulse(f);
    if (running)
        f->pulse = g_timeout_add(120, on_pulse, f);
}

static void say(struct finding *f, const char *text)
{
    char *safe = text_lines(text);
    gtk_label_set_text(GTK_LABEL(f->say), safe);
    g_free(safe);
}

static void on_progress(void *arg, int percent, const char *words)
{
    (void)percent;
    say(arg, words);
}

/* The status is 1 if nothing was found, so that the answer is a complaint's, too. */
static void on_done(void *arg, const char *out, const char *complaint)
{
    struct finding *f = arg;
    struct value *answer = json_parse(out);
    const struct value *found = value_get(answer, "found"), *first = value_at(found, 0);
    f->job = NULL;
    show_running(f, false);
    if (value_count(found) && g_file_test(f->path, G_FILE_TEST_IS_DIR)) {
        struct window *w = f->form.window;
        char *path = g_steal_pointer(&f->path),
             *words = g_strdup_printf("Run %s fails: %s", value_say(first, "run"),
                                      value_say(first, "failure"));
        gtk_window_destroy(GTK_WINDOW(f->form.dialog));
        launch_result(w, path);
        window_toast(w, words);
        g_free(words);
        g_free(path);
    } else if (answer && complaint && *complaint) {
        char *words = g_strdup_printf("No failure in %s runs.", value_say(answer, "runs"));
        say(f, words);
        g_free(words);
    } else {
        say(f, complaint && *complaint ? complaint : "The search was stopped.");
    }
    value_free(answer);
}

static void search(struct finding *f)
{
    const char *strategy = strategies[gtk_drop_down_get_selected(GTK_DROP_DOWN(f->strategy))];
    const char *runs = gtk_editable_get_text(GTK_EDITABLE(f->runs));
    const char *words[12], **at = words;
    struct job_listener listener = {.progress = on_progress, .done = on_done, .arg = f};
    struct err err;
    g_free(f->program.command);
    f->program.command = g_strdup(gtk_editable_get_text(GTK_EDITABLE(f->command)));
    g_free(f->path);
    f->path = program_recording(&f->program, ".maple");
    *at++ = f->form.window->drdebug;
    *at++ = "maple";
    *at++ = "--json";
    *at++ = "-o";
    *at++ = f->path;
    if (*runs) {
        *at++ = "--runs";
        *at++ = runs;
    }
    if (strategy != strategies[0]) {
        *at++ = "--strategy";
        *at++ = strategy;
    }
    *at++ = "--";
    *at = NULL;
    char **argv =
        launch_accept(f->form.window, &f->program) ? program_argv(&f->program, words, &err) : NULL;
    if (argv && (f->job = job_new((const char *const *)argv, &listener, &err)))
        show_running(f, true);
    else
        say(f, argv ? err.msg : "Name a program first.");
    g_strfreev(argv);
}

static void on_button(GtkButton *button, struct finding *f)
{
    (void)button;
    if (f->job)
        job_cancel(f->job);
    else
        search(f);
}

void dialog_find(struct window *w)
{
    struct finding *f = g_new0(struct finding, 1);
    launch_last(w, &f->program);
    form_init(&f->form, w, "Find the Bug", 620);
    form_say(
        &f->form,
        "The program is run under one schedule of its threads after the other, until a run fails: by a "
        "signal, a status other than 0, a deadlock or a hang. That run is recorded, and opened here.");
    f->command = form_entry(&f->form, "Program", f->program.command, "./program and its arguments");
    f->strategy = form_choice(&f->form, "Strategy", strategies);
    f->runs = form_entry(&f->form, "Runs at most", "1000", "1000");
    f->say = form_say(&f->form, "");
    gtk_widget_add_css_class(f->say, "dim-label");
    gtk_label_set_lines(GTK_LABEL(f->say), 3);
    f->bar = gtk_progress_bar_new();
    gtk_grid_attach(GTK_GRID(f->form.grid), f->bar, 0, f->form.rows++, 2, 1);
    gtk_widget_set_visible(f->bar, FALSE);
    f->button = form_button(&f->form, "Search", G_CALLBACK(on_button), f);
    form_show(&f->form, f, finding_free);
}
