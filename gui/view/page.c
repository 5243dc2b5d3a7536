/* page.c - one source file. SPDX-License-Identifier: MIT
 *
 * What a line depends on is shown between it and the next one: the line gets room below (a tag),
 * and a widget lies over that room. So line numbers and marks go on meaning lines of the file.
 */
#include "gui/view/page.h"

#include <string.h>

#include "gui/model/expression.h"
#include "gui/model/text.h"
#include "gui/view/margin.h"

enum {
    STRIP = 22,
    ARROW = 14,
    LIST_MOST = 190,
    ROOM_EDGE = 6,
    ROOM_LEFT = 80,
    LEADING = 2,
    SCROLL_US = 1000000,
    SETTLED_MS = 400
};

struct page {
    struct window *window;
    char *path;
    GtkWidget *widget;
    GtkSourceView *view;
    GtkTextBuffer *buffer;
    GtkTextTag *current_tag, *frame_tag, *slice_tag, *room_tag;
    unsigned current;
    bool innermost;
    unsigned open;         /* the line whose dependences or instructions are shown; 0: none */
    bool is_code;          /* its instructions */
    double height, before; /* of what is seen; before it became less */
    int64_t shown_us;      /* when a line was last asked for */
    bool settles;          /* its size does */
    struct counts *counts;
    GtkTextMark *behind; /* the line behind that one */
    GtkWidget *room;     /* what lies over the room below that line */
    unsigned long style_signal;
};

/* ---- marks ---- */

static unsigned marks_at(void *arg, unsigned line)
{
    struct page *p = arg;
    const struct breakpoint *b = breakpoints_at(p->window->debugger->breakpoints, p->path, line);
    GPtrArray *rows = slice_at(p->window->debugger->slice, p->path, line);
    unsigned marks = 0;
    if (b)
        marks |= MARGIN_BREAKPOINT | (b->enabled ? 0u : MARGIN_DISABLED) |
                 (b->condition ? MARGIN_CONDITION : 0u);
    if (line == p->current)
        marks |= p->innermost ? MARGIN_CURRENT : MARGIN_FRAME;
    if (rows->len)
        marks |= MARGIN_SLICE | (line == p->open && !p->is_code ? MARGIN_OPEN : 0u);
    g_ptr_array_unref(rows);
    return marks;
}

char *page_margin_words(struct page *p, unsigned line)
{
    static const struct {
        unsigned mark;
        const char *words;
    } table[] = {{MARGIN_BREAKPOINT, "breakpoint"}, {MARGIN_DISABLED, "disabled"},
                 {MARGIN_CONDITION, "conditional"}, {MARGIN_CURRENT, "executed next"},
                 {MARGIN_FRAME, "of this frame"},   {MARGIN_SLICE, "in the slice"},
                 {MARGIN_OPEN, "dependences shown"}};
    unsigned marks = marks_at(p, line);
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (marks & table[i].mark)
            g_string_append_printf(out, "%s%s", out->len ? ", " : "", table[i].words);
    uint64_t times = counts_at(p->counts, line);
    if (times) {
        char *number = text_number(times);
        g_string_append_printf(out, "%sexecuted %s%s", out->len ? ", " : "",
                               times == 1 ? "once" : number, times == 1 ? "" : " times");
        g_free(number);
    }
    return g_string_free(out, out->len == 0);
}

static void on_strip(void *arg, unsigned line, unsigned button)
{
    struct page *p = arg;
    const struct breakpoint *b = breakpoints_at(p->window->debugger->breakpoints, p->path, line);
    if (button == GDK_BUTTON_PRIMARY)
        debugger_toggle_breakpoint(p->window->debugger, p->path, line, false);
    else if (button == GDK_BUTTON_MIDDLE && b)
        debugger_enable_breakpoint(p->window->debugger, b->number, !b->enabled);
}

static void on_arrow(void *arg, unsigned line, unsigned button)
{
    if (button == GDK_BUTTON_PRIMARY)
        page_toggle_dependences(arg, line);
}

static void line_iters(struct page *p, unsigned line, GtkTextIter *from, GtkTextIter *to)
{
    gtk_text_buffer_get_iter_at_line(p->buffer, from, (int)line - 1);
    *to = *from;
    gtk_text_iter_forward_line(to);
}

static unsigned line_count(struct page *p)
{
    return (unsigned)gtk_text_buffer_get_line_count(p->buffer);
}

/* Those from `line` up to the one before `end`. */
static void tag_lines(struct page *p, GtkTextTag *tag, unsigned line, unsigned end)
{
    GtkTextIter from, to, nothing;
    line_iters(p, line, &from, &nothing);
    line_iters(p, end - 1, &nothing, &to);
    gtk_text_buffer_apply_tag(p->buffer, tag, &from, &to);
}

static void tag_line(struct page *p, GtkTextTag *tag, unsigned line)
{
    if (line > 0 && line <= line_count(p))
        tag_lines(p, tag, line, line + 1);
}

static bool is_in_slice(struct page *p, unsigned line)
{
    GPtrArray *rows = slice_at(p->window->debugger->slice, p->path, line);
    bool any = rows->len > 0;
    g_ptr_array_unref(rows);
    return any;
}

static void untag(struct page *p, GtkTextTag *tag)
{
    GtkTextIter from, to;
    gtk_text_buffer_get_bounds(p->buffer, &from, &to);
    gtk_text_buffer_remove_tag(p->buffer, tag, &from, &to);
}

static void redraw_margin(struct page *p)
{
    GtkWidget *gutter = GTK_WIDGET(gtk_source_view_get_gutter(p->view, GTK_TEXT_WINDOW_LEFT));
    for (GtkWidget *child = gtk_widget_get_first_child(gutter); child;
         child = gtk_widget_get_next_sibling(child))
        gtk_widget_queue_draw(child);
}

/* ---- dependences ---- */

/* The room below a line. */
static void close_dependences(struct page *p)
{
    if (!p->open)
        return;
    p->open = 0;
    gtk_widget_set_visible(p->room, FALSE);
    gtk_box_remove(GTK_BOX(p->room), gtk_widget_get_first_child(p->room));
    untag(p, p->room_tag);
}

/* A list that need not be scrolled is as high as its rows; one that may be has room for a bar. */
static void fit_list(GtkWidget *scrolled)
{
    GtkWidget *list = gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(scrolled));
    int height, natural;
    gtk_widget_measure(list, GTK_ORIENTATION_VERTICAL, -1, &height, &natural, NULL, NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   natural > LIST_MOST ? GTK_POLICY_AUTOMATIC : GTK_POLICY_NEVER);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scrolled),
                                               MIN(natural, LIST_MOST));
}

/* The room is as high as what is shown in it. */
static void fit_room(void *arg)
{
    struct page *p = arg;
    GtkTextIter from, to;
    int height, natural;
    fit_list(gtk_widget_get_first_child(p->room));
    line_iters(p, p->open, &from, &to);
    gtk_widget_measure(p->room, GTK_ORIENTATION_VERTICAL, -1, &height, &natural, NULL, NULL);
    g_object_set(p->room_tag, "pixels-below-lines", natural + ROOM_EDGE, NULL);
    gtk_text_buffer_apply_tag(p->buffer, p->room_tag, &from, &to);
    gtk_text_buffer_move_mark(p->buffer, p->behind, &to);
    gtk_text_view_scroll_to_mark(GTK_TEXT_VIEW(p->view), p->behind, 0.08, FALSE, 0, 0);
}

GtkWidget *page_scrolled_new(GtkWidget *grid, const char *name)
{
    enum { WIDTH = 620 };
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), grid);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scrolled), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scrolled), LIST_MOST);
    gtk_widget_set_size_request(scrolled, WIDTH, -1);
    gtk_widget_add_css_class(scrolled, "dependences");
    gtk_accessible_update_property(GTK_ACCESSIBLE(scrolled), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    return scrolled;
}

static void open_room(struct page *p, unsigned line, GtkWidget *shown)
{
    p->open = line;
    gtk_box_append(GTK_BOX(p->room), shown);
    gtk_widget_set_visible(p->room, TRUE);
    fit_room(p);
}

void page_toggle_dependences(struct page *p, unsigned line)
{
    bool again = p->open == line && !p->is_code;
    close_dependences(p);
    GtkWidget *shown = again ? NULL : dependences_new(p->window, p->path, line);
    p->is_code = false;
    if (shown)
        open_room(p, line, shown);
    redraw_margin(p);
}

void page_toggle_code(struct page *p, unsigned line)
{
    bool again = p->open == line && p->is_code;
    close_dependences(p);
    p->is_code = !again;
    if (!again)
        open_room(p, line, code_widget_new(p->window, p->path, line, fit_room, p));
    redraw_margin(p);
}

void page_traced(struct page *p)
{
    counts_ask(p->counts);
}

void page_refresh(struct page *p)
{
    const struct slice *slice = p->window->debugger->slice;
    close_dependences(p);
    untag(p, p->slice_tag);
    for (unsigned line = 1, end, lines = slice ? line_count(p) : 0; line <= lines; line = end + 1) {
        for (end = line; end <= lines && is_in_slice(p, end);)
            end++;
        if (end > line)
            tag_lines(p, p->slice_tag, line, end);
    }
    redraw_margin(p);
}

void page_set_current(struct page *p, unsigned line, bool innermost)
{
    untag(p, p->current_tag);
    untag(p, p->frame_tag);
    p->current = line;
    p->innermost = innermost;
    tag_line(p, innermost ? p->current_tag : p->frame_tag, line);
    redraw_margin(p);
}

/* ---- looks ---- */

static const struct {
    const char *scheme, *current, *frame, *slice;
} colours[2] = {{"Adwaita", "#cdeccf", "#e4e4e4", "#fdf0a8"},
                {"Adwaita-dark", "#1f4d2e", "#44444a", "#57481a"}};

static void set_colours(struct page *p)
{
    bool dark = adw_style_manager_get_dark(adw_style_manager_get_default());
    GtkSourceStyleScheme *scheme = gtk_source_style_scheme_manager_get_scheme(
        gtk_source_style_scheme_manager_get_default(), colours[dark].scheme);
    gtk_source_buffer_set_style_scheme(GTK_SOURCE_BUFFER(p->buffer), scheme);
    g_object_set(p->current_tag, "paragraph-background", colours[dark].current, NULL);
    g_object_set(p->frame_tag, "paragraph-background", colours[dark].frame, NULL);
    g_object_set(p->slice_tag, "paragraph-background", colours[dark].slice, NULL);
}

static void on_style(AdwStyleManager *manager, GParamSpec *spec, struct page *p)
{
    (void)manager;
    (void)spec;
    set_colours(p);
}

static void make_tags(struct page *p)
{
    p->slice_tag = gtk_text_buffer_create_tag(p->buffer, NULL, NULL);
    p->frame_tag = gtk_text_buffer_create_tag(p->buffer, NULL, NULL);
    p->current_tag = gtk_text_buffer_create_tag(p->buffer, NULL, NULL);
    p->room_tag = gtk_text_buffer_create_tag(p->buffer, NULL, NULL);
    set_colours(p);
    p->style_signal =
        g_signal_connect(adw_style_manager_get_default(), "notify::dark", G_CALLBACK(on_style), p);
}

/* A line that has room below it keeps its number at the top. */
static void add_room(struct page *p)
{
    GtkWidget *gutter = GTK_WIDGET(gtk_source_view_get_gutter(p->view, GTK_TEXT_WINDOW_LEFT));
    for (GtkWidget *child = gtk_widget_get_first_child(gutter); child;
         child = gtk_widget_get_next_sibling(child))
        if (GTK_SOURCE_IS_GUTTER_RENDERER(child)) {
            gtk_source_gutter_renderer_set_yalign(GTK_SOURCE_GUTTER_RENDERER(child), 0);
            gtk_source_gutter_renderer_set_alignment_mode(
                GTK_SOURCE_GUTTER_RENDERER(child), GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_FIRST);
        }
    GtkTextIter start;
    gtk_text_buffer_get_start_iter(p->buffer, &start);
    p->behind = gtk_text_buffer_create_mark(p->buffer, NULL, &start, TRUE);
    p->room = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_visible(p->room, FALSE);
}

static void add_strips(struct page *p)
{
    GtkSourceGutter *gutter = gtk_source_view_get_gutter(p->view, GTK_TEXT_WINDOW_LEFT);
    unsigned breakpoints =
        MARGIN_BREAKPOINT | MARGIN_DISABLED | MARGIN_CONDITION | MARGIN_CURRENT | MARGIN_FRAME;
    gtk_source_gutter_insert(gutter, gui_margin_new(breakpoints, STRIP, marks_at, on_strip, p),
                             -50);
    gtk_source_gutter_insert(
        gutter, gui_margin_new(MARGIN_SLICE | MARGIN_OPEN, ARROW, marks_at, on_arrow, p), 50);
}

/* ---- the pointer and the cursor ---- */

static char *line_text(struct page *p, const GtkTextIter *at, unsigned *column)
{
    GtkTextIter from = *at, to = *at;
    gtk_text_iter_set_line_offset(&from, 0);
    if (!gtk_text_iter_ends_line(&to))
        gtk_text_iter_forward_to_line_end(&to);
    *column = (unsigned)gtk_text_iter_get_line_index(at);
    return gtk_text_buffer_get_text(p->buffer, &from, &to, FALSE);
}

static char *expression_of(struct page *p, const GtkTextIter *at)
{
    unsigned column;
    char *line = line_text(p, at, &column);
    char *found = expression_at(line, column);
    if (!found && column > 0) /* the cursor stands behind a name */
        found = expression_at(line, column - 1);
    g_free(line);
    return found;
}

char *page_cursor_expression(struct page *p)
{
    GtkTextIter from, to;
    if (gtk_text_buffer_get_selection_bounds(p->buffer, &from, &to) &&
        gtk_text_iter_get_line(&from) == gtk_text_iter_get_line(&to))
        return gtk_text_buffer_get_text(p->buffer, &from, &to, FALSE);
    gtk_text_buffer_get_iter_at_mark(p->buffer, &from, gtk_text_buffer_get_insert(p->buffer));
    return expression_of(p, &from);
}

char *page_cursor_function(struct page *p)
{
    GtkTextIter at;
    unsigned column;
    gtk_text_buffer_get_iter_at_mark(p->buffer, &at, gtk_text_buffer_get_insert(p->buffer));
    char *line = line_text(p, &at, &column);
    char *name = function_at(line, column);
    g_free(line);
    return name;
}

unsigned page_cursor_line(struct page *p)
{
    GtkTextIter at;
    gtk_text_buffer_get_iter_at_mark(p->buffer, &at, gtk_text_buffer_get_insert(p->buffer));
    return (unsigned)gtk_text_iter_get_line(&at) + 1;
}

static void on_cursor(GtkTextBuffer *buffer, GParamSpec *spec, struct page *p)
{
    (void)buffer;
    (void)spec;
    actions_update(p->window);
}

/* The menu of the right button is about what is below it. */
static void on_right(GtkGestureClick *gesture, int presses, double x, double y, struct page *p)
{
    GtkTextIter at;
    int bx, by;
    (void)gesture;
    (void)presses;
    gtk_text_view_window_to_buffer_coords(GTK_TEXT_VIEW(p->view), GTK_TEXT_WINDOW_WIDGET, (int)x,
                                          (int)y, &bx, &by);
    gtk_text_view_get_iter_at_location(GTK_TEXT_VIEW(p->view), &at, bx, by);
    if (!gtk_text_buffer_get_has_selection(p->buffer))
        gtk_text_buffer_place_cursor(p->buffer, &at);
}

static void add_menu(struct page *p)
{
    static const struct {
        const char *label, *action;
    } about_value[] = {{"_Why?", "win.why"},
                       {"_Last Change", "win.last"},
                       {"_All Values", "win.values"},
                       {"_Slice", "win.slice"},
                       {"Wa_tch", "win.watch"}},
      about_line[] = {{"Toggle _Breakpoint", "win.breakpoint"},
                      {"Run to _Here", "win.run-to-cursor"},
                      {"Run _Back to Here", "win.back-to-cursor"},
                      {"_Executions of This Line", "win.executions"},
                      {"E_xecutions of the Function", "win.calls"},
                      {"_Dependences", "win.dependences"}};
    GMenu *menu = g_menu_new(), *first = g_menu_new(), *second = g_menu_new();
    for (size_t i = 0; i < G_N_ELEMENTS(about_value); i++)
        g_menu_append(first, about_value[i].label, about_value[i].action);
    for (size_t i = 0; i < G_N_ELEMENTS(about_line); i++)
        g_menu_append(second, about_line[i].label, about_line[i].action);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(first));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(second));
    gtk_text_view_set_extra_menu(GTK_TEXT_VIEW(p->view), G_MENU_MODEL(menu));
    GtkGesture *right = gtk_gesture_click_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(right), GDK_BUTTON_SECONDARY);
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(right), GTK_PHASE_CAPTURE);
    g_signal_connect(right, "pressed", G_CALLBACK(on_right), p);
    gtk_widget_add_controller(GTK_WIDGET(p->view), GTK_EVENT_CONTROLLER(right));
    g_object_unref(first);
    g_object_unref(second);
    g_object_unref(menu);
}

static void on_scrolled(GtkAdjustment *adjustment, struct page *p)
{
    (void)adjustment;
    if (p->open)
        gtk_widget_queue_allocate(p->widget);
}

/* Over the room below the line, wherever that is scrolled to. Where exactly a line is that is not
 * seen is not asked: the view would measure it, and with that want another place while all are
 * given theirs. */
static gboolean on_place(GtkOverlay *overlay, GtkWidget *widget, GdkRectangle *place,
                         struct page *p)
{
    GtkTextIter from, to;
    GdkRectangle at = {0}, seen;
    int least, y, height;
    (void)overlay;
    if (!p->open || widget != p->room)
        return FALSE;
    line_iters(p, p->open, &from, &to);
    gtk_text_view_get_visible_rect(GTK_TEXT_VIEW(p->view), &seen);
    gtk_text_view_get_line_yrange(GTK_TEXT_VIEW(p->view), &from, &at.y, &height);
    if (at.y < seen.y + seen.height && at.y + height > seen.y)
        gtk_text_view_get_iter_location(GTK_TEXT_VIEW(p->view), &from, &at);
    gtk_text_view_buffer_to_window_coords(GTK_TEXT_VIEW(p->view), GTK_TEXT_WINDOW_WIDGET, 0,
                                          at.y + at.height, NULL, &y);
    gtk_widget_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, &place->width, NULL, NULL);
    gtk_widget_measure(widget, GTK_ORIENTATION_VERTICAL, place->width, &least, &place->height, NULL,
                       NULL);
    place->x = ROOM_LEFT;
    place->y = y + 2;
    return TRUE;
}

static gboolean scroll_later(void *arg)
{
    struct page *p = arg;
    gtk_text_view_scroll_to_mark(GTK_TEXT_VIEW(p->view), gtk_text_buffer_get_insert(p->buffer), 0.2,
                                 FALSE, 0, 0.4);
    g_object_unref(p->widget);
    return G_SOURCE_REMOVE;
}

/* A page that was just made, or resized, has its size later. */
static void show_cursor(struct page *p)
{
    g_object_ref(p->widget);
    g_idle_add(scroll_later, p);
}

/* A strip above or the timeline has taken some room: a line with the cursor that was seen, or is
 * being scrolled to, stays in sight. */
static gboolean on_settled(void *arg)
{
    struct page *p = arg;
    GtkAdjustment *seen = gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(p->view));
    double top = gtk_adjustment_get_value(seen);
    bool scrolls = g_get_monotonic_time() < p->shown_us + SCROLL_US;
    GtkTextIter at;
    int y, height;
    p->settles = false;
    gtk_text_buffer_get_iter_at_mark(p->buffer, &at, gtk_text_buffer_get_insert(p->buffer));
    gtk_text_view_get_line_yrange(GTK_TEXT_VIEW(p->view), &at, &y, &height);
    if (scrolls || (y >= top && y < top + p->before))
        return scroll_later(p);
    g_object_unref(p->widget);
    return G_SOURCE_REMOVE;
}

/* Nothing is asked here: the view would measure lines, and want another place while it is given its
 * own. A strip comes in many steps. */
static void on_resized(GtkAdjustment *seen, GParamSpec *spec, struct page *p)
{
    double height = gtk_adjustment_get_page_size(seen);
    (void)spec;
    if (height < p->height && !p->settles) {
        p->settles = true;
        p->before = p->height;
        g_object_ref(p->widget);
        g_timeout_add(SETTLED_MS, on_settled, p);
    }
    p->height = height;
}

/* ---- begin and end ---- */

static void on_destroy(void *arg)
{
    struct page *p = arg;
    g_signal_handler_disconnect(adw_style_manager_get_default(), p->style_signal);
    g_object_unref(p->buffer);
    g_free(p->path);
    g_free(p);
}

static GtkSourceLanguage *language_of(const char *path)
{
    return gtk_source_language_manager_guess_language(gtk_source_language_manager_get_default(),
                                                      path, NULL);
}

static void add_scrolling(struct page *p)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    GtkScrolledWindow *bars = GTK_SCROLLED_WINDOW(scrolled);
    gtk_scrolled_window_set_child(bars, GTK_WIDGET(p->view));
    p->widget = gtk_overlay_new();
    gtk_overlay_set_child(GTK_OVERLAY(p->widget), scrolled);
    gtk_overlay_add_overlay(GTK_OVERLAY(p->widget), p->room);
    gtk_overlay_set_clip_overlay(GTK_OVERLAY(p->widget), p->room, TRUE);
    g_signal_connect(p->widget, "get-child-position", G_CALLBACK(on_place), p);
    g_signal_connect(gtk_scrolled_window_get_vadjustment(bars), "value-changed",
                     G_CALLBACK(on_scrolled), p);
    g_signal_connect(gtk_scrolled_window_get_vadjustment(bars), "notify::page-size",
                     G_CALLBACK(on_resized), p);
    g_object_set_data_full(G_OBJECT(p->widget), "page", p, on_destroy);
}

struct page *page_new(struct window *w, const char *path, const char *text)
{
    struct page *p = g_new0(struct page, 1);
    char *name = text_line(text_base(path));
    p->window = w;
    p->path = g_strdup(path);
    p->buffer = GTK_TEXT_BUFFER(gtk_source_buffer_new(NULL));
    p->view = GTK_SOURCE_VIEW(gtk_source_view_new_with_buffer(GTK_SOURCE_BUFFER(p->buffer)));
    gtk_text_buffer_set_text(p->buffer, text, -1);
    gtk_source_buffer_set_language(GTK_SOURCE_BUFFER(p->buffer), language_of(path));
    gtk_source_buffer_set_highlight_matching_brackets(GTK_SOURCE_BUFFER(p->buffer), FALSE);
    gtk_text_view_set_editable(GTK_TEXT_VIEW(p->view), FALSE);
    gtk_text_view_set_monospace(GTK_TEXT_VIEW(p->view), TRUE);
    gtk_text_view_set_left_margin(GTK_TEXT_VIEW(p->view), 4);
    /* The next line's background would cover underscores. */
    gtk_text_view_set_pixels_below_lines(GTK_TEXT_VIEW(p->view), LEADING);
    gtk_source_view_set_show_line_numbers(p->view, TRUE);
    gtk_widget_add_css_class(GTK_WIDGET(p->view), "source");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->view), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    p->counts = counts_new(w, p->view, p->path);
    make_tags(p);
    add_strips(p);
    add_room(p);
    add_menu(p);
    hover_add(w, p->view);
    g_signal_connect(p->buffer, "notify::cursor-position", G_CALLBACK(on_cursor), p);
    add_scrolling(p);
    page_refresh(p);
    g_free(name);
    return p;
}

GtkWidget *page_widget(struct page *p)
{
    return p->widget;
}

GtkSourceView *page_view(struct page *p)
{
    return p->view;
}

const char *page_path(const struct page *p)
{
    return p->path;
}

void page_show_line(struct page *p, unsigned line)
{
    GtkTextIter at;
    gtk_text_buffer_get_iter_at_line(p->buffer, &at, (int)line - 1);
    gtk_text_buffer_place_cursor(p->buffer, &at);
    p->shown_us = g_get_monotonic_time();
    show_cursor(p);
}
