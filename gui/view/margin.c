/* margin.c - the strip beside the source. SPDX-License-Identifier: MIT */
#include "gui/view/margin.h"

struct _GuiMargin {
    GtkSourceGutterRenderer parent;
    unsigned which;
    unsigned (*marks)(void *arg, unsigned line);
    void (*clicked)(void *arg, unsigned line, unsigned button);
    void *arg;
};

G_DEFINE_FINAL_TYPE(GuiMargin, gui_margin, GTK_SOURCE_TYPE_GUTTER_RENDERER)

static const GdkRGBA red = {0.84f, 0.19f, 0.21f, 1}, green = {0.18f, 0.62f, 0.33f, 1},
                     grey = {0.55f, 0.55f, 0.55f, 1}, amber = {0.80f, 0.58f, 0.05f, 1};

static void draw_dot(cairo_t *cr, double x, double y, double radius, bool full)
{
    cairo_arc(cr, x, y, radius, 0, 2 * G_PI);
    if (full)
        cairo_fill(cr);
    else
        cairo_stroke(cr);
}

/* To the right, or down if it is open. */
static void draw_triangle(cairo_t *cr, double x, double y, double size, bool down)
{
    cairo_move_to(cr, x - size, y - size);
    cairo_line_to(cr, down ? x + size : x - size, down ? y - size : y + size);
    cairo_line_to(cr, down ? x : x + size, down ? y + size : y);
    cairo_close_path(cr);
    cairo_fill(cr);
}

static void draw_arrow(cairo_t *cr, double x, double y, double size)
{
    cairo_move_to(cr, x - size, y - size * 0.45);
    cairo_line_to(cr, x, y - size * 0.45);
    cairo_line_to(cr, x, y - size);
    cairo_line_to(cr, x + size, y);
    cairo_line_to(cr, x, y + size);
    cairo_line_to(cr, x, y + size * 0.45);
    cairo_line_to(cr, x - size, y + size * 0.45);
    cairo_close_path(cr);
    cairo_fill(cr);
}

static void draw_marks(cairo_t *cr, unsigned marks, double x, double y)
{
    const double size = 5.5;
    cairo_set_line_width(cr, 1.5);
    if (marks & MARGIN_BREAKPOINT) {
        gdk_cairo_set_source_rgba(cr, &red);
        draw_dot(cr, x, y, size + 0.5, !(marks & MARGIN_DISABLED));
        if (marks & MARGIN_CONDITION) {
            cairo_set_source_rgb(cr, 1, 1, 1);
            draw_dot(cr, x, y, 2, true);
        }
    }
    if (marks & (MARGIN_CURRENT | MARGIN_FRAME)) {
        gdk_cairo_set_source_rgba(cr, marks & MARGIN_CURRENT ? &green : &grey);
        draw_arrow(cr, marks & MARGIN_BREAKPOINT ? x + 2 : x, y,
                   marks & MARGIN_BREAKPOINT ? 4.5 : size);
    }
    if (marks & MARGIN_SLICE) {
        gdk_cairo_set_source_rgba(cr, &amber);
        draw_triangle(cr, x, y, 3.5, marks & MARGIN_OPEN);
    }
}

static void snapshot_line(GtkSourceGutterRenderer *renderer, GtkSnapshot *snapshot,
                          GtkSourceGutterLines *lines, guint line)
{
    GuiMargin *m = GUI_MARGIN(renderer);
    unsigned marks = m->marks(m->arg, line + 1) & m->which;
    int y, height, width = gtk_widget_get_width(GTK_WIDGET(renderer));
    if (!marks)
        return;
    gtk_source_gutter_lines_get_line_yrange(
        lines, line, GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_FIRST, &y, &height);
    GtkTextView *view = gtk_source_gutter_lines_get_view(lines);
    GtkTextIter at;
    GdkRectangle text;
    gtk_text_buffer_get_iter_at_line(gtk_text_view_get_buffer(view), &at, (int)line);
    gtk_text_view_get_iter_location(view, &at, &text);
    height = MIN(height, text.height); /* without the room below it */
    cairo_t *cr = gtk_snapshot_append_cairo(
        snapshot, &GRAPHENE_RECT_INIT(0, (float)y, (float)width, (float)height));
    draw_marks(cr, marks, width / 2.0, y + height / 2.0);
    cairo_destroy(cr);
}

static gboolean query_activatable(GtkSourceGutterRenderer *renderer, GtkTextIter *at,
                                  GdkRectangle *area)
{
    (void)renderer;
    (void)at;
    (void)area;
    return TRUE;
}

static void activate(GtkSourceGutterRenderer *renderer, GtkTextIter *at, GdkRectangle *area,
                     guint button, GdkModifierType state, int presses)
{
    GuiMargin *m = GUI_MARGIN(renderer);
    (void)area;
    (void)state;
    if (presses == 1)
        m->clicked(m->arg, (unsigned)gtk_text_iter_get_line(at) + 1, button);
}

static void gui_margin_class_init(GuiMarginClass *class)
{
    GtkSourceGutterRendererClass *renderer = GTK_SOURCE_GUTTER_RENDERER_CLASS(class);
    renderer->snapshot_line = snapshot_line;
    renderer->query_activatable = query_activatable;
    renderer->activate = activate;
}

static void gui_margin_init(GuiMargin *m)
{
    (void)m;
}

GtkSourceGutterRenderer *gui_margin_new(unsigned which, int width,
                                        unsigned (*marks)(void *arg, unsigned line),
                                        void (*clicked)(void *arg, unsigned line, unsigned button),
                                        void *arg)
{
    GuiMargin *m = g_object_new(GUI_TYPE_MARGIN, NULL);
    m->which = which;
    m->marks = marks;
    m->clicked = clicked;
    m->arg = arg;
    gtk_widget_set_size_request(GTK_WIDGET(m), width, -1);
    return GTK_SOURCE_GUTTER_RENDERER(m);
}
