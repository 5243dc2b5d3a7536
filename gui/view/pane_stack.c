/* pane_stack.c - the calls that are under way. SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/table.h"

enum { SHOWN_MOST = 200 };

struct stack_pane {
    struct pane pane;
    struct table *table;
    GPtrArray *items; /* of the frames; their arguments come next */
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
    if (!result)
        return;
    if (p->items)
        g_ptr_array_unref(p->items);
    p->items = g_ptr_array_new_with_free_func(g_object_unref);
    for (unsigned i = 0; i < value_count(list); i++)
        g_ptr_array_add(p->items, make_item(p, value_at(list, i)));
}

/* `count=3, name=...`: those of one frame. */
static char *arguments_of(const struct value *frame)
{
    const struct value *args = value_get(frame, "args");
    GString *out = g_string_new(" (");
    for (unsigned i = 0; i < value_count(args); i++) {
        const struct value *one = value_at(args, i);
        const char *value = value_text(one, "value");
        g_string_append_printf(out, "%s%s=%s", i ? ", " : "", value_say(one, "name"),
                               value ? value : "...");
    }
    g_string_append_c(out, ')');
    return g_string_free(out, FALSE);
}

/* The frames that have them; all are shown, whatever GDB says of arguments. */
static void on_arguments(void *arg, const struct mi_record *result)
{
    struct stack_pane *p = arg;
    const struct value *list = result ? value_get(result->results, "stack-args") : NULL;
    GPtrArray *items = result ? g_steal_pointer(&p->items) : NULL;
    if (!items)
        return;
    for (unsigned i = 0; i < value_count(list) && i < items->len; i++) {
        GuiItem *item = g_ptr_array_index(items, i);
        char *args = arguments_of(value_at(list, i)), *safe = text_line(args);
        if (item->look != LOOK_DIM) /* without debug information GDB knows none */
            gui_item_set(item, 1, g_strconcat(item->cell[1], safe, NULL));
        g_free(safe);
        g_free(args);
    }
    g_ptr_array_set_free_func(items, NULL);
    table_take(p->table, items);
}

static void refresh(struct pane *pane)
{
    struct stack_pane *p = (struct stack_pane *)pane;
    char *frames = g_strdup_printf("-stack-list-frames 0 %d", SHOWN_MOST),
         *arguments = g_strdup_printf("-stack-list-arguments --simple-values 0 %d", SHOWN_MOST);
    debugger_query(pane->window->debugger, frames, on_frames, p);
    debugger_query(pane->window->debugger, arguments, on_arguments, p);
    g_free(arguments);
    g_free(frames);
}

struct pane *stack_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Frame", 54, false}, {"Function", 0, true}, {"Place", 180, true}};
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
