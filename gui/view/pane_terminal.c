/* pane_terminal.c - the terminal of a program that was started here. SPDX-License-Identifier: MIT
 *
 * A live program gets the other side of the terminal; the recorder is started in it. Only programs
 * that the user has started write here: what a recording has written is text, in the pane Output.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <vte/vte.h>

#include "gui/view/panes.h"

enum { LINES_MOST = 10000 };

struct terminal_pane {
    struct pane pane;
    VteTerminal *terminal;
    GtkWidget *stack;
    terminal_ended *fn; /* of what was started in it; NULL: nothing runs */
    void *arg;
};

static struct terminal_pane *find(struct window *w)
{
    return (struct terminal_pane *)window_pane(w, "terminal");
}

char *terminal_tty(struct window *w)
{
    struct terminal_pane *p = find(w);
    VtePty *pty = vte_pty_new_sync(VTE_PTY_DEFAULT, NULL, NULL);
    char *path = pty ? g_strdup(ptsname(vte_pty_get_fd(pty))) : NULL;
    vte_terminal_reset(p->terminal, TRUE, TRUE);
    vte_terminal_set_pty(p->terminal, pty);
    g_clear_object(&pty);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "terminal");
    return path;
}

static void on_ended(VteTerminal *terminal, int status, struct terminal_pane *p)
{
    terminal_ended *fn = p->fn;
    (void)terminal;
    p->fn = NULL;
    if (fn && !p->pane.window->closing)
        fn(p->arg, status);
}

static void on_spawned(VteTerminal *terminal, GPid pid, GError *error, void *arg)
{
    struct terminal_pane *p = arg;
    (void)pid;
    if (!error)
        return;
    window_toast(p->pane.window, error->message);
    on_ended(terminal, -1, p);
}

void terminal_run(struct window *w, char *argv[], terminal_ended *fn, void *arg)
{
    struct terminal_pane *p = find(w);
    vte_terminal_reset(p->terminal, TRUE, TRUE);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "terminal");
    p->fn = fn;
    p->arg = arg;
    vte_terminal_spawn_async(p->terminal, VTE_PTY_DEFAULT, NULL, argv, NULL, G_SPAWN_SEARCH_PATH,
                             NULL, NULL, NULL, -1, NULL, on_spawned, p);
    gtk_widget_grab_focus(GTK_WIDGET(p->terminal));
}

bool terminal_is_running(struct window *w)
{
    return find(w)->fn != NULL;
}

void terminal_stop(struct window *w)
{
    static const char interrupt[] =
        "\003"; /* what Ctrl-C is: the program ends, its recording is whole */
    if (find(w)->fn)
        vte_terminal_feed_child(find(w)->terminal, interrupt, 1);
}

static void set_colours(struct terminal_pane *p)
{
    bool dark = adw_style_manager_get_dark(adw_style_manager_get_default());
    GdkRGBA light = {0.99f, 0.99f, 0.99f, 1}, night = {0.12f, 0.12f, 0.12f, 1};
    vte_terminal_set_colors(p->terminal, dark ? &light : &night, dark ? &night : &light, NULL, 0);
}

static void on_style(AdwStyleManager *manager, GParamSpec *spec, struct terminal_pane *p)
{
    (void)manager;
    (void)spec;
    set_colours(p);
}

/* A live program has no session of its own in which Ctrl-C would mean it. */
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       struct terminal_pane *p)
{
    (void)keys;
    (void)code;
    if (key != GDK_KEY_c || (state & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)) != GDK_CONTROL_MASK ||
        !debugger_program(p->pane.window->debugger))
        return FALSE;
    debugger_cancel(p->pane.window->debugger);
    return TRUE;
}

struct pane *terminal_pane_new(struct window *w)
{
    struct terminal_pane *p = g_new0(struct terminal_pane, 1);
    GtkWidget *scrolled = gtk_scrolled_window_new(),
              *nothing =
                  gtk_label_new("A program that is started here has its terminal in this pane.\n"
                                "What a recording has written is in the pane Output.");
    GtkEventController *keys = gtk_event_controller_key_new();
    (void)w;
    p->terminal = VTE_TERMINAL(vte_terminal_new());
    vte_terminal_set_scrollback_lines(p->terminal, LINES_MOST);
    vte_terminal_set_cursor_blink_mode(p->terminal, VTE_CURSOR_BLINK_OFF);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->terminal), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "The program's terminal", -1);
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), p);
    gtk_widget_add_controller(GTK_WIDGET(p->terminal), keys);
    g_signal_connect(p->terminal, "child-exited", G_CALLBACK(on_ended), p);
    g_signal_connect(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(on_style), p);
    set_colours(p);
    gtk_label_set_justify(GTK_LABEL(nothing), GTK_JUSTIFY_CENTER);
    gtk_widget_add_css_class(nothing, "dim-label");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), GTK_WIDGET(p->terminal));
    p->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(p->stack), nothing, "nothing");
    gtk_stack_add_named(GTK_STACK(p->stack), scrolled, "terminal");
    p->pane.widget = p->stack;
    return &p->pane;
}
