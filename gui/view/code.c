/* code.c - the instructions of a source line, below it. SPDX-License-Identifier: MIT */
#include "gui/model/code.h"

#include "gui/model/text.h"
#include "gui/view/page.h"

enum { SHOWN_MOST = 200 };

/* Belongs to the widget; an answer holds a reference to that. */
struct code {
    struct window *window;
    GtkWidget *grid;
    unsigned line;
    void (*fn)(void *arg);
    void *arg;
};

static void add_cell(struct code *c, int column, int row, const char *text, const char *class)
{
    GtkWidget *label = window_label(text);
    gtk_widget_add_css_class(label, class);
    if (column == 1)
        gtk_widget_set_hexpand(label, TRUE);
    gtk_grid_attach(GTK_GRID(c->grid), label, column, row, 1, 1);
}

static void add_instruction(struct code *c, int row, const struct instruction *one)
{
    bool next = one->address == c->window->debugger->session.frame.pc;
    char *address =
        g_strdup_printf("%s 0x%" G_GINT64_MODIFIER "x", next ? "▶" : "  ", one->address);
    add_cell(c, 0, row, address, "code");
    add_cell(c, 1, row, one->text, "code");
    add_cell(c, 2, row, one->where, "dim-label");
    g_free(address);
}

static void on_code(void *arg, const struct mi_record *result)
{
    GtkWidget *widget = arg;
    struct code *c = g_object_get_data(G_OBJECT(widget), "code");
    if (result && gtk_widget_get_parent(widget)) {
        GPtrArray *code = code_new(result->results, c->line);
        for (unsigned i = 0; i < code->len && i < SHOWN_MOST; i++)
            add_instruction(c, (int)i, g_ptr_array_index(code, i));
        if (!code->len)
            add_cell(c, 0, 0,
                     value_text(result->results, "msg")
                         ? value_say(result->results, "msg")
                         : "This line has no instructions of its own.",
                     "dim-label");
        g_ptr_array_unref(code);
        c->fn(c->arg);
    }
    g_object_unref(widget);
}

GtkWidget *code_widget_new(struct window *w, const char *file, unsigned line, void (*fn)(void *arg),
                           void *arg)
{
    struct code *c = g_new(struct code, 1);
    *c = (struct code){w, gtk_grid_new(), line, fn, arg};
    GtkWidget *scrolled = page_scrolled_new(c->grid, "Instructions of the line");
    g_object_set_data_full(G_OBJECT(scrolled), "code", c, g_free);
    char *quoted = mi_quote(file),
         *command = g_strdup_printf("-data-disassemble -f %s -l %u -n -1 -- 4", quoted, line);
    debugger_query(w->debugger, command, on_code, g_object_ref(scrolled));
    g_free(command);
    g_free(quoted);
    return scrolled;
}
