/* asked.c - a list of what `drdebug ask` has answered. SPDX-License-Identifier: MIT */
#include "gui/view/asked.h"

#include "gui/link/answer.h"
#include "gui/model/text.h"
#include "gui/view/table.h"

struct asked {
    struct window *window;
    const struct asked_kind *kind;
    struct table *table;
    GtkWidget *box, *note;
    GPtrArray *coming; /* GuiItems of an answer that is not whole yet, or NULL */
    answer_row *row_fn;
    void *row_arg;
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

/* What was left of an answer that never was whole goes. */
static GPtrArray *begin_rows(struct asked *a)
{
    if (a->coming)
        g_ptr_array_unref(a->coming);
    a->coming = g_ptr_array_new_with_free_func(g_object_unref);
    return a->coming;
}

static void on_row(void *arg, const struct value *row)
{
    struct asked *a = arg;
    bool first = value_number(row, "row", 0) == 1;
    g_ptr_array_add(first || !a->coming ? begin_rows(a) : a->coming,
                    make_item(a, row, a->kind->at));
    if (a->row_fn)
        a->row_fn(a->row_arg, row);
}

/* What the answer says of itself: that there is more, for example. */
static void show_note(struct asked *a, const struct value *answer)
{
    const struct value *notes = value_get(answer, "notes");
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < value_count(notes); i++)
        g_string_append_printf(out, "%s%s", out->len ? "\n" : "", value_at(notes, i)->text);
    if (out->len)
        out->str[0] = g_ascii_toupper(out->str[0]);
    if (answer && !value_is_true(answer, "complete") && a->kind->narrower)
        g_string_append_printf(out, "%s%s", out->len ? ". " : "", a->kind->narrower);
    char *text = text_lines(out->str);
    gtk_label_set_text(GTK_LABEL(a->note), text);
    gtk_widget_set_tooltip_text(a->note, *text ? text : NULL);
    gtk_widget_set_visible(a->note, *text);
    g_free(text);
    g_string_free(out, TRUE);
}

static void on_answer(void *arg, const struct value *answer)
{
    struct asked *a = arg;
    GPtrArray *items = answer && a->coming ? g_steal_pointer(&a->coming) : g_ptr_array_new();
    table_say(a->table, answer ? a->kind->nothing : a->kind->before);
    show_note(a, answer);
    g_ptr_array_set_free_func(items, NULL);
    table_take(a->table, items);
    if (a->fn)
        a->fn(a->arg, answer);
}

void asked_ask(struct asked *a, const char *const words[])
{
    debugger_ask_rows(a->window->debugger, a->kind->work, words, on_row, on_answer, a);
}

void asked_clear(struct asked *a)
{
    table_say(a->table, a->kind->before);
    table_take(a->table, g_ptr_array_new());
    gtk_widget_set_visible(a->note, FALSE);
}

void asked_on_row(struct asked *a, answer_row *fn, void *arg)
{
    a->row_fn = fn;
    a->row_arg = arg;
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
    a->note = window_label("");
    gtk_label_set_wrap(GTK_LABEL(a->note), TRUE);
    gtk_label_set_lines(GTK_LABEL(a->note), 3);
    gtk_label_set_ellipsize(GTK_LABEL(a->note), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(a->note, "note");
    gtk_widget_add_css_class(a->note, "dim-label");
    gtk_widget_set_visible(a->note, FALSE);
    a->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(a->box), table_widget(a->table));
    gtk_box_append(GTK_BOX(a->box), a->note);
    return a;
}

GtkWidget *asked_widget(struct asked *a)
{
    return a->box;
}
