/* asked.c - a list of what `drdebug ask` has answered. SPDX-License-Identifier: MIT */
#include "gui/view/asked.h"

#include "gui/link/answer.h"
#include "gui/model/text.h"
#include "gui/view/table.h"

struct asked {
    struct window *window;
    const struct asked_kind *kind;
    struct table *table;
    struct table_column columns[ASKED_COLUMNS];
    debugger_answered *fn;
    void *arg;
};

static void on_activated(void *arg, GuiItem *item)
{
    struct asked *a = arg;
    if (item->position)
        debugger_goto(a->window->debugger, item->position);
}

/* `*`: the columns that the user has asked for, `name = value`. */
static char *rest_of(const struct value *row)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < value_count(row); i++) {
        const struct value *v = value_at(row, i);
        if (g_str_equal(v->name, "row") || g_str_equal(v->name, "at") ||
            g_str_equal(v->name, "place") || !v->text)
            continue;
        g_string_append_printf(out, "%s%s = %s", out->len ? ", " : "", v->name, v->text);
    }
    char *text = text_line(out->str);
    g_string_free(out, TRUE);
    return text;
}

static char *cell(const struct value *row, const char *name)
{
    return *name == '*' ? rest_of(row) : answer_cell(row, name);
}

static GuiItem *make_item(struct asked *a, const struct value *row, const char *at)
{
    GuiItem *item = gui_item_new();
    for (unsigned i = 0; i < ASKED_COLUMNS && a->kind->column[i].title; i++)
        gui_item_set(item, i, cell(row, a->kind->column[i].name));
    item->position = g_strdup(value_text(row, at));
    return item;
}

static void on_answer(void *arg, const struct value *answer)
{
    struct asked *a = arg;
    const struct value *rows = value_get(answer, "rows");
    GPtrArray *items = g_ptr_array_new();
    for (unsigned i = 0; i < value_count(rows); i++)
        g_ptr_array_add(items, make_item(a, value_at(rows, i), a->kind->at));
    table_say(a->table, answer ? a->kind->nothing : a->kind->before);
    table_take(a->table, items);
    if (a->fn)
        a->fn(a->arg, answer);
}

void asked_ask(struct asked *a, const char *const words[])
{
    debugger_ask(a->window->debugger, a->kind->work, words, on_answer, a);
}

void asked_clear(struct asked *a)
{
    table_say(a->table, a->kind->before);
    table_take(a->table, g_ptr_array_new());
}

void asked_on_answer(struct asked *a, debugger_answered *fn, void *arg)
{
    a->fn = fn;
    a->arg = arg;
}

struct asked *asked_new(struct window *w, const struct asked_kind *kind)
{
    struct asked *a = g_new0(struct asked, 1);
    struct table_kind list = {
        .name = kind->name, .click = true, .activated = on_activated, .columns = a->columns};
    a->window = w;
    a->kind = kind;
    for (; list.count < ASKED_COLUMNS && kind->column[list.count].title; list.count++) {
        const struct asked_column *c = &kind->column[list.count];
        a->columns[list.count] = (struct table_column){c->title, c->width, c->code};
    }
    a->table = table_new(&list, a);
    table_say(a->table, kind->before);
    return a;
}

GtkWidget *asked_widget(struct asked *a)
{
    return table_widget(a->table);
}
