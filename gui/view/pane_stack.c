/* pane_stack.c - the calls that are under way. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

struct stack_pane {
    struct pane pane;
    struct table *table;
};

static void on_activated(void *arg, GuiItem *item)
{
    struct stack_pane *p = arg;
    debugger_select_frame(p->pane.window->debugger, item->line);
}

static GuiItem *make_item(struct stack_pane *p, const struct value *frame)
{
    GuiItem *item = gui_item_new();
    struct session_frame f = {0};
    session_take_frame(&f, frame);
    char *name =
        f.function ? g_strdup(f.function) : g_strdup_printf("0x%" G_GINT64_MODIFIER "x", f.pc);
    char *place = f.line ? g_strdup_printf("%s:%u", text_base(f.file), f.line)
                         : g_strdup(text_base(f.module));
    item->line = f.level;
    gui_item_set(item, 0, g_strdup_printf("%u", f.level));
    gui_item_set(item, 1, text_line(name));
    gui_item_set(item, 2, text_line(place));
    item->look = f.level == p->pane.window->debugger->session.frame.level ? LOOK_CURRENT
                 : f.line                                                 ? LOOK_PLAIN
                                                                          : LOOK_DIM;
    g_free(name);
    g_free(place);
    session_frame_deinit(&f);
    return item;
}

static void on_frames(void *arg, const struct mi_record *result)
{
    struct stack_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "stack") : NULL;
    GPtrArray *items = g_ptr_array_new();
    if (!result) {
        g_ptr_array_unref(items);
        return;
    }
    for (unsigned i = 0; i < value_count(list); i++)
        g_ptr_array_add(items, make_item(p, value_at(list, i)));
    table_take(p->table, items);
}

static void refresh(struct pane *pane)
{
    struct stack_pane *p = (struct stack_pane *)pane;
    debugger_query(pane->window->debugger, "-stack-list-frames 0 200", on_frames, p);
}

struct pane *stack_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Frame", 54, false}, {"Function", 210, true}, {"Place", 0, true}};
    static const struct table_kind kind = {
        .name = "Stack", .columns = columns, .count = 3, .click = true, .activated = on_activated};
    struct stack_pane *p = g_new0(struct stack_pane, 1);
    (void)w;
    p->table = table_new(&kind, p);
    table_say(p->table, "The calls that are under way are shown here.");
    p->pane.widget = table_widget(p->table);
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
