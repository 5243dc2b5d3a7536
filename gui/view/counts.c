/* counts.c - how often each line was executed. SPDX-License-Identifier: MIT */
#include "gui/view/counts.h"

#include <string.h>

#include "gui/model/text.h"

enum { WIDTH = 46, LINES_MOST = 200000 };

struct counts {
    struct window *window;
    GtkWidget *view;
    GtkSourceGutterRenderer *column;
    GtkTextTag *tag;
    char *path;
    uint64_t *times; /* by line; NULL: nothing is known */
    unsigned lines;
};

static void counts_free(void *arg)
{
    struct counts *c = arg;
    g_free(c->path);
    g_free(c->times);
    g_free(c);
}

uint64_t counts_at(const struct counts *c, unsigned line)
{
    return c->times && line < c->lines ? c->times[line] : 0;
}

static void set_colour(struct counts *c)
{
    bool dark = adw_style_manager_get_dark(adw_style_manager_get_default());
    g_object_set(c->tag, "paragraph-background", dark ? "#232c36" : "#edf4fb", NULL);
}

static void on_style(AdwStyleManager *manager, GParamSpec *spec, GtkWidget *view)
{
    (void)manager;
    (void)spec;
    set_colour(g_object_get_data(G_OBJECT(view), "counts"));
}

static void on_query(GtkSourceGutterRenderer *column, GtkSourceGutterLines *lines, guint line,
                     struct counts *c)
{
    uint64_t times = counts_at(c, line + 1);
    char *text = times ? text_short_number(times) : g_strdup("");
    (void)lines;
    gtk_source_gutter_renderer_text_set_text(GTK_SOURCE_GUTTER_RENDERER_TEXT(column), text, -1);
    g_free(text);
}

/* Lines next to each other are shaded at once. */
static void shade(struct counts *c)
{
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(c->view));
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(buffer, &from, &to);
    gtk_text_buffer_remove_tag(buffer, c->tag, &from, &to);
    for (unsigned i = 1, end; i < c->lines; i = end + 1) {
        for (end = i; end < c->lines && c->times[end];)
            end++;
        if (end == i)
            continue;
        gtk_text_buffer_get_iter_at_line(buffer, &from, (int)i - 1);
        gtk_text_buffer_get_iter_at_line(buffer, &to, (int)end - 1);
        if (end >= c->lines)
            gtk_text_buffer_get_end_iter(buffer, &to);
        gtk_text_buffer_apply_tag(buffer, c->tag, &from, &to);
    }
}

static void on_answer(void *arg, const struct value *answer)
{
    GtkWidget *view = arg;
    struct counts *c = g_object_get_data(G_OBJECT(view), "counts");
    const struct value *rows = value_get(answer, "rows");
    unsigned lines =
        (unsigned)gtk_text_buffer_get_line_count(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view))) + 1;
    if (value_count(rows) && !c->window->closing) {
        g_free(c->times);
        c->lines = lines;
        c->times = g_new0(uint64_t, lines);
        for (unsigned i = 0; i < value_count(rows); i++) {
            const struct value *row = value_at(rows, i), *place = value_get(row, "place");
            uint64_t line = value_number(place, "line", 0);
            if (line < lines && strcmp(value_say(place, "file"), c->path) == 0)
                c->times[line] = value_number(row, "count", 0);
        }
        gtk_widget_set_visible(GTK_WIDGET(c->column), TRUE);
        gtk_widget_queue_draw(GTK_WIDGET(c->column));
        shade(c);
    }
    g_object_unref(view);
}

void counts_ask(struct counts *c)
{
    char *most = g_strdup_printf("%d", LINES_MOST);
    const char *const words[] = {"coverage", text_base(c->path), "--limit", most, NULL};
    debugger_ask(c->window->debugger, "Counting executed lines", words, on_answer,
                 g_object_ref(c->view));
    g_free(most);
}

struct counts *counts_new(struct window *w, GtkSourceView *view, const char *path)
{
    struct counts *c = g_new0(struct counts, 1);
    GtkSourceGutter *gutter = gtk_source_view_get_gutter(view, GTK_TEXT_WINDOW_LEFT);
    c->window = w;
    c->view = GTK_WIDGET(view);
    c->path = g_strdup(path);
    c->tag = gtk_text_buffer_create_tag(gtk_text_view_get_buffer(GTK_TEXT_VIEW(view)), NULL, NULL);
    c->column = gtk_source_gutter_renderer_text_new();
    gtk_widget_set_size_request(GTK_WIDGET(c->column), WIDTH, -1);
    gtk_source_gutter_renderer_set_xalign(c->column, 1);
    gtk_widget_add_css_class(GTK_WIDGET(c->column), "counts");
    g_signal_connect(c->column, "query-data", G_CALLBACK(on_query), c);
    gtk_source_gutter_insert(gutter, c->column, -60);
    gtk_widget_set_visible(GTK_WIDGET(c->column), FALSE);
    g_object_set_data_full(G_OBJECT(view), "counts", c, counts_free);
    g_signal_connect_object(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(on_style),
                            view, 0);
    set_colour(c);
    if (w->debugger->traced)
        counts_ask(c);
    return c;
}
