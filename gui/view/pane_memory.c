/* pane_memory.c - bytes at an address or an expression. SPDX-License-Identifier: MIT */
#include "gui/model/memory.h"

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

enum { BYTES = 256 };

struct memory_pane {
    struct pane pane;
    struct table *table;
    GtkWidget *entry;
    GArray *rows; /* that are shown */
};

static void on_bytes(void *arg, const struct mi_record *result)
{
    struct memory_pane *p = arg;
    GPtrArray *items = g_ptr_array_new();
    GArray *rows;
    if (!result) {
        g_ptr_array_unref(items);
        return;
    }
    rows = memory_rows(result->results, p->rows);
    if (value_text(result->results, "msg"))
        table_say(p->table, value_say(result->results, "msg"));
    for (unsigned i = 0; i < rows->len; i++) {
        const struct memory_row *row = &g_array_index(rows, struct memory_row, i);
        GuiItem *item = gui_item_new();
        gui_item_set(item, 0, g_strdup_printf("0x%" G_GINT64_MODIFIER "x", row->address));
        gui_item_set(item, 1, g_strdup(row->hex));
        gui_item_set(item, 2, g_strdup(row->text));
        item->look = row->changed ? LOOK_CHANGED : LOOK_PLAIN;
        g_ptr_array_add(items, item);
    }
    g_array_unref(p->rows);
    p->rows = rows;
    table_take(p->table, items);
}

static void refresh(struct pane *pane)
{
    struct memory_pane *p = (struct memory_pane *)pane;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(p->entry));
    if (!*text)
        return;
    char *quoted = mi_quote(text),
         *command = g_strdup_printf("-data-read-memory-bytes %s %d", quoted, BYTES);
    debugger_query(pane->window->debugger, command, on_bytes, p);
    g_free(command);
    g_free(quoted);
}

static void on_entry(GtkEntry *entry, struct memory_pane *p)
{
    (void)entry;
    refresh(&p->pane);
}

struct pane *memory_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Address", 150, true}, {"Bytes", 420, true}, {"Text", 0, true}};
    static const struct table_kind kind = {.name = "Memory", .columns = columns, .count = 3};
    struct memory_pane *p = g_new0(struct memory_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    (void)w;
    p->rows = g_array_new(FALSE, FALSE, sizeof(struct memory_row));
    p->table = table_new(&kind, p);
    table_say(p->table, "Type an address or an expression above: $sp, &total, buffer.");
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->entry), "Address or expression");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Address or expression", -1);
    gtk_widget_add_css_class(p->entry, "filter");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_entry), p);
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), table_widget(p->table));
    p->pane.widget = box;
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
