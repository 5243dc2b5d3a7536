/* actions.c - what buttons, menus and keys do. SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/dialogs.h"
#include "gui/view/guide.h"
#include "gui/view/launch.h"
#include "gui/view/panes.h"
#include "gui/view/slice_bar.h"
#include "gui/view/source.h"

enum needs { NOTHING, OPEN, STOPPED, SOURCE, SLICE, LOST };

struct action {
    const char *name, *label, *keys, *icon;
    enum needs needs;
    void (*run)(struct window *w);
    const char *command; /* of a move */
};

/* ---- what they do ---- */

/* What a menu was opened about, the row that has the focus, or what is at the cursor. NULL:
 * nothing; that was said. */
static char *expression(struct window *w)
{
    struct page *page = source_page(w->source);
    char *found = g_steal_pointer(&w->expression);
    if (!found)
        found = watches_selected(w);
    if (!found && page)
        found = page_cursor_expression(page);
    if (!found)
        window_toast(w, "Put the cursor on a variable first");
    return found;
}

static void run_to(struct window *w, bool back)
{
    struct page *page = source_page(w->source);
    debugger_run_to(w->debugger, page_path(page), page_cursor_line(page), back);
}

static void run_to_cursor(struct window *w)
{
    run_to(w, false);
}

static void back_to_cursor(struct window *w)
{
    run_to(w, true);
}

static void failure(struct window *w)
{
    if (!w->guide)
        window_announce(w, NULL, NULL, NULL);
    debugger_goto_failure(w->debugger);
}

static void cancel(struct window *w)
{
    debugger_cancel(w->debugger);
}

static void recover(struct window *w)
{
    window_announce(w, NULL, NULL, NULL);
    debugger_recover(w->debugger);
}

static void why(struct window *w)
{
    const struct page *page = source_page(w->source);
    char *of = w->expression || page ? expression(w) : NULL;
    if (of || !page)
        story_ask(w, of);
    g_free(of);
}

static void why_failure(struct window *w)
{
    const struct session *s = &w->debugger->session;
    window_announce(w, NULL, NULL, NULL);
    w->why_at_end = s->recording.live;
    if (s->recording.live) { /* it has to end first: window.c goes on */
        debugger_move(w->debugger, "-exec-continue");
        return;
    }
    debugger_goto_failure(w->debugger);
    story_ask(w, NULL);
}

static void slice_of(struct window *w, const char *verb)
{
    char *of = expression(w), *quoted = of ? mi_quote(of) : NULL;
    char *command = of ? g_strdup_printf("-pin-%s %s", verb, quoted) : NULL;
    if (command)
        debugger_slice(w->debugger, command, NULL, NULL);
    g_free(command);
    g_free(quoted);
    g_free(of);
}

static void slice(struct window *w)
{
    slice_of(w, "slice");
    window_show_pane(w, "slices");
}

static void forward_slice(struct window *w)
{
    slice_of(w, "forward-slice");
    window_show_pane(w, "slices");
}

/* race.pinball -> race.slice.pinball, with a number if that is there. To be freed. */
static char *name_beside(const char *path, const char *kind)
{
    char *stem = g_str_has_suffix(path, ".pinball")
                     ? g_strndup(path, strlen(path) - strlen(".pinball"))
                     : g_strdup(path);
    char *name = g_strdup_printf("%s.%s.pinball", stem, kind);
    for (int i = 1; g_file_test(name, G_FILE_TEST_EXISTS); i++) {
        g_free(name);
        name = g_strdup_printf("%s.%s.%d.pinball", stem, kind, i);
    }
    g_free(stem);
    return name;
}

static void slice_next(struct window *w)
{
    debugger_move(w->debugger, "pin slice-step");
}

static void slice_back(struct window *w)
{
    debugger_move(w->debugger, "pin slice-back");
}

/* A recording that replays nothing but the slice. */
static void on_relogged(void *arg, const struct mi_record *result)
{
    struct window *w = arg;
    char *path = g_steal_pointer(&w->relogged);
    if (result && strcmp(result->name, "done") == 0 && !w->closing)
        launch_result(w, path);
    else if (result && !w->closing)
        window_toast(w, value_say(result->results, "msg"));
    g_free(path);
}

static void relog(struct window *w)
{
    if (w->relogged)
        return;
    w->relogged = name_beside(w->debugger->session.recording.path, "slice");
    char *there = debugger_path_there(w->debugger, w->relogged), *quoted = mi_quote(there),
         *command = g_strdup_printf("-pin-relog %s", quoted);
    debugger_command(w->debugger, command, on_relogged, w);
    g_free(there);
    g_free(command);
    g_free(quoted);
}

static void slice_drop(struct window *w)
{
    debugger_drop_slice(w->debugger);
}

static void dependences(struct window *w)
{
    struct page *page = source_page(w->source);
    page_toggle_dependences(page, page_cursor_line(page));
}

static void disassembly(struct window *w)
{
    struct page *page = source_page(w->source);
    page_toggle_code(page, page_cursor_line(page));
}

static void last(struct window *w)
{
    char *of = expression(w), *command = of ? g_strdup_printf("pin last %s", of) : NULL;
    if (command)
        debugger_move(w->debugger, command);
    g_free(command);
    g_free(of);
}

static void values(struct window *w)
{
    char *of = expression(w);
    if (of)
        executions_ask_values(w, of);
    g_free(of);
}

static void watch(struct window *w)
{
    char *of = expression(w);
    if (of)
        watches_add(w, of);
    g_free(of);
}

static void executions(struct window *w)
{
    struct page *page = source_page(w->source);
    executions_ask_line(w, page_path(page), page_cursor_line(page));
}

/* The function at the cursor counts; else the one that is looked at. */
static void calls(struct window *w)
{
    struct page *page = source_page(w->source);
    char *name = page ? page_cursor_function(page) : NULL;
    const char *function = name ? name : w->debugger->session.frame.function;
    if (function)
        executions_ask_calls(w, function);
    else
        window_toast(w, "Put the cursor on the name of a function first");
    g_free(name);
}

static void breakpoint(struct window *w)
{
    struct page *page = source_page(w->source);
    debugger_toggle_breakpoint(w->debugger, page_path(page), page_cursor_line(page), false);
}

static void temporary(struct window *w)
{
    struct page *page = source_page(w->source);
    debugger_toggle_breakpoint(w->debugger, page_path(page), page_cursor_line(page), true);
}

static void enable(struct window *w)
{
    struct page *page = source_page(w->source);
    const struct breakpoint *b =
        breakpoints_at(w->debugger->breakpoints, page_path(page), page_cursor_line(page));
    if (b)
        debugger_enable_breakpoint(w->debugger, b->number, !b->enabled);
    else
        window_toast(w, "There is no breakpoint at this line");
}

static void watchpoint(struct window *w)
{
    char *of = expression(w), *quoted = of ? mi_quote(of) : NULL;
    char *command = of ? g_strdup_printf("-break-watch %s", quoted) : NULL;
    if (command)
        debugger_breakpoint_command(w->debugger, command);
    g_free(command);
    g_free(quoted);
    g_free(of);
}

static void open_recording(struct window *w)
{
    dialogs_open(w, true);
}

static void open_packed(struct window *w)
{
    dialogs_open(w, false);
}

static void open_remote(struct window *w)
{
    dialogs_open_remote(w);
}

static void open_source(struct window *w)
{
    dialogs_open_source(w);
}

static void close_recording(struct window *w)
{
    debugger_close(w->debugger);
}

static void close_tab(struct window *w)
{
    source_close(w->source);
}

static void find(struct window *w)
{
    source_find(w->source);
}

static void find_next(struct window *w)
{
    source_find_next(w->source, false);
}

static void find_back(struct window *w)
{
    source_find_next(w->source, true);
}

static void goto_line(struct window *w)
{
    dialogs_goto(w);
}

static void goto_position(struct window *w)
{
    dialogs_goto_position(w);
}

static void copy(struct window *w, const char *text, const char *said)
{
    gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(w->window)), text);
    window_toast(w, said);
}

static void copy_position(struct window *w)
{
    if (w->debugger->session.position)
        copy(w, w->debugger->session.position, "The position is on the clipboard");
}

static void copy_story(struct window *w)
{
    char *text = story_text(w);
    copy(w, text, "The story is on the clipboard");
    g_free(text);
}

static void bookmark(struct window *w)
{
    debugger_type(w->debugger, "pin checkpoint");
    window_toast(w, "This place is remembered with the recording");
    window_show_pane(w, "history");
}

static void zoom_in(struct window *w)
{
    source_zoom(w->source, 1);
}

static void zoom_out(struct window *w)
{
    source_zoom(w->source, -1);
}

static void zoom_reset(struct window *w)
{
    source_zoom(w->source, 0);
}

static void dark(struct window *w)
{
    AdwStyleManager *style = adw_style_manager_get_default();
    bool now = adw_style_manager_get_dark(style);
    (void)w;
    adw_style_manager_set_color_scheme(style, now ? ADW_COLOR_SCHEME_FORCE_LIGHT
                                                  : ADW_COLOR_SCHEME_FORCE_DARK);
}

static void keys(struct window *w)
{
    dialogs_keys(w);
}

static void about(struct window *w)
{
    dialogs_about(w);
}

/* ---- the table ---- */

#define MOVE(name, label, keys, icon, command)      {name, label, keys, icon, STOPPED, NULL, command},
#define ACTION(name, label, keys, icon, needs, run) {name, label, keys, icon, needs, run, NULL},
static const struct action actions[] = {
#include "gui/view/actions.def"
};
#undef MOVE
#undef ACTION

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return &actions[i];
    g_assert_not_reached();
}

static void on_action(GSimpleAction *simple, GVariant *parameter, void *arg)
{
    struct window *w = arg;
    const struct action *a = find_action(g_action_get_name(G_ACTION(simple)));
    (void)parameter;
    if (a->command)
        debugger_move(w->debugger, a->command);
    else
        a->run(w);
}

static bool is_there(struct window *w, enum needs needs)
{
    const struct session *s = &w->debugger->session;
    bool stopped = s->state == SESSION_STOPPED;
    switch (needs) {
    case NOTHING:
        return true;
    case OPEN:
        return s->recording.path != NULL;
    case STOPPED:
        return stopped || s->state == SESSION_RUNNING; /* a key held down: the queue keeps one */
    case SOURCE:
        return stopped && source_page(w->source);
    case SLICE:
        return stopped && w->debugger->slice;
    case LOST:
        return s->state == SESSION_LOST;
    }
    return false;
}

void actions_update(struct window *w)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        GAction *a = g_action_map_lookup_action(G_ACTION_MAP(w->window), actions[i].name);
        g_simple_action_set_enabled(G_SIMPLE_ACTION(a), is_there(w, actions[i].needs));
    }
}

static const char *key_of(char *const own[], const struct action *a)
{
    size_t length = strlen(a->name);
    for (; own && *own; own++)
        if (strncmp(*own, a->name, length) == 0 && (*own)[length] == '=')
            return *own + length + 1;
    return a->keys;
}

void actions_use_keys(struct window *w, const char *keys)
{
    GtkApplication *app = gtk_window_get_application(GTK_WINDOW(w->window));
    char **own = keys ? g_strsplit(keys, " ", -1) : NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        char *full = g_strdup_printf("win.%s", actions[i].name);
        const char *key = key_of(own, &actions[i]);
        const char *accels[] = {key, NULL};
        guint value;
        GdkModifierType modifiers;
        if (key && !gtk_accelerator_parse(key, &value, &modifiers)) {
            char *words = g_strdup_printf("%s is no key, such as F11 or <Ctrl>F11", key);
            window_toast(w, words);
            g_free(words);
            accels[0] = actions[i].keys;
        }
        gtk_application_set_accels_for_action(app, full, accels);
        g_free(full);
    }
    g_strfreev(own);
}

void actions_add(struct window *w)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
        GSimpleAction *a = g_simple_action_new(actions[i].name, NULL);
        g_signal_connect(a, "activate", G_CALLBACK(on_action), w);
        g_action_map_add_action(G_ACTION_MAP(w->window), G_ACTION(a));
        g_object_unref(a);
    }
}

/* ---- the toolbar ---- */

/* NULL: a gap. A name with a star has its label beside the icon. */
static const char *const tools[] = {"open",
                                    "program",
                                    "record",
                                    "find-bug",
                                    NULL,
                                    "restart",
                                    "back-continue",
                                    "back-finish",
                                    "back-next",
                                    "back-step",
                                    NULL,
                                    "step",
                                    "next",
                                    "finish",
                                    "continue",
                                    "failure",
                                    NULL,
                                    "back-to-cursor",
                                    "run-to-cursor",
                                    NULL,
                                    "breakpoint",
                                    NULL,
                                    "*why",
                                    "*slice",
                                    "slice-back",
                                    "slice-next",
                                    NULL,
                                    "visited-back",
                                    "visited-forward",
                                    "cancel"};

static char *tip(const struct action *a)
{
    guint key;
    GdkModifierType modifiers;
    if (!a->keys || !gtk_accelerator_parse(a->keys, &key, &modifiers))
        return g_strdup(a->label);
    char *name = gtk_accelerator_get_label(key, modifiers);
    char *text = g_strdup_printf("%s  (%s)", a->label, name);
    g_free(name);
    return text;
}

static GtkWidget *tool(const char *name)
{
    bool words = *name == '*';
    const struct action *a = find_action(name + words);
    GtkWidget *button = gtk_button_new();
    char *icon = g_strdup_printf("%s-symbolic", a->icon),
         *full = g_strdup_printf("win.%s", a->name), *text = tip(a);
    if (words) {
        GtkWidget *content = adw_button_content_new();
        adw_button_content_set_icon_name(ADW_BUTTON_CONTENT(content), icon);
        adw_button_content_set_label(ADW_BUTTON_CONTENT(content), a->label);
        gtk_button_set_child(GTK_BUTTON(button), content);
    } else {
        gtk_button_set_icon_name(GTK_BUTTON(button), icon);
    }
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_add_css_class(button, a->name);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), full);
    gtk_widget_set_focus_on_click(button, FALSE);
    gtk_widget_set_tooltip_text(button, text);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, a->label,
                                   -1);
    g_free(text);
    g_free(full);
    g_free(icon);
    return button;
}

GtkWidget *actions_toolbar(struct window *w)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    (void)w;
    gtk_widget_add_css_class(box, "tools");
    gtk_widget_set_hexpand(box, TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(tools); i++)
        gtk_box_append(GTK_BOX(box),
                       tools[i] ? tool(tools[i]) : gtk_separator_new(GTK_ORIENTATION_VERTICAL));
    return box;
}

/* ---- the menus ---- */

/* A title begins a menu, NULL is a line in it. */
static const char *const menus[] = {"=_File",
                                    "open",
                                    "open-packed",
                                    "open-remote",
                                    "program",
                                    "record",
                                    "find-bug",
                                    NULL,
                                    "open-source",
                                    "close-tab",
                                    NULL,
                                    "copy-position",
                                    "copy-story",
                                    NULL,
                                    "close",
                                    "=_View",
                                    "find",
                                    "find-next",
                                    "find-back",
                                    NULL,
                                    "goto",
                                    "goto-position",
                                    "disassembly",
                                    NULL,
                                    "visited-back",
                                    "visited-forward",
                                    "bookmark",
                                    NULL,
                                    "zoom-in",
                                    "zoom-out",
                                    "zoom-reset",
                                    "=_Execution",
                                    "continue",
                                    "step",
                                    "next",
                                    "finish",
                                    "run-to-cursor",
                                    "stepi",
                                    "nexti",
                                    NULL,
                                    "back-continue",
                                    "back-step",
                                    "back-next",
                                    "back-finish",
                                    "back-to-cursor",
                                    "back-stepi",
                                    "back-nexti",
                                    NULL,
                                    "restart",
                                    "failure",
                                    "begin",
                                    "end",
                                    NULL,
                                    "change",
                                    NULL,
                                    "cancel",
                                    "recover",
                                    "=_Breakpoint",
                                    "breakpoint",
                                    "temporary",
                                    "enable",
                                    NULL,
                                    "watchpoint",
                                    "=_Why",
                                    "why",
                                    "why-failure",
                                    NULL,
                                    "slice",
                                    "forward-slice",
                                    "slice-next",
                                    "slice-back",
                                    "dependences",
                                    "relog",
                                    "slice-drop",
                                    NULL,
                                    "last",
                                    "values",
                                    "executions",
                                    "calls",
                                    "watch",
                                    "=_Settings",
                                    "settings",
                                    "dark",
                                    "=_Help",
                                    "keys",
                                    "about"};

GMenuModel *actions_menu(struct window *w)
{
    GMenu *bar = g_menu_new(), *menu = NULL, *section = NULL;
    (void)w;
    for (size_t i = 0; i < G_N_ELEMENTS(menus); i++) {
        if (menus[i] && *menus[i] == '=') {
            menu = g_menu_new();
            g_menu_append_submenu(bar, menus[i] + 1, G_MENU_MODEL(menu));
            g_object_unref(menu);
        }
        if (!menus[i] || *menus[i] == '=') {
            section = g_menu_new();
            g_menu_append_section(menu, NULL, G_MENU_MODEL(section));
            g_object_unref(section);
            continue;
        }
        char *full = g_strdup_printf("win.%s", menus[i]);
        g_menu_append(section, find_action(menus[i])->label, full);
        g_free(full);
    }
    return G_MENU_MODEL(bar);
}

/* ---- for the page of keys ---- */

void actions_each(void (*fn)(void *arg, const char *name, const char *label, const char *keys),
                  void *arg)
{
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
        if (actions[i].keys)
            fn(arg, actions[i].name, actions[i].label, actions[i].keys);
}
