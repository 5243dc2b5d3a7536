/* window.c - the window: puts its parts together and tells them what changed.
 * SPDX-License-Identifier: MIT */
#include "gui/view/window.h"

#include <stddef.h>
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/form.h"
#include "gui/view/guide.h"
#include "gui/view/launch.h"
#include "gui/view/panes.h"
#include "gui/view/source.h"
#include "gui/view/timeline_view.h"
#include "gui/view/toasts.h"

enum { PULSE_MS = 120, PULSE_AFTER = 8, FIT_MS = 60 };

GtkWidget *window_label(const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    return label;
}

void window_name_tab(GtkWidget *label, const char *name)
{
    GtkWidget *tab = gtk_widget_get_parent(label);
    if (tab)
        gtk_accessible_update_property(GTK_ACCESSIBLE(tab), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                       -1);
}

void window_toast(struct window *w, const char *text)
{
    toasts_add(w->toasts, text);
}

void window_announce(struct window *w, const char *text, const char *button, const char *action)
{
    char *safe = text_lines(text);
    gtk_revealer_set_reveal_child(GTK_REVEALER(w->banner), text != NULL);
    if (text)
        gtk_label_set_text(GTK_LABEL(w->banner_label), safe);
    gtk_widget_set_visible(w->banner_button, action != NULL);
    if (action) {
        gtk_button_set_label(GTK_BUTTON(w->banner_button), button);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(w->banner_button), action);
    }
    g_free(safe);
}

/* ---- what is said about the state ---- */

static void show_status(struct window *w)
{
    const struct session *s = &w->debugger->session;
    char *words = session_words(s);
    struct page *page = s->frame.line ? source_page(w->source) : NULL;
    char *margin =
        page && s->state == SESSION_STOPPED ? page_margin_words(page, s->frame.line) : NULL;
    char *all = margin ? g_strdup_printf("%s  ·  line %u: %s", words, s->frame.line, margin)
                       : g_strdup(words);
    gtk_label_set_text(GTK_LABEL(w->status), all);
    gtk_button_set_label(GTK_BUTTON(w->position), s->position ? s->position : "");
    gtk_widget_set_visible(w->position, s->position != NULL);
    g_free(all);
    g_free(margin);
    g_free(words);
}

static void show_title(struct window *w)
{
    const struct session_recording *r = &w->debugger->session.recording;
    char *end = text_line(r->end), *program = text_line(text_base(r->program));
    const char *host = debugger_host(w->debugger);
    char *subtitle = r->path ? g_strdup_printf("%s — %s%s%s%s", program, end,
                                               r->own ? "" : " — a stranger's, confined",
                                               host ? " — on " : "", host ? host : "")
                             : g_strdup("");
    adw_window_title_set_title(ADW_WINDOW_TITLE(w->title), r->path ? r->name : "drdebug");
    adw_window_title_set_subtitle(ADW_WINDOW_TITLE(w->title), subtitle);
    g_free(subtitle);
    g_free(program);
    g_free(end);
}

static void announce_failure(struct window *w)
{
    const struct session_recording *r = &w->debugger->session.recording;
    if (r->path && r->failed)
        window_announce(w, r->end, "Go to Failure", "win.failure");
    else
        window_announce(w, NULL, NULL, NULL);
}

/* A live program goes to its end; GDB opens the recording; there its failure is asked. */
static void go_on_to_why(struct window *w)
{
    const struct session *s = &w->debugger->session;
    bool wanted = w->why_at_end;
    w->why_at_end = wanted && s->recording.live && s->at_end;
    if (wanted && s->recording.live && s->at_end)
        debugger_move(w->debugger, "-exec-continue");
    else if (wanted && !s->recording.live)
        g_action_group_activate_action(G_ACTION_GROUP(w->window), "why-failure", NULL);
}

/* A failure of a program that runs: it is still there, and can be asked. */
static void announce_live(struct window *w)
{
    const struct session *s = &w->debugger->session;
    if (!s->recording.live || !s->now || !s->why || !g_str_has_prefix(s->why, "SIG") ||
        g_str_has_prefix(s->why, "SIGINT"))
        return;
    char *text = g_strdup_printf("The program got %s.", s->why);
    window_announce(w, text, "Why?", "win.why-failure");
    g_free(text);
}

static gboolean pulse(void *arg)
{
    struct window *w = arg;
    if (!gtk_widget_get_visible(w->work)) {
        w->pulses = 0;
        return G_SOURCE_CONTINUE;
    }
    if (w->debugger->percent >= 0)
        w->pulses = 0;
    else if (++w->pulses > PULSE_AFTER) /* what is short does not move */
        gtk_progress_bar_pulse(GTK_PROGRESS_BAR(w->work_bar));
    return G_SOURCE_CONTINUE;
}

static void show_work(struct window *w)
{
    const struct debugger *d = w->debugger;
    bool busy = gdb_is_busy(d->gdb);
    const char *words = d->work                               ? d->work
                        : d->session.state == SESSION_LOADING ? "Opening"
                        : busy                                ? "Running"
                                                              : NULL;
    gtk_widget_set_visible(w->work, words != NULL);
    if (words)
        gtk_label_set_text(GTK_LABEL(w->work_label), words);
    if (d->percent >= 0)
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(w->work_bar), d->percent / 100.0);
}

static void show_lost(struct window *w)
{
    if (w->debugger->session.state != SESSION_LOST)
        return;
    if (!debugger_is_connected(w->debugger)) {
        char *text = g_strdup_printf("The connection to %s is lost. Nothing else is: it goes on "
                                     "where it was as soon as there is one again.",
                                     debugger_host(w->debugger));
        window_announce(w, text, "Connect Again", "win.recover");
        g_free(text);
    } else if (debugger_program(w->debugger))
        window_announce(w, "GDB has ended, and the program with it. What it did is recorded.",
                        "Open the Recording", "win.recover");
    else
        window_announce(w, "GDB has ended. Nothing is lost: it can be started again where it was.",
                        "Start Again", "win.recover");
}

/* The source has become smaller or larger. The view of GTK 4.8 goes on with the size that it had
 * unless it is asked for another one: its last lines could not be reached. */
static gboolean fit_source(void *arg)
{
    struct window *w = arg;
    struct page *page = w->closing ? NULL : source_page(w->source);
    w->fitting = false;
    if (page)
        gtk_widget_queue_resize(GTK_WIDGET(page_view(page)));
    g_object_unref(w->window);
    return G_SOURCE_REMOVE;
}

static void fit_source_later(struct window *w)
{
    if (w->fitting || w->closing)
        return;
    w->fitting = true;
    g_object_ref(w->window);
    g_timeout_add(FIT_MS, fit_source, w);
}

/* ---- changes ---- */

static void on_changed(void *arg, enum debugger_change change)
{
    struct window *w = arg;
    if (w->closing)
        return;
    if (change == CHANGE_WORK) {
        show_work(w);
        return;
    }
    if (change == CHANGE_RECORDING) {
        bool open = w->debugger->session.recording.path != NULL;
        show_title(w);
        announce_failure(w);
        if (open)
            settings_add_recent(w->settings, w->debugger->session.recording.path);
        else
            start_refresh(w);
        gtk_stack_set_visible_child_name(GTK_STACK(w->pages), open ? "session" : "start");
    }
    source_changed(w->source, change);
    timeline_view_changed(w->timeline, change);
    panes_changed(w, change);
    show_status(w);
    guide_changed(w, change);
    if (change == CHANGE_PLACE && w->debugger->session.at_end && !w->guide)
        window_announce(w, NULL, NULL, NULL);
    if (change == CHANGE_PLACE) {
        go_on_to_why(w);
        announce_live(w);
    }
    if (change == CHANGE_STATE)
        show_lost(w);
    if (change == CHANGE_TIMELINE)
        fit_source_later(w);
    actions_update(w);
}

static void on_said(void *arg, const char *text)
{
    console_say(arg, text);
}

static void on_ok(GtkButton *button, GtkWindow *dialog)
{
    (void)button;
    gtk_window_destroy(dialog);
}

/* On the first page nothing else has room for it. */
static void complain_alone(struct window *w, const char *text)
{
    struct form form;
    char *safe = text_lines(text);
    form_init(&form, w, "That Did Not Work", 460);
    gtk_label_set_selectable(GTK_LABEL(form_say(&form, safe)), TRUE);
    GtkWidget *button = form_button(&form, "OK", G_CALLBACK(on_ok), form.dialog);
    gtk_window_set_focus(GTK_WINDOW(form.dialog), button);
    form_show(&form, NULL, NULL);
    g_free(safe);
}

static void on_failed(void *arg, const char *text)
{
    struct window *w = arg;
    bool start = strcmp(gtk_stack_get_visible_child_name(GTK_STACK(w->pages)), "start") == 0;
    if (!*text)
        return;
    if (start)
        complain_alone(w, text);
    else if (strlen(text) < 90)
        window_toast(w, text);
    else
        window_announce(w, text, NULL, NULL);
}

void window_open(struct window *w, const char *path)
{
    debugger_open(w->debugger, path);
}

void window_show_session(struct window *w)
{
    gtk_stack_set_visible_child_name(GTK_STACK(w->pages), "session");
}

/* What was chosen has taken the expression by now; what is done next is not about it. */
static gboolean forget_expression(void *arg)
{
    struct window *w = arg;
    if (!gtk_widget_get_visible(w->menu))
        g_clear_pointer(&w->expression, g_free);
    g_object_unref(w->menu);
    return G_SOURCE_REMOVE;
}

/* GTK tells of the end of the menu before it does what was chosen. */
static void on_menu_closed(GtkPopover *menu, struct window *w)
{
    g_object_ref(menu);
    g_idle_add_full(G_PRIORITY_HIGH, forget_expression, w, NULL);
}

static void add_menu(struct window *w, GtkWidget *content)
{
    static const char *const labels[] = {"Why?",  "Last Change",           "All Values",    "Slice",
                                         "Watch", "Stop Where It Changes", "Change Value …"};
    static const char *const names[] = {"win.why",   "win.last",       "win.values", "win.slice",
                                        "win.watch", "win.watchpoint", "win.change"};
    GMenu *menu = g_menu_new();
    for (size_t i = 0; i < G_N_ELEMENTS(labels); i++)
        g_menu_append(menu, labels[i], names[i]);
    w->menu = gtk_popover_menu_new_from_model(G_MENU_MODEL(menu));
    gtk_widget_set_parent(w->menu, content);
    g_signal_connect(w->menu, "closed", G_CALLBACK(on_menu_closed), w);
    g_object_unref(menu);
}

/* It is a child of what stays as long as the window does: a cell of a list goes with its row, and a
 * child that is still there then is used after its end. */
void window_menu(struct window *w, const char *expression, GtkWidget *at)
{
    graphene_rect_t place;
    if (!gtk_widget_compute_bounds(at, gtk_widget_get_parent(w->menu), &place))
        return;
    g_free(w->expression);
    w->expression = g_strdup(expression);
    gtk_popover_set_pointing_to(GTK_POPOVER(w->menu),
                                &(GdkRectangle){(int)place.origin.x, (int)place.origin.y,
                                                (int)place.size.width, (int)place.size.height});
    gtk_popover_popup(GTK_POPOVER(w->menu));
}

/* ---- begin and end ---- */

static void on_resized(GtkWidget *widget, GParamSpec *spec, struct window *w)
{
    (void)widget;
    (void)spec;
    fit_source_later(w);
}

/* What is at the right and below keeps its size: strips and the timeline's lanes take theirs from
 * the source. So those are the sizes that are remembered. */
static const struct {
    size_t paned; /* of struct window */
    const char *setting;
    int size;
} ends[] = {{offsetof(struct window, main_paned), "right-width", 530},
            {offsetof(struct window, left_paned), "below-height", 225},
            {offsetof(struct window, right_paned), "right-below-height", 225}};

static GtkPaned *paned_of(struct window *w, size_t i)
{
    return GTK_PANED(*(GtkWidget **)((char *)w + ends[i].paned));
}

static int size_of(GtkWidget *widget, GtkPaned *paned)
{
    bool beside =
        gtk_orientable_get_orientation(GTK_ORIENTABLE(paned)) == GTK_ORIENTATION_HORIZONTAL;
    return beside ? gtk_widget_get_width(widget) : gtk_widget_get_height(widget);
}

static void save_end(struct window *w, size_t i)
{
    GtkPaned *paned = paned_of(w, i);
    int size = size_of(gtk_paned_get_end_child(paned), paned);
    if (size > 0) /* else it was never shown */
        settings_set_number(w->settings, "window", ends[i].setting, size);
}

static gboolean place_end(void *arg)
{
    struct window *w = arg;
    for (size_t i = 0; i < G_N_ELEMENTS(ends) && !w->closing; i++) {
        GtkPaned *paned = paned_of(w, i);
        int whole = size_of(GTK_WIDGET(paned), paned);
        int handle = whole - size_of(gtk_paned_get_start_child(paned), paned) -
                     size_of(gtk_paned_get_end_child(paned), paned);
        int end = settings_number(w->settings, "window", ends[i].setting, ends[i].size) + handle;
        if (whole > end)
            gtk_paned_set_position(paned, whole - end);
    }
    g_object_unref(w->window);
    return G_SOURCE_REMOVE;
}

/* It has no size yet. Once it has been shown, it is the user's. */
static void on_paned_shown(GtkWidget *paned, struct window *w)
{
    g_signal_handlers_disconnect_by_func(paned, on_paned_shown, w);
    g_object_ref(w->window);
    g_idle_add(place_end, w);
}

static void on_banner_close(GtkButton *button, struct window *w)
{
    (void)button;
    window_announce(w, NULL, NULL, NULL);
}

static gboolean on_close(GtkWindow *window, struct window *w)
{
    (void)window;
    panes_save(w);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        save_end(w, i);
    g_source_remove(w->pulse);
    timeline_view_stop(w->timeline);
    w->closing = true;
    debugger_close(w->debugger); /* widgets that are taken down may still look at it */
    settings_save(w->settings);
    return FALSE;
}

static void find_parts(struct window *w, GtkBuilder *builder)
{
    struct {
        GtkWidget **to;
        const char *name;
    } parts[] = {{&w->pages, "pages"},
                 {&w->banner, "banner"},
                 {&w->banner_label, "banner_label"},
                 {&w->banner_button, "banner_button"},
                 {&w->status, "status"},
                 {&w->work, "work"},
                 {&w->work_label, "work_label"},
                 {&w->work_bar, "work_bar"},
                 {&w->position, "position"},
                 {&w->title, "title"},
                 {&w->main_paned, "main_paned"},
                 {&w->left_paned, "left_paned"},
                 {&w->right_paned, "right_paned"}};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        *parts[i].to = GTK_WIDGET(gtk_builder_get_object(builder, parts[i].name));
    w->window = ADW_APPLICATION_WINDOW(gtk_builder_get_object(builder, "window"));
}

/* KDbg's arrangement. */
static void arrange(struct window *w, GtkBuilder *builder)
{
    GtkWidget *bar = gtk_popover_menu_bar_new_from_model(actions_menu(w));
    gtk_paned_set_start_child(GTK_PANED(w->left_paned), source_widget(w->source));
    gtk_paned_set_end_child(GTK_PANED(w->left_paned), w->places[PLACE_LEFT]);
    gtk_paned_set_start_child(GTK_PANED(w->right_paned), w->places[PLACE_RIGHT_TOP]);
    gtk_paned_set_end_child(GTK_PANED(w->right_paned), w->places[PLACE_RIGHT_BOTTOM]);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        g_signal_connect(paned_of(w, i), "map", G_CALLBACK(on_paned_shown), w);
    gtk_box_append(GTK_BOX(gtk_builder_get_object(builder, "tools")), actions_toolbar(w));
    gtk_box_append(GTK_BOX(gtk_builder_get_object(builder, "timeline")),
                   timeline_view_widget(w->timeline));
    gtk_box_append(GTK_BOX(gtk_builder_get_object(builder, "ticks")),
                   timeline_view_label(w->timeline));
    gtk_widget_set_hexpand(timeline_view_widget(w->timeline), TRUE);
    adw_header_bar_pack_start(ADW_HEADER_BAR(gtk_builder_get_object(builder, "header")), bar);
    gtk_stack_add_named(GTK_STACK(w->pages), start_new(w), "start");
    gtk_stack_set_visible_child_name(GTK_STACK(w->pages), "start");
}

struct window *window_new(GtkApplication *app, const char *drdebug)
{
    struct window *w = g_new0(struct window, 1);
    struct debugger_listener listener = {
        .changed = on_changed, .said = on_said, .failed = on_failed, .arg = w};
    GtkBuilder *builder = gtk_builder_new_from_resource("/org/drdebug/gui/view/window.ui");
    find_parts(w, builder);
    w->drdebug = g_strdup(drdebug);
    w->settings = settings_load();
    w->debugger = debugger_new(drdebug, &listener);
    w->source = source_new(w);
    w->timeline = timeline_view_new(w);
    gtk_window_set_application(GTK_WINDOW(w->window), app);
    actions_add(w);
    panes_make(w);
    arrange(w, builder);
    w->toasts = toasts_new(GTK_OVERLAY(gtk_builder_get_object(builder, "toasts")));
    add_menu(w, GTK_WIDGET(gtk_builder_get_object(builder, "content")));
    g_signal_connect(w->banner, "notify::child-revealed", G_CALLBACK(on_resized), w);
    g_signal_connect(w->left_paned, "notify::position", G_CALLBACK(on_resized), w);
    g_signal_connect(w->left_paned, "notify::max-position", G_CALLBACK(on_resized), w);
    g_signal_connect(gtk_builder_get_object(builder, "banner_close"), "clicked",
                     G_CALLBACK(on_banner_close), w);
    g_signal_connect(w->window, "close-request", G_CALLBACK(on_close), w);
    w->pulse = g_timeout_add(PULSE_MS, pulse, w);
    settings_apply(w);
    actions_update(w);
    start_refresh(w);
    g_object_unref(builder);
    return w;
}
