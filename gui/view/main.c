/* main.c - drdebug-gui: the window's program. SPDX-License-Identifier: MIT
 *
 * `drdebug gui` starts it, and says in DRDEBUG which drdebug it is to use.
 */
#include <gtksourceview/gtksource.h>
#include <string.h>

#include "gui/view/launch.h"
#include "gui/view/watchdog.h"

static char *find_drdebug(void)
{
    const char *named = g_getenv("DRDEBUG");
    char *self = g_file_read_link("/proc/self/exe", NULL),
         *folder = self ? g_path_get_dirname(self) : NULL;
    char *beside = folder ? g_build_filename(folder, "drdebug", NULL) : NULL;
    char *found = named                                                      ? g_strdup(named)
                  : beside && g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE) ? g_strdup(beside)
                                                                             : g_strdup("drdebug");
    g_free(beside);
    g_free(folder);
    g_free(self);
    return found;
}

static void load_style(void)
{
    GtkCssProvider *css = gtk_css_provider_new();
    gtk_css_provider_load_from_resource(css, "/org/drdebug/gui/data/style.css");
    gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(css),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    gtk_icon_theme_add_resource_path(gtk_icon_theme_get_for_display(gdk_display_get_default()),
                                     "/org/drdebug/gui/data/icons");
    g_object_unref(css);
}

static struct window *new_window(GtkApplication *app)
{
    char *drdebug = find_drdebug();
    struct window *w = window_new(app, drdebug);
    gtk_window_present(GTK_WINDOW(w->window));
    watchdog_watch(GTK_WIDGET(w->window));
    g_free(drdebug);
    return w;
}

/* `-- PROG ARG...`: a program, live; else each word is a recording. */
static void on_activate(GtkApplication *app, char *words[])
{
    if (words[0] && words[1] && strcmp(words[0], "--") == 0) {
        struct program p = {0};
        program_take_words(&p, words + 1);
        launch_live(new_window(app), &p);
        program_deinit(&p);
        return;
    }
    if (!words[0])
        new_window(app);
    for (; *words; words++)
        window_open(new_window(app), *words);
}

static void on_startup(GtkApplication *app)
{
    (void)app;
    gtk_source_init();
    load_style();
}

int main(int argc, char *argv[])
{
    /* A window is a process: each has its own recording, and one that dies takes no other along. */
    AdwApplication *app = adw_application_new("org.drdebug.gui", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(app, "startup", G_CALLBACK(on_startup), NULL);
    g_signal_connect(app, "activate", G_CALLBACK(on_activate), argv + 1);
    (void)argc;
    watchdog_start();
    int status = g_application_run(G_APPLICATION(app), 1, argv);
    g_object_unref(app);
    return status;
}
