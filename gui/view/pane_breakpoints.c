/* pane_breakpoints.c - breakpoints, watchpoints and their kind. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/source.h"
#include "gui/view/table.h"

struct breakpoints_pane {
    struct pane pane;
    struct table *table;
    GtkWidget *condition, *ignore, *thread;
};

static const struct breakpoint *selected(struct breakpoints_pane *p)
{
    const GPtrArray *all = p->pane.window->debugger->breakpoints;
    GuiItem *item = table_selected(p->table);
    for (unsigned i = 0; item && i < all->len; i++) {
        const struct breakpoint *b = g_ptr_array_index(all, i);
        if (g_str_equal(b->number, item->key))
            return b;
    }
    window_toast(p->pane.window, "Select a breakpoint first");
    return NULL;
}

static void on_activated(void *arg, GuiItem *item)
{
    struct breakpoints_pane *p = arg;
    const struct breakpoint *b = selected(p);
    (void)item;
    if (b && b->file)
        source_show(p->pane.window->source, b->file, b->line);
}

static void command(struct breakpoints_pane *p, const char *format, const char *text)
{
    const struct breakpoint *b = selected(p);
    if (!b)
        return;
    char *line = g_strdup_printf("%s %s%s%s", format, b->number, text ? " " : "", text ? text : "");
    debugger_breakpoint_command(p->pane.window->debugger, line);
    g_free(line);
}

static void on_delete(GtkButton *button, struct breakpoints_pane *p)
{
    (void)button;
    command(p, "-break-delete", NULL);
}

static void on_enable(GtkButton *button, struct breakpoints_pane *p)
{
    const struct breakpoint *b = selected(p);
    (void)button;
    if (b)
        debugger_enable_breakpoint(p->pane.window->debugger, b->number, !b->enabled);
}

static void on_condition(GtkEntry *entry, struct breakpoints_pane *p)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    char *quoted = mi_quote(text);
    command(p, "-break-condition", *text ? quoted : NULL);
    g_free(quoted);
}

static void on_ignore(GtkEntry *entry, struct breakpoints_pane *p)
{
    char *count = g_strdup_printf(
        "%u", (unsigned)g_ascii_strtoull(gtk_editable_get_text(GTK_EDITABLE(entry)), NULL, 10));
    command(p, "-break-after", count);
    g_free(count);
}

/* MI has no command for it. */
static void on_thread(GtkEntry *entry, struct breakpoints_pane *p)
{
    const struct breakpoint *b = selected(p);
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    unsigned thread = (unsigned)g_ascii_strtoull(*text == 'T' ? text + 1 : text, NULL, 10);
    if (!b)
        return;
    char *number = thread ? g_strdup_printf("%u", thread) : g_strdup("None");
    char *line = g_strdup_printf(
        "-interpreter-exec console \"python [b for b in gdb.breakpoints() if b.number == %s][0].thread = %s\"",
        b->number, number);
    debugger_breakpoint_command(p->pane.window->debugger, line);
    g_free(line);
    g_free(number);
}

static GuiItem *make_item(const struct breakpoint *b)
{
    GuiItem *item = gui_item_new();
    item->key = g_strdup(b->number);
    gui_item_set(item, 0, g_strdup(b->number));
    gui_item_set(item, 1, g_strdup(b->enabled ? "on" : "off"));
    gui_item_set(item, 2, g_strdup(b->where));
    gui_item_set(item, 3, b->condition ? g_strdup_printf("if %s", b->condition) : g_strdup(""));
    gui_item_set(item, 4, text_number(b->hits));
    gui_item_set(item, 5, b->ignore ? text_number(b->ignore) : g_strdup(""));
    gui_item_set(item, 6, b->thread ? g_strdup_printf("T%u", b->thread) : g_strdup(""));
    item->look = b->enabled ? LOOK_PLAIN : LOOK_DIM;
    return item;
}

static void changed(struct pane *pane, enum debugger_change change)
{
    struct breakpoints_pane *p = (struct breakpoints_pane *)pane;
    const GPtrArray *all = pane->window->debugger->breakpoints;
    GPtrArray *items;
    if (change != CHANGE_BREAKPOINTS && change != CHANGE_RECORDING)
        return;
    items = g_ptr_array_new();
    for (unsigned i = 0; i < all->len; i++)
        g_ptr_array_add(items, make_item(g_ptr_array_index(all, i)));
    table_take(p->table, items);
}

static GtkWidget *entry_new(const char *words, int width, GCallback fn, void *arg)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), words);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
    gtk_widget_add_css_class(entry, "filter");
    gtk_widget_set_hexpand(entry, width == 0);
    if (width)
        gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), width);
    g_signal_connect(entry, "activate", fn, arg);
    return entry;
}

static GtkWidget *button_new(const char *label, GCallback fn, void *arg)
{
    GtkWidget *button = gtk_button_new_with_label(label);
    gtk_widget_add_css_class(button, "flat");
    g_signal_connect(button, "clicked", fn, arg);
    return button;
}

struct pane *breakpoints_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"No.", 44, false},  {"State", 54, false},  {"Where", 250, true}, {"Condition", 0, true},
        {"Hits", 60, false}, {"Ignore", 60, false}, {"Thread", 60, false}};
    static const struct table_kind kind = {
        .name = "Breakpoints", .columns = columns, .count = 7, .activated = on_activated};
    struct breakpoints_pane *p = g_new0(struct breakpoints_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2);
    (void)w;
    p->table = table_new(&kind, p);
    table_say(p->table, "No breakpoints. Click beside a line of the source, or press F9 there.");
    p->condition = entry_new("Condition of the selected one", 0, G_CALLBACK(on_condition), p);
    p->thread = entry_new("Thread", 8, G_CALLBACK(on_thread), p);
    p->ignore = entry_new("Ignore count", 12, G_CALLBACK(on_ignore), p);
    gtk_box_append(GTK_BOX(row), p->condition);
    gtk_box_append(GTK_BOX(row), p->ignore);
    gtk_box_append(GTK_BOX(row), p->thread);
    gtk_box_append(GTK_BOX(row), button_new("On/Off", G_CALLBACK(on_enable), p));
    gtk_box_append(GTK_BOX(row), button_new("Delete", G_CALLBACK(on_delete), p));
    gtk_box_append(GTK_BOX(box), row);
    gtk_box_append(GTK_BOX(box), table_widget(p->table));
    p->pane.widget = box;
    p->pane.changed = changed;
    return &p->pane;
}
