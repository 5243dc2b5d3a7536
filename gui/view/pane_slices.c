/* pane_slices.c - why a value is what it is: the story, and the slice that it is of.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/panes.h"
#include "gui/view/slice_bar.h"
#include "gui/view/source.h"
#include "gui/view/table.h"

struct slices_pane {
    struct pane pane;
    struct table *table;
    GtkWidget *title, *findings, *all;
    struct slice_bar *bar;
    bool has_story, expected; /* the slice that comes next is a story's */
    GPtrArray *causes;        /* GuiItem of the story */
    char *found;
};

static void on_activated(void *arg, GuiItem *item)
{
    struct slices_pane *p = arg;
    if (item->position)
        debugger_goto(p->pane.window->debugger, item->position);
}

static GuiItem *make_item(const char *position, unsigned thread, const char *file, unsigned line,
                          const char *text, const char *kind, const char *what)
{
    GuiItem *item = gui_item_new();
    char *place = file ? g_strdup_printf("T%u %s:%u", thread, text_base(file), line)
                       : g_strdup_printf("T%u", thread);
    item->position = g_strdup(position);
    gui_item_set(item, 0, text_line(place));
    gui_item_set(item, 1, text_line(text));
    gui_item_set(item, 2, text_line(kind));
    gui_item_set(item, 3, text_line(what));
    if (what && strstr(what, "race"))
        item->look = LOOK_WARN;
    g_free(place);
    return item;
}

static void show_rows(struct slices_pane *p)
{
    const struct slice *s = p->pane.window->debugger->slice;
    bool whole = !p->has_story || gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->all));
    GPtrArray *items = g_ptr_array_new();
    for (unsigned i = 0; !whole && i < p->causes->len; i++)
        g_ptr_array_add(items, g_object_ref(g_ptr_array_index(p->causes, i)));
    for (unsigned i = 0; whole && s && i < s->rows->len; i++) {
        const struct slice_row *r = g_ptr_array_index(s->rows, i);
        g_ptr_array_add(
            items, make_item(r->position, r->thread, r->file, r->line, r->text, r->kind, r->what));
    }
    table_take(p->table, items);
}

static void on_all(GtkToggleButton *button, struct slices_pane *p)
{
    (void)button;
    show_rows(p);
}

static void changed(struct pane *pane, enum debugger_change change)
{
    struct slices_pane *p = (struct slices_pane *)pane;
    const struct slice *s = pane->window->debugger->slice;
    if (change != CHANGE_SLICE && change != CHANGE_RECORDING)
        return;
    p->has_story = s && p->expected;
    p->expected = false;
    slice_bar_changed(p->bar);
    char *title = s ? g_strdup_printf("%s\n%s", s->title, s->size) : g_strdup("");
    gtk_label_set_text(GTK_LABEL(p->title), title);
    gtk_widget_set_visible(p->title, s != NULL);
    gtk_widget_set_visible(p->findings, s && p->has_story && *p->found);
    gtk_widget_set_visible(p->all, s && p->has_story);
    show_rows(p);
    g_free(title);
}

static void take_causes(struct slices_pane *p, const struct value *list)
{
    g_ptr_array_set_size(p->causes, 0);
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *v = value_at(list, i);
        g_ptr_array_add(
            p->causes, make_item(value_text(v, "position"), (unsigned)value_number(v, "thread", 0),
                                 value_text(v, "file"), (unsigned)value_number(v, "line", 0),
                                 value_say(v, "text"), value_say(v, "kind"), value_say(v, "what")));
    }
}

static void on_story(void *arg, const struct value *answer)
{
    struct slices_pane *p = arg;
    const struct value *findings = value_get(answer, "findings");
    GString *found = g_string_new(NULL);
    if (!answer) {
        g_string_free(found, TRUE);
        return;
    }
    for (unsigned i = 0; i < value_count(findings); i++)
        g_string_append_printf(found, "%s%s: %s", found->len ? "\n" : "",
                               value_say(value_at(findings, i), "kind"),
                               value_say(value_at(findings, i), "text"));
    g_free(p->found);
    p->found = text_lines(found->str);
    g_string_free(found, TRUE);
    gtk_label_set_text(GTK_LABEL(p->findings), p->found);
    gtk_widget_set_tooltip_text(p->findings, p->found);
    take_causes(p, value_get(answer, "causes"));
    p->expected = true;
}

void story_ask(struct window *w, const char *expression)
{
    struct slices_pane *p = (struct slices_pane *)window_pane(w, "slices");
    window_show_pane(w, "slices");
    debugger_why(w->debugger, expression, on_story, p);
}

const char *story_cause(struct window *w)
{
    struct slices_pane *p = (struct slices_pane *)window_pane(w, "slices");
    const GuiItem *first = p->causes->len ? g_ptr_array_index(p->causes, 0) : NULL;
    for (unsigned i = 0; i < p->causes->len; i++) {
        const GuiItem *item = g_ptr_array_index(p->causes, i);
        if (item->look == LOOK_WARN)
            return item->position;
    }
    return first ? first->position : NULL;
}

struct slice_bar *slices_bar(struct window *w)
{
    return ((struct slices_pane *)window_pane(w, "slices"))->bar;
}

char *slice_text(struct window *w)
{
    const struct slice *s = w->debugger->slice;
    GString *out = g_string_new(NULL);
    if (s)
        g_string_append_printf(out, "%s\n%s\n", s->title, s->size);
    for (unsigned i = 0; s && i < s->rows->len; i++) {
        const struct slice_row *r = g_ptr_array_index(s->rows, i);
        g_string_append_printf(out, "%s\tT%u\t%s:%u\t%s\t%s\t%s\n", r->position, r->thread,
                               text_base(r->file), r->line, r->text, r->kind, r->what);
    }
    return g_string_free(out, FALSE);
}

char *story_text(struct window *w)
{
    struct slices_pane *p = (struct slices_pane *)window_pane(w, "slices");
    GString *out = g_string_new(NULL);
    if (w->debugger->slice)
        g_string_append_printf(out, "%s\n%s\n", w->debugger->slice->title,
                               w->debugger->slice->size);
    if (p->has_story && *p->found)
        g_string_append_printf(out, "%s\n", p->found);
    for (unsigned i = 0; i < table_rows(p->table); i++) {
        const GuiItem *item = table_row(p->table, i);
        char *words = gui_item_words(item);
        g_string_append_printf(out, "%s  %s\n", item->position ? item->position : "", words);
        g_free(words);
    }
    return g_string_free(out, FALSE);
}

static GtkWidget *make_label(const char *class)
{
    GtkWidget *label = window_label("");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_lines(GTK_LABEL(label), 3);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, class);
    gtk_widget_set_visible(label, FALSE);
    return label;
}

struct pane *slices_pane_new(struct window *w)
{
    static const struct table_column columns[] = {
        {"Line", 168, true}, {"Statement", 0, true}, {"How", 86, false}, {"What", 110, true}};
    static const struct table_kind kind = {
        .name = "Slice", .columns = columns, .count = 4, .click = true, .activated = on_activated};
    struct slices_pane *p = g_new0(struct slices_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->found = g_strdup("");
    p->causes = g_ptr_array_new_with_free_func(g_object_unref);
    p->table = table_new(&kind, p);
    table_say(
        p->table,
        "Ask Why? of a variable in the source, or of the failure: the lines that made the value are shown here.");
    p->title = make_label("slice-title");
    p->findings = make_label("slice-finding");
    p->all = gtk_toggle_button_new_with_label("Show the Whole Slice");
    gtk_widget_add_css_class(p->all, "flat");
    gtk_widget_set_halign(p->all, GTK_ALIGN_START);
    gtk_widget_set_visible(p->all, FALSE);
    g_signal_connect(p->all, "toggled", G_CALLBACK(on_all), p);
    p->bar = slice_bar_new(w);
    gtk_box_append(GTK_BOX(box), slice_bar_widget(p->bar));
    gtk_box_append(GTK_BOX(box), p->title);
    gtk_box_append(GTK_BOX(box), p->findings);
    gtk_box_append(GTK_BOX(box), table_widget(p->table));
    gtk_box_append(GTK_BOX(box), p->all);
    p->pane.widget = box;
    p->pane.changed = changed;
    return &p->pane;
}
