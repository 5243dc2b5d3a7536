/* pane_console.c - GDB's own prompt. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/panes.h"

enum { LINES_MOST = 5000 };

struct console_pane {
    struct pane pane;
    GtkWidget *entry, *view;
    GtkTextBuffer *buffer;
};

void console_say(struct window *w, const char *text)
{
    struct console_pane *p = (struct console_pane *)window_pane(w, "console");
    GtkTextIter end, start;
    char *safe = text_lines(text);
    gtk_text_buffer_get_end_iter(p->buffer, &end);
    gtk_text_buffer_insert(p->buffer, &end, safe, -1);
    int lines = gtk_text_buffer_get_line_count(p->buffer);
    if (lines > LINES_MOST) {
        gtk_text_buffer_get_start_iter(p->buffer, &start);
        gtk_text_buffer_get_iter_at_line(p->buffer, &end, lines - LINES_MOST);
        gtk_text_buffer_delete(p->buffer, &start, &end);
    }
    gtk_text_buffer_get_end_iter(p->buffer, &end);
    gtk_text_buffer_place_cursor(p->buffer, &end);
    gtk_text_view_scroll_mark_onscreen(GTK_TEXT_VIEW(p->view),
                                       gtk_text_buffer_get_insert(p->buffer));
    g_free(safe);
}

static void on_entry(GtkEntry *entry, struct console_pane *p)
{
    char *line = g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry)));
    char *echo = g_strdup_printf("(gdb) %s\n", line);
    console_say(p->pane.window, echo);
    gtk_editable_set_text(GTK_EDITABLE(entry), "");
    if (*line)
        debugger_type(p->pane.window->debugger, line);
    g_free(echo);
    g_free(line);
}

struct pane *console_pane_new(struct window *w)
{
    struct console_pane *p = g_new0(struct console_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *scrolled = gtk_scrolled_window_new();
    (void)w;
    p->view = gtk_text_view_new();
    p->buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(p->view));
    gtk_text_view_set_editable(GTK_TEXT_VIEW(p->view), FALSE);
    gtk_text_view_set_monospace(GTK_TEXT_VIEW(p->view), TRUE);
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(p->view), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_left_margin(GTK_TEXT_VIEW(p->view), 6);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "What GDB says", -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), p->view);
    gtk_widget_set_vexpand(scrolled, TRUE);
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(
        GTK_ENTRY(p->entry),
        "(gdb)  all of GDB's commands work, and `help pin` lists drdebug's own");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "GDB command", -1);
    gtk_widget_add_css_class(p->entry, "filter");
    gtk_widget_add_css_class(p->entry, "code");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_entry), p);
    gtk_box_append(GTK_BOX(box), scrolled);
    gtk_box_append(GTK_BOX(box), p->entry);
    p->pane.widget = box;
    return &p->pane;
}
