/* pane_threads.c - the threads that there are here. SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

struct threads_pane {
    struct pane pane;
    struct table *table;
};

static void on_activated(void *arg, GuiItem *item)
{
    struct threads_pane *p = arg;
    debugger_select_thread(p->pane.window->debugger, item->line);
}

/* The number that positions have is the last part of GDB's `Thread 4246.2`. */
static char *own_number(const char *target_id)
{
    const char *dot = strrchr(target_id, '.');
    return dot ? g_strdup_printf("T%s", dot + 1) : g_strdup(target_id);
}

static GuiItem *make_item(const struct value *thread, const char *current)
{
    GuiItem *item = gui_item_new();
    struct session_frame f = {0};
    session_take_frame(&f, value_get(thread, "frame"));
    char *place = f.line ? g_strdup_printf("%s:%u", text_base(f.file), f.line)
                         : g_strdup(text_base(f.module));
    item->line = (unsigned)value_number(thread, "id", 0);
    gui_item_set(item, 0, own_number(value_say(thread, "target-id")));
    gui_item_set(item, 1, text_line(value_text(thread, "name")));
    gui_item_set(item, 2, text_line(f.function ? f.function : "?"));
    gui_item_set(item, 3, text_line(place));
    if (strcmp(value_say(thread, "id"), current) == 0)
        item->look = LOOK_CURRENT;
    g_free(place);
    session_frame_deinit(&f);
    return item;
}

static void on_threads(void *arg, const struct mi_record *result)
{
    struct threads_pane *p = arg;
    GPtrArray *items;
    if (!result)
        return;
    const struct value *list = value_get(result->results, "threads");
    items = g_ptr_array_new();
    for (unsigned i = value_count(list); i-- > 0;) /* GDB has the newest first */
        g_ptr_array_add(
            items, make_item(value_at(list, i), value_say(result->results, "current-thread-id")));
    table_take(p->table, items);
}

static void refresh(struct pane *pane)
{
    debugger_query(pane->window->debugger, "-thread-info", on_threads, pane);
}

struct pane *threads_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Thread", 60, false}, {"Name", 110, false}, {"Function", 0, true}, {"Place", 130, true}};
    static const struct table_kind kind = {.name = "Threads",
                                           .columns = columns,
                                           .count = 4,
                                           .click = true,
                                           .activated = on_activated};
    struct threads_pane *p = g_new0(struct threads_pane, 1);
    (void)w;
    p->table = table_new(&kind, p);
    table_say(p->table, "The program's threads are shown here.");
    p->pane.widget = table_widget(p->table);
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
