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
    char *hang, *next_hang; /* how the program hung, if it did: of this slice; of the one to come */
};

static void on_activated(void *arg, GuiItem *item)
{
    struct slices_pane *p = arg;
    if (item->position)
        debugger_goto(p->pane.window->debugger, item->position);
}

static GuiItem *make_item(const struct slice_row *r)
{
    GuiItem *item = gui_item_new();
    char *place = r->file ? g_strdup_printf("T%u %s:%u", r->thread, text_base(r->file), r->line)
                          : g_strdup_printf("T%u", r->thread);
    item->position = g_strdup(r->position);
    gui_item_set(item, 0, r->rank ? g_strdup_printf("%u", r->rank) : g_strdup(""));
    gui_item_set(item, 1, text_line(place));
    gui_item_set(item, 2, text_line(r->text));
    gui_item_set(item, 3, text_line(r->kind));
    gui_item_set(item, 4, text_line(r->what));
    if (strstr(r->what, "race"))
        item->look = LOOK_WARN;
    g_free(place);
    return item;
}

/* What a person reads first: the rows that say most, the best first. */
static bool shows_story(const struct slices_pane *p)
{
    const struct slice *s = p->pane.window->debugger->slice;
    return s && s->story->len && !gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(p->all));
}

static void show_rows(struct slices_pane *p)
{
    const struct slice *s = p->pane.window->debugger->slice;
    const GPtrArray *rows = !s ? NULL : shows_story(p) ? s->story : s->rows;
    GPtrArray *items = g_ptr_array_new();
    for (unsigned i = 0; rows && i < rows->len; i++)
        g_ptr_array_add(items, make_item(g_ptr_array_index(rows, i)));
    table_take(p->table, items);
}

static void on_all(GtkToggleButton *button, struct slices_pane *p)
{
    (void)button;
    show_rows(p);
}

/* What looks like the bug; before it, how a program hung. */
static void show_findings(struct slices_pane *p)
{
    const struct slice *s = p->pane.window->debugger->slice;
    char *text =
        s ? g_strdup_printf("%s%s%s", p->hang, *p->hang && *s->findings ? "\n" : "", s->findings)
          : g_strdup("");
    gtk_label_set_text(GTK_LABEL(p->findings), text);
    gtk_widget_set_tooltip_text(p->findings, text);
    gtk_widget_set_visible(p->findings, *text);
    g_free(text);
}

static void changed(struct pane *pane, enum debugger_change change)
{
    struct slices_pane *p = (struct slices_pane *)pane;
    const struct slice *s = pane->window->debugger->slice;
    if (change != CHANGE_SLICE && change != CHANGE_RECORDING)
        return;
    g_free(p->hang);
    p->hang = p->next_hang ? p->next_hang : g_strdup("");
    p->next_hang = NULL;
    slice_bar_changed(p->bar);
    char *title = s ? g_strdup_printf("%s\n%s", s->title, s->size) : g_strdup("");
    gtk_label_set_text(GTK_LABEL(p->title), title);
    gtk_widget_set_visible(p->title, s != NULL);
    gtk_widget_set_visible(p->all, s && s->story->len);
    table_say(p->table,
              s ? "Nothing that was executed made it: it was there from the begin."
                : "Ask Why? of a variable in the source, or of the failure: the lines that made "
                  "the value are shown here.");
    show_findings(p);
    show_rows(p);
    g_free(title);
}

/* The slice itself comes next. */
static void on_story(void *arg, const struct value *answer)
{
    struct slices_pane *p = arg;
    const struct value *waits = value_get(answer, "waits");
    const char *hang = value_say(answer, "hang");
    if (!*hang)
        return;
    GString *out = g_string_new(hang);
    for (unsigned i = 0; i < value_count(waits); i++) {
        const struct value *row = value_at(waits, i);
        g_string_append_printf(out, "\nT%s: %s %s %s", value_say(row, "thread"),
                               value_say(row, "kind"), value_say(row, "what"),
                               value_say(row, "story"));
    }
    g_free(p->next_hang);
    p->next_hang = text_lines(out->str);
    g_string_free(out, TRUE);
}

void story_ask(struct window *w, const char *expression)
{
    struct slices_pane *p = (struct slices_pane *)window_pane(w, "slices");
    window_show_pane(w, "slices");
    debugger_why(w->debugger, expression, on_story, p);
}

const char *story_cause(struct window *w)
{
    const struct slice *s = w->debugger->slice;
    const struct slice_row *best = s && s->story->len ? g_ptr_array_index(s->story, 0) : NULL;
    for (unsigned i = 0; best && i < s->story->len; i++) {
        const struct slice_row *r = g_ptr_array_index(s->story, i);
        if (strstr(r->what, "race"))
            return r->position;
    }
    return best ? best->position : NULL;
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
    if (w->debugger->slice && *w->debugger->slice->findings)
        g_string_append_printf(out, "%s\n", w->debugger->slice->findings);
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
    static const struct table_column columns[] = {{"#", 28, false},
                                                  {"Line", 172, true},
                                                  {"Statement", 0, true},
                                                  {"How", 88, false},
                                                  {"What", 0, true}};
    static const struct table_kind kind = {
        .name = "Slice", .columns = columns, .count = 5, .click = true, .activated = on_activated};
    struct slices_pane *p = g_new0(struct slices_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->hang = g_strdup("");
    p->table = table_new(&kind, p);
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
