/* pane_memory.c - bytes at an address or an expression: in hexadecimal and text, as numbers, or
 * drawn. SPDX-License-Identifier: MIT */
#include "gui/model/memory.h"

#include <math.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

enum { BYTES = 256, BYTES_OF_NUMBERS = 1024, EDGE = 8 };

struct memory_pane {
    struct pane pane;
    struct table *table, *list;
    GtkWidget *entry, *type, *plot, *area, *stack;
    GArray *rows;    /* that are shown */
    GArray *numbers; /* likewise */
    double least, most;
};

/* The first choice is bytes. */
static const struct memory_type *type_of(struct memory_pane *p)
{
    unsigned at = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->type));
    return at >= 1 && at <= MEMORY_TYPES ? &memory_types[at - 1] : NULL;
}

static void show_bytes(struct memory_pane *p, const struct mi_record *result)
{
    GPtrArray *items = g_ptr_array_new();
    GArray *rows = memory_rows(result->results, p->rows);
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

static const char *old_text(const GArray *old, const struct memory_number *n)
{
    for (unsigned i = 0; i < old->len; i++)
        if (g_array_index(old, struct memory_number, i).address == n->address)
            return g_array_index(old, struct memory_number, i).text;
    return n->text;
}

static void show_numbers(struct memory_pane *p, const struct mi_record *result)
{
    GPtrArray *items = g_ptr_array_new();
    GArray *numbers = memory_numbers(result->results, type_of(p));
    p->least = INFINITY;
    p->most = -INFINITY;
    for (unsigned i = 0; i < numbers->len; i++) {
        const struct memory_number *n = &g_array_index(numbers, struct memory_number, i);
        GuiItem *item = gui_item_new();
        gui_item_set(item, 0, g_strdup_printf("[%u]", i));
        gui_item_set(item, 1, g_strdup(n->text));
        gui_item_set(item, 2, g_strdup_printf("0x%" G_GINT64_MODIFIER "x", n->address));
        item->look = g_str_equal(old_text(p->numbers, n), n->text) ? LOOK_PLAIN : LOOK_CHANGED;
        g_ptr_array_add(items, item);
        if (isfinite(n->value)) {
            p->least = MIN(p->least, n->value);
            p->most = MAX(p->most, n->value);
        }
    }
    g_array_unref(p->numbers);
    p->numbers = numbers;
    table_take(p->list, items);
    gtk_widget_queue_draw(p->area);
}

static void on_bytes(void *arg, const struct mi_record *result)
{
    struct memory_pane *p = arg;
    if (!result)
        return;
    if (value_text(result->results, "msg")) {
        table_say(p->table, value_say(result->results, "msg"));
        table_say(p->list, value_say(result->results, "msg"));
    }
    if (type_of(p))
        show_numbers(p, result);
    else
        show_bytes(p, result);
}

/* A line from number to number, between the least and the most. */
static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, void *arg)
{
    struct memory_pane *p = arg;
    double range = p->most > p->least ? p->most - p->least : 1;
    bool begun = false;
    GdkRGBA text;
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &text);
    cairo_set_source_rgba(cr, 0.21, 0.52, 0.89, 1);
    cairo_set_line_width(cr, 1.5);
    for (unsigned i = 0; i < p->numbers->len; i++) {
        const struct memory_number *n = &g_array_index(p->numbers, struct memory_number, i);
        double x = EDGE + (width - 2.0 * EDGE) * i / MAX(p->numbers->len - 1, 1);
        double y = height - EDGE - (height - 2.0 * EDGE) * (n->value - p->least) / range;
        if (!isfinite(n->value))
            begun = false;
        else if (begun)
            cairo_line_to(cr, x, y);
        else
            cairo_move_to(cr, x, y);
        begun = isfinite(n->value);
    }
    cairo_stroke(cr);
    gdk_cairo_set_source_rgba(cr, &text);
    cairo_set_font_size(cr, 10);
    char *words = g_strdup_printf("%g to %g", p->least, p->most);
    cairo_move_to(cr, EDGE, EDGE + 8);
    if (p->numbers->len && isfinite(p->least))
        cairo_show_text(cr, words);
    g_free(words);
}

static void refresh(struct pane *pane)
{
    struct memory_pane *p = (struct memory_pane *)pane;
    const char *text = gtk_editable_get_text(GTK_EDITABLE(p->entry));
    bool plot = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->plot));
    gtk_widget_set_sensitive(p->plot, type_of(p) != NULL);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), !type_of(p) ? "bytes"
                                                          : plot      ? "plot"
                                                                      : "numbers");
    if (!*text)
        return;
    char *quoted = mi_quote(text),
         *command = g_strdup_printf("-data-read-memory-bytes %s %d", quoted,
                                    type_of(p) ? BYTES_OF_NUMBERS : BYTES);
    debugger_query(pane->window->debugger, command, on_bytes, p);
    g_free(command);
    g_free(quoted);
}

static void on_entry(GtkEntry *entry, struct memory_pane *p)
{
    (void)entry;
    refresh(&p->pane);
}

static void on_type(GtkDropDown *type, GParamSpec *spec, struct memory_pane *p)
{
    (void)type;
    (void)spec;
    refresh(&p->pane);
}

static void on_plot(GtkToggleButton *plot, struct memory_pane *p)
{
    (void)plot;
    refresh(&p->pane);
}

static void make_row(struct memory_pane *p, GtkWidget *box)
{
    const char *choices[MEMORY_TYPES + 2] = {"Bytes"};
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2);
    for (unsigned i = 0; i < MEMORY_TYPES; i++)
        choices[i + 1] = memory_types[i].name;
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->entry), "Address or expression");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Address or expression", -1);
    gtk_widget_add_css_class(p->entry, "filter");
    gtk_widget_set_hexpand(p->entry, TRUE);
    p->type = gtk_drop_down_new_from_strings(choices);
    gtk_widget_add_css_class(p->type, "slices");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->type), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Shown as", -1);
    p->plot = gtk_toggle_button_new_with_label("Plot");
    gtk_widget_add_css_class(p->plot, "flat");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_entry), p);
    g_signal_connect(p->type, "notify::selected", G_CALLBACK(on_type), p);
    g_signal_connect(p->plot, "toggled", G_CALLBACK(on_plot), p);
    gtk_box_append(GTK_BOX(row), p->entry);
    gtk_box_append(GTK_BOX(row), p->type);
    gtk_box_append(GTK_BOX(row), p->plot);
    gtk_box_append(GTK_BOX(box), row);
}

struct pane *memory_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Address", 150, true}, {"Bytes", 420, true}, {"Text", 0, true}};
    static const struct table_column of_numbers[] = {
        {"Index", 80, true}, {"Value", 0, true}, {"Address", 180, true}};
    static const struct table_kind kind = {.name = "Memory", .columns = columns, .count = 3},
                                   numbers = {.name = "Numbers in memory",
                                              .columns = of_numbers,
                                              .count = 3};
    static const char before[] = "Type an address or an expression above: $sp, &total, buffer.";
    struct memory_pane *p = g_new0(struct memory_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    (void)w;
    p->rows = g_array_new(FALSE, FALSE, sizeof(struct memory_row));
    p->numbers = g_array_new(FALSE, FALSE, sizeof(struct memory_number));
    p->table = table_new(&kind, p);
    p->list = table_new(&numbers, p);
    table_say(p->table, before);
    table_say(p->list, before);
    p->area = gtk_drawing_area_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(p->area), draw, p, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Numbers in memory, drawn", -1);
    p->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(p->stack), table_widget(p->table), "bytes");
    gtk_stack_add_named(GTK_STACK(p->stack), table_widget(p->list), "numbers");
    gtk_stack_add_named(GTK_STACK(p->stack), p->area, "plot");
    make_row(p, box);
    gtk_box_append(GTK_BOX(box), p->stack);
    p->pane.widget = box;
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
