/* dependences.c - what a line of the slice depends on. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/page.h"

enum { SHOWN_MOST = 40 };

struct link {
    struct window *window;
    char *position;
};

static void link_free(void *arg, GClosure *closure)
{
    struct link *link = arg;
    (void)closure;
    g_free(link->position);
    g_free(link);
}

static void on_activate(GtkButton *button, struct link *link)
{
    (void)button;
    debugger_goto(link->window->debugger, link->position);
}

static GtkWidget *activate_button(struct window *w, const char *position, const char *words)
{
    GtkWidget *button = gtk_button_new_with_label("Activate");
    struct link *link = g_new(struct link, 1);
    char *name = g_strdup_printf("Activate %s", words);
    *link = (struct link){.window = w, .position = g_strdup(position)};
    gtk_widget_add_css_class(button, "activate");
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_widget_set_tooltip_text(button, "Go to this statement");
    gtk_widget_set_sensitive(button, position != NULL);
    g_signal_connect_data(button, "clicked", G_CALLBACK(on_activate), link, link_free, 0);
    g_free(name);
    return button;
}

static void add_cell(GtkWidget *grid, int column, int row, const char *text, const char *class)
{
    GtkWidget *label = window_label(text);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, class);
    if (column == 3)
        gtk_widget_set_hexpand(label, TRUE);
    gtk_grid_attach(GTK_GRID(grid), label, column, row, 1, 1);
}

/* thread, place | how | what flows | the line's text | button */
static void add_dependence(struct window *w, GtkWidget *grid, int row,
                           const struct slice_dependence *d)
{
    char *words = slice_dependence_words(d);
    char *place = d->file ? g_strdup_printf("T%u  %s:%u", d->thread, text_base(d->file), d->line)
                          : g_strdup_printf("T%u", d->thread);
    char *safe = text_line(place);
    char *times = d->times > 1 ? text_number(d->times) : NULL;
    char *how = g_strdup_printf("%s%s%s%s%s", d->kind, d->race ? ", " : "", d->race ? d->race : "",
                                times ? " × " : "", times ? times : "");
    add_cell(grid, 0, row, safe, "dependence-place");
    add_cell(grid, 1, row, how, d->race ? "row-warn" : "dim-label");
    add_cell(grid, 2, row, d->what, "code");
    add_cell(grid, 3, row, d->text, "code");
    gtk_grid_attach(GTK_GRID(grid), activate_button(w, d->position, words), 4, row, 1, 1);
    g_free(how);
    g_free(times);
    g_free(safe);
    g_free(place);
    g_free(words);
}

static int add_row(struct window *w, GtkWidget *grid, int row, const struct slice_row *r)
{
    if (!r->dependences->len) {
        char *text = g_strdup_printf("T%u depends on nothing that was executed before", r->thread);
        add_cell(grid, 0, row, text, "dim-label");
        g_free(text);
        return row + 1;
    }
    for (unsigned i = 0; i < r->dependences->len && row < SHOWN_MOST; i++)
        add_dependence(w, grid, row++, g_ptr_array_index(r->dependences, i));
    return row;
}

GtkWidget *dependences_new(struct window *w, const char *file, unsigned line)
{
    GPtrArray *rows = slice_at(w->debugger->slice, file, line);
    int count = 0;
    if (!rows->len) {
        g_ptr_array_unref(rows);
        return NULL;
    }
    GtkWidget *grid = gtk_grid_new();
    for (unsigned i = 0; i < rows->len; i++)
        count = add_row(w, grid, count, g_ptr_array_index(rows, i));
    g_ptr_array_unref(rows);
    return page_scrolled_new(grid, "Dependences");
}
