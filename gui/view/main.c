/* main.c - drdebug-gui: the window's program. SPDX-License-Identifier: MIT
 *
 * `drdebug gui` starts it, and says in DRDEBUG which drdebug it is to use.
 */
#include <gtksourceview/gtksource.h>

#include "gui/view/window.h"

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
    g_free(drdebug);
    return w;
}

static void on_activate(GtkApplication *app)
{
    new_window(app);
}

static void on_open(GtkApplication *app, GFile **files, int count, const char *hint)
{
    (void)hint;
    for (int i = 0; i < count; i++) {
        char *path = g_file_get_path(files[i]);
        struct window *w = new_window(app);
        if (path)
            window_open(w, path);
        g_free(path);
    }
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
    AdwApplication *app = adw_application_new("org.drdebug.gui", G_APPLICATION_HANDLES_OPEN |
                                                                     G_APPLICATION_NON_UNIQUE);
    g_signal_connect(app, "startup", G_CALLBACK(on_startup), NULL);
    g_signal_connect(app, "activate", G_CALLBACK(on_activate), NULL);
    g_signal_connect(app, "open", G_CALLBACK(on_open), NULL);
    int status = g_application_run(G_APPLICATION(app), argc, argv);
    g_object_unref(app);
    return status;
}
