/* timeline_view.c - the recording over time. SPDX-License-Identifier: MIT
 *
 * The lanes are drawn from the rectangles of model/timeline. The cursor is a real GtkScale below
 * them, of the same width: it can be dragged, moved by keys, and read by programs that help people
 * to see. The wheel goes through time; with Ctrl it zooms.
 */
#include "gui/view/timeline_view.h"

#include <string.h>

#include "gui/model/text.h"

enum { LANE = 15, LANES_MOST = 8, NAMES = 34, EDGE = 8, GO_AFTER_MS = 150 };

struct timeline_view {
    struct window *window;
    GtkWidget *widget, *area, *scale, *label;
    GtkAdjustment *adjustment;
    uint64_t from, to; /* what is shown */
    bool whole;        /* that is all there is, and goes on being so while a program runs */
    bool telling;      /* the scale is being set: it is not the user */
    unsigned going;    /* a source that will go where the cursor is, or 0 */
};

/* ---- drawing ---- */

struct colour {
    GdkRGBA light, dark;
};

static const struct colour lane_colours[] = {{{0.21f, 0.52f, 0.89f, 1}, {0.38f, 0.63f, 0.92f, 1}},
                                             {{0.90f, 0.38f, 0.00f, 1}, {1.00f, 0.58f, 0.28f, 1}},
                                             {{0.15f, 0.64f, 0.41f, 1}, {0.34f, 0.89f, 0.54f, 1}},
                                             {{0.57f, 0.25f, 0.67f, 1}, {0.86f, 0.54f, 0.87f, 1}},
                                             {{0.65f, 0.36f, 0.18f, 1}, {0.80f, 0.67f, 0.56f, 1}},
                                             {{0.13f, 0.56f, 0.64f, 1}, {0.30f, 0.78f, 0.86f, 1}}};

static const struct colour mark_colours[TIMELINE_KINDS] = {
    [TIMELINE_OUTPUT] = {{0.25f, 0.25f, 0.25f, 1}, {0.92f, 0.92f, 0.92f, 1}},
    [TIMELINE_SIGNAL] = {{0.75f, 0.11f, 0.16f, 1}, {1.00f, 0.48f, 0.39f, 1}},
    [TIMELINE_MARK] = {{0.11f, 0.44f, 0.85f, 1}, {0.47f, 0.68f, 0.93f, 1}},
    [TIMELINE_STOP] = {{0.45f, 0.45f, 0.45f, 1}, {0.70f, 0.70f, 0.70f, 1}},
    [TIMELINE_BOOKMARK] = {{0.15f, 0.64f, 0.41f, 1}, {0.34f, 0.89f, 0.54f, 1}},
    [TIMELINE_SLICE] = {{0.90f, 0.65f, 0.04f, 1}, {0.97f, 0.83f, 0.27f, 1}},
    [TIMELINE_RACE] = {{0.88f, 0.11f, 0.14f, 1}, {0.97f, 0.38f, 0.32f, 1}},
    [TIMELINE_FAILURE] = {{0.75f, 0.11f, 0.16f, 1}, {1.00f, 0.48f, 0.39f, 1}}};

static GdkRGBA colour_of(const struct timeline_rect *r, bool dark)
{
    const struct colour *c = r->kind == TIMELINE_RUN || r->kind == TIMELINE_WAIT
                                 ? &lane_colours[(unsigned)r->lane % G_N_ELEMENTS(lane_colours)]
                                 : &mark_colours[r->kind];
    GdkRGBA colour = dark ? c->dark : c->light;
    if (r->kind == TIMELINE_WAIT)
        colour.alpha = 0.45f;
    if (r->kind == TIMELINE_RUN)
        colour.alpha = (float)(0.18 + 0.72 * r->share);
    return colour;
}

static void draw_names(cairo_t *cr, struct timeline_view *v, int height, const GdkRGBA *text)
{
    const struct timeline *t = v->window->debugger->timeline;
    unsigned lanes = timeline_lanes(t);
    GdkRGBA colour = *text;
    colour.alpha = 0.7f;
    gdk_cairo_set_source_rgba(cr, &colour);
    cairo_set_font_size(cr, 10);
    for (unsigned i = 0; i < lanes && lanes <= LANES_MOST * 2; i++) {
        char *name = g_strdup_printf("T%u", timeline_lane_thread(t, i));
        cairo_move_to(cr, 6, (i + 0.5) * height / lanes + 3.5);
        cairo_show_text(cr, name);
        g_free(name);
    }
}

static void draw_rect(cairo_t *cr, const struct timeline_rect *r, bool dark)
{
    GdkRGBA colour = colour_of(r, dark);
    gdk_cairo_set_source_rgba(cr, &colour);
    if (r->kind == TIMELINE_WAIT) /* a thin line */
        cairo_rectangle(cr, NAMES + r->x, r->y + r->height / 2 - 0.75, r->width, 1.5);
    else
        cairo_rectangle(cr, NAMES + r->x, r->y + 1.5, MAX(r->width, 0.7), MAX(r->height - 3, 1));
    cairo_fill(cr);
}

static void draw_cursor(cairo_t *cr, struct timeline_view *v, int width, int height,
                        const GdkRGBA *text)
{
    double at = gtk_adjustment_get_value(v->adjustment);
    double x = (at - (double)v->from) / (double)MAX(v->to - v->from, 1) * width;
    if (x < -1 || x > width + 1)
        return;
    gdk_cairo_set_source_rgba(cr, text);
    cairo_rectangle(cr, NAMES + x - 0.75, 0, 1.5, height);
    cairo_fill(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int whole, int height, void *arg)
{
    struct timeline_view *v = arg;
    bool dark = adw_style_manager_get_dark(adw_style_manager_get_default());
    int width = whole - NAMES - EDGE;
    GdkRGBA text;
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &text);
    GArray *rects = timeline_draw(v->window->debugger->timeline, v->from, v->to, width, height);
    for (unsigned i = 0; i < rects->len; i++)
        draw_rect(cr, &g_array_index(rects, struct timeline_rect, i), dark);
    draw_names(cr, v, height, &text);
    draw_cursor(cr, v, width, height, &text);
    g_array_unref(rects);
}

/* ---- words ---- */

static gboolean on_tooltip(GtkWidget *area, int x, int y, gboolean keyboard, GtkTooltip *tip,
                           struct timeline_view *v)
{
    const struct timeline *t = v->window->debugger->timeline;
    int width = gtk_widget_get_width(area) - NAMES - EDGE, height = gtk_widget_get_height(area);
    GArray *rects = timeline_draw(t, v->from, v->to, width, height);
    char *words = NULL;
    (void)keyboard;
    for (unsigned i = rects->len; i-- > 0 && !words;) {
        const struct timeline_rect *r = &g_array_index(rects, struct timeline_rect, i);
        int edge = r->kind <= TIMELINE_WAIT ? 0 : 3;
        if (x - NAMES < r->x - edge || x - NAMES > r->x + r->width + edge || y < r->y ||
            y > r->y + r->height)
            continue;
        char *at = text_number(r->from);
        if (r->kind == TIMELINE_WAIT)
            words = g_strdup_printf("T%u waits, from tick %s", r->thread, at);
        else if (r->kind == TIMELINE_RUN)
            words = g_strdup_printf("T%u runs, %d %% of the time, from tick %s", r->thread,
                                    (int)(r->share * 100), at);
        else
            words = g_strdup_printf("T%u, tick %s: %s", r->thread, at, r->label ? r->label : "");
        g_free(at);
    }
    g_array_unref(rects);
    if (words)
        gtk_tooltip_set_text(tip, words);
    bool any = words != NULL;
    g_free(words);
    return any;
}

/* What a program that runs has just done is not in its recording yet. */
static uint64_t end_of(const struct timeline_view *v)
{
    const struct debugger *d = v->window->debugger;
    return MAX(timeline_end(d->timeline), d->session.ticks);
}

static void tell(struct timeline_view *v)
{
    char *at = text_number((uint64_t)gtk_adjustment_get_value(v->adjustment));
    char *end = text_short_number(end_of(v));
    char *words = g_strdup_printf("%s of %s ticks", at, end);
    gtk_label_set_text(GTK_LABEL(v->label), words);
    g_free(words);
    g_free(end);
    g_free(at);
}

/* ---- going there ---- */

static gboolean go(void *arg)
{
    struct timeline_view *v = arg;
    v->going = 0;
    debugger_goto_ticks(v->window->debugger, (uint64_t)gtk_adjustment_get_value(v->adjustment));
    return G_SOURCE_REMOVE;
}

/* While it is dragged, the replay follows when the hand rests. */
static void on_value(GtkAdjustment *adjustment, struct timeline_view *v)
{
    (void)adjustment;
    gtk_widget_queue_draw(v->area);
    tell(v);
    if (v->telling)
        return;
    if (v->going)
        g_source_remove(v->going);
    v->going = g_timeout_add(GO_AFTER_MS, go, v);
}

static void show_range(struct timeline_view *v, uint64_t from, uint64_t to)
{
    const struct timeline *t = v->window->debugger->timeline;
    v->from = MAX(from, timeline_begin(t));
    v->to = MAX(MIN(to, end_of(v)), v->from + 1);
    v->whole = to >= end_of(v) && v->from <= timeline_begin(t);
    v->telling = true;
    gtk_adjustment_configure(
        v->adjustment, gtk_adjustment_get_value(v->adjustment), (double)v->from, (double)v->to,
        MAX((double)(v->to - v->from) / 1000, 1), MAX((double)(v->to - v->from) / 20, 1), 0);
    v->telling = false;
    gtk_widget_queue_draw(v->area);
}

static uint64_t ticks_at(struct timeline_view *v, double x)
{
    double width = gtk_widget_get_width(v->area) - NAMES - EDGE;
    double part = CLAMP((x - NAMES) / MAX(width, 1), 0, 1);
    return v->from + (uint64_t)(part * (double)(v->to - v->from));
}

static void zoom(struct timeline_view *v, double by)
{
    double now = gtk_adjustment_get_value(v->adjustment), wide = (double)(v->to - v->from) * by;
    double part = (now - (double)v->from) / (double)MAX(v->to - v->from, 1);
    double from = MAX(now - wide * part, 0);
    show_range(v, (uint64_t)from, (uint64_t)(from + MAX(wide, 16)));
}

static gboolean on_scroll(GtkEventControllerScroll *controller, double dx, double dy,
                          struct timeline_view *v)
{
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
    double step = MAX((double)(v->to - v->from) / 200, 1);
    (void)dx;
    if (state & GDK_CONTROL_MASK)
        zoom(v, dy > 0 ? 1.5 : 1 / 1.5);
    else
        gtk_adjustment_set_value(v->adjustment,
                                 gtk_adjustment_get_value(v->adjustment) + (dy > 0 ? step : -step));
    return TRUE;
}

static void on_click(GtkGestureClick *gesture, int presses, double x, double y,
                     struct timeline_view *v)
{
    (void)gesture;
    (void)y;
    if (presses == 2)
        show_range(v, 0, UINT64_MAX);
    else
        gtk_adjustment_set_value(v->adjustment, (double)ticks_at(v, x));
}

/* ---- changes ---- */

static void add_slice(struct debugger *d)
{
    uint64_t ticks;
    timeline_clear_marks(d->timeline, TIMELINE_SLICE);
    for (unsigned i = 0; d->slice && i < d->slice->rows->len; i++) {
        const struct slice_row *r = g_ptr_array_index(d->slice->rows, i);
        if (timeline_when_position(d->timeline, r->position, &ticks))
            timeline_add_mark(d->timeline, TIMELINE_SLICE, r->thread, ticks, r->text);
    }
}

static void add_failure(struct debugger *d)
{
    uint64_t end = timeline_end(d->timeline);
    timeline_clear_marks(d->timeline, TIMELINE_FAILURE);
    if (d->session.recording.failed && timeline_lanes(d->timeline))
        timeline_add_mark(d->timeline, TIMELINE_FAILURE, 0, end, d->session.recording.end);
}

static void show_place(struct timeline_view *v)
{
    v->telling = true;
    gtk_adjustment_set_value(v->adjustment, (double)v->window->debugger->session.ticks);
    v->telling = false;
    tell(v);
}

void timeline_view_changed(struct timeline_view *v, enum debugger_change change)
{
    struct debugger *d = v->window->debugger;
    unsigned lanes = timeline_lanes(d->timeline);
    if (change == CHANGE_TIMELINE && (v->to <= 1 || v->whole)) {
        add_failure(d);
        show_range(v, 0, UINT64_MAX);
        show_place(v);
        gtk_widget_set_size_request(v->area, -1, LANE * (int)CLAMP(lanes, 1, LANES_MOST));
    } else if (change == CHANGE_RECORDING) {
        v->from = v->to = 0;
        v->whole = false;
    } else if (change == CHANGE_SLICE) {
        add_slice(d);
    } else if (change == CHANGE_PLACE) {
        timeline_add_mark(d->timeline, TIMELINE_STOP, (uint32_t)d->session.thread, d->session.ticks,
                          "you were here");
        if (d->session.ticks < v->from || d->session.ticks > v->to)
            show_range(v, 0, UINT64_MAX);
        show_place(v);
    }
    gtk_widget_queue_draw(v->area);
}

/* ---- begin ---- */

static void add_controllers(struct timeline_view *v)
{
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), v);
    g_signal_connect(click, "pressed", G_CALLBACK(on_click), v);
    gtk_widget_add_controller(v->area, scroll);
    gtk_widget_add_controller(v->area, GTK_EVENT_CONTROLLER(click));
    gtk_widget_set_has_tooltip(v->area, TRUE);
    g_signal_connect(v->area, "query-tooltip", G_CALLBACK(on_tooltip), v);
}

struct timeline_view *timeline_view_new(struct window *w)
{
    struct timeline_view *v = g_new0(struct timeline_view, 1);
    v->window = w;
    v->adjustment = gtk_adjustment_new(0, 0, 1, 1, 1, 0);
    v->area = gtk_drawing_area_new();
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(v->area), draw, v, NULL);
    gtk_widget_set_size_request(v->area, -1, LANE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Threads over time", -1);
    v->scale = gtk_scale_new(GTK_ORIENTATION_HORIZONTAL, v->adjustment);
    gtk_scale_set_draw_value(GTK_SCALE(v->scale), FALSE);
    gtk_widget_add_css_class(v->scale, "time");
    gtk_widget_set_hexpand(v->scale, TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(v->scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Time in ticks", -1);
    v->label = window_label("");
    gtk_widget_add_css_class(v->label, "dim-label");
    gtk_widget_add_css_class(v->label, "numeric");
    add_controllers(v);
    g_signal_connect(v->adjustment, "value-changed", G_CALLBACK(on_value), v);
    v->widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class(v->widget, "timeline");
    gtk_box_append(GTK_BOX(v->widget), v->area);
    gtk_box_append(GTK_BOX(v->widget), v->scale);
    return v;
}

void timeline_view_stop(struct timeline_view *v)
{
    if (v->going)
        g_source_remove(v->going);
    v->going = 0;
}

GtkWidget *timeline_view_label(struct timeline_view *v)
{
    return v->label;
}

GtkWidget *timeline_view_widget(struct timeline_view *v)
{
    return v->widget;
}
