/* pane_history.c - the places that were visited, and those that are remembered.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"
#include "gui/view/timeline_view.h"

struct history_pane {
    struct pane pane;
    struct table *table;
    GtkWidget *note;
    GPtrArray *items; /* being collected: first checkpoints, then places */
};

static void on_activated(void *arg, GuiItem *item)
{
    struct history_pane *p = arg;
    debugger_goto(p->pane.window->debugger, item->position);
}

static void add(struct history_pane *p, const struct value *place, const char *note,
                enum item_look look)
{
    GuiItem *item = gui_item_new();
    item->position = g_strdup(value_say(place, "position"));
    gui_item_set(item, 0, g_strdup(note));
    gui_item_set(item, 1, text_line(value_text(place, "location")));
    gui_item_set(item, 2, text_line(value_text(place, "position")));
    item->look = look;
    g_ptr_array_add(p->items, item);
}

/* Its words, to be freed. */
static char *note_of(const struct value *checkpoint)
{
    char *text = text_line(value_text(checkpoint, "note"));
    char *note = g_strdup_printf("★ %s", *text ? text : value_say(checkpoint, "number"));
    g_free(text);
    return note;
}

static void mark(struct timeline *t, const struct value *checkpoint)
{
    const char *position = value_say(checkpoint, "position");
    char *note = note_of(checkpoint);
    uint64_t ticks;
    if (timeline_when_position(t, position, &ticks))
        timeline_add_mark(t, TIMELINE_BOOKMARK, (uint32_t)g_ascii_strtoull(position + 1, NULL, 10),
                          ticks, note);
    g_free(note);
}

/* They are on the timeline whether the pane is seen or not. */
static void on_marks(void *arg, const struct mi_record *result)
{
    struct history_pane *p = arg;
    struct window *w = p->pane.window;
    const struct value *list = result ? value_get(result->results, "checkpoints") : NULL;
    if (!result)
        return;
    timeline_clear_marks(w->debugger->timeline, TIMELINE_BOOKMARK);
    for (unsigned i = 0; i < value_count(list); i++)
        mark(w->debugger->timeline, value_at(list, i));
    timeline_view_changed(w->timeline, CHANGE_MARKS);
}

static void changed(struct pane *pane, enum debugger_change change)
{
    if (change == CHANGE_TIMELINE)
        debugger_query(pane->window->debugger, "-pin-checkpoints", on_marks, pane);
}

static void on_checkpoints(void *arg, const struct mi_record *result)
{
    struct history_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "checkpoints") : NULL;
    if (p->items)
        g_ptr_array_unref(p->items);
    p->items = g_ptr_array_new();
    for (unsigned i = 0; i < value_count(list); i++) {
        char *note = note_of(value_at(list, i));
        add(p, value_at(list, i), note, LOOK_PLAIN);
        g_free(note);
    }
    on_marks(p, result);
}

static void on_places(void *arg, const struct mi_record *result)
{
    struct history_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "places") : NULL;
    if (!result || !p->items)
        return;
    for (unsigned i = value_count(list); i-- > 0;) {
        const struct value *one = value_at(list, i);
        add(p, one, "", value_is_true(one, "current") ? LOOK_CURRENT : LOOK_PLAIN);
    }
    table_take(p->table, p->items);
    p->items = NULL;
}

static void refresh(struct pane *pane)
{
    debugger_query(pane->window->debugger, "-pin-checkpoints", on_checkpoints, pane);
    debugger_query(pane->window->debugger, "-pin-history", on_places, pane);
}

/* The place is remembered with these words. */
static void on_note(GtkEntry *entry, struct history_pane *p)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    char *line = g_strdup_printf("pin checkpoint %s", text);
    debugger_type(p->pane.window->debugger, line);
    gtk_editable_set_text(GTK_EDITABLE(entry), "");
    refresh(&p->pane);
    g_free(line);
}

struct pane *history_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Note", 110, false}, {"Place", 0, true}, {"Moment", 150, true}};
    static const struct table_kind kind = {.name = "History",
                                           .columns = columns,
                                           .count = 3,
                                           .click = true,
                                           .activated = on_activated};
    struct history_pane *p = g_new0(struct history_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    (void)w;
    p->table = table_new(&kind, p);
    table_say(p->table, "Places that you visit write themselves down here.");
    p->note = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->note),
                                   "A note about this place, kept with the recording");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->note), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Note about this place", -1);
    gtk_widget_add_css_class(p->note, "filter");
    g_signal_connect(p->note, "activate", G_CALLBACK(on_note), p);
    gtk_box_append(GTK_BOX(box), p->note);
    gtk_box_append(GTK_BOX(box), table_widget(p->table));
    p->pane.widget = box;
    p->pane.refresh = refresh;
    p->pane.changed = changed;
    p->pane.refresh_on = PANE_BIT(CHANGE_STOP);
    return &p->pane;
}
