/* source.c - the source window: a tab for each file. SPDX-License-Identifier: MIT */
#include "gui/view/source.h"

#include <string.h>

#include "gui/model/text.h"
#include "gui/view/disassembly.h"
#include "gui/view/watchdog.h"

enum { FONT = 11, FONT_LEAST = 6, FONT_MOST = 40 };

struct source {
    struct window *window;
    GtkWidget *widget, *notebook, *search_bar, *search, *missing, *missing_text, *missing_button,
        *stack;
    struct disassembly *code; /* where there is no source */
    GtkSourceSearchSettings *search_settings;
    GtkSourceSearchContext *context; /* of the page in front */
    GtkCssProvider *font;
    bool first;   /* nothing was shown yet */
    bool later;   /* the file that was asked for comes from another host */
    char *wanted; /* it, and the line to show; NULL: it is the frame's */
    unsigned wanted_line;
    int size;
    char *family; /* quoted; NULL: the desktop's */
};

/* ---- pages ---- */

static struct page *page_at(struct source *s, int i)
{
    GtkWidget *widget = gtk_notebook_get_nth_page(GTK_NOTEBOOK(s->notebook), i);
    return widget ? g_object_get_data(G_OBJECT(widget), "page") : NULL;
}

struct page *source_page(struct source *s)
{
    if (strcmp(gtk_stack_get_visible_child_name(GTK_STACK(s->stack)), "pages") != 0)
        return NULL;
    return page_at(s, gtk_notebook_get_current_page(GTK_NOTEBOOK(s->notebook)));
}

static int find_page(struct source *s, const char *path)
{
    for (int i = 0; i < gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)); i++)
        if (strcmp(page_path(page_at(s, i)), path) == 0)
            return i;
    return -1;
}

static void show_nothing(struct source *s);

static void remove_page(struct source *s, int at)
{
    if (gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)) == 1)
        show_nothing(s);
    gtk_notebook_remove_page(GTK_NOTEBOOK(s->notebook), at);
}

static void on_close(GtkButton *button, GtkWidget *page)
{
    struct source *s = g_object_get_data(G_OBJECT(button), "source");
    remove_page(s, gtk_notebook_page_num(GTK_NOTEBOOK(s->notebook), page));
}

static GtkWidget *tab_label(struct source *s, const char *path, GtkWidget *page)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    char *name = text_line(text_base(path)), *full = text_line(path),
         *words = g_strdup_printf("Close %s", name);
    GtkWidget *label = window_label(name);
    gtk_widget_set_tooltip_text(label, full);
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_add_css_class(close, "tab-close");
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
    g_object_set_data(G_OBJECT(close), "source", s);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), page);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), close);
    g_free(words);
    g_free(full);
    g_free(name);
    return box;
}

/* -1: there is no such file, or it comes later. */
static int open_page(struct source *s, const char *path)
{
    int at = find_page(s, path);
    char *read = at < 0 ? debugger_source(s->window->debugger, path, &s->later) : NULL;
    if (at >= 0 || !read)
        return at;
    char *text = text_lines(read);
    g_free(read);
    struct page *page = page_new(s->window, path, text);
    GtkWidget *label = tab_label(s, path, page_widget(page));
    char *name = text_line(text_base(path));
    at = gtk_notebook_append_page(GTK_NOTEBOOK(s->notebook), page_widget(page), label);
    window_name_tab(label, name);
    g_free(name);
    gtk_notebook_set_tab_reorderable(GTK_NOTEBOOK(s->notebook), page_widget(page), TRUE);
    g_free(text);
    return at;
}

bool source_show(struct source *s, const char *path, unsigned line)
{
    int at = path ? open_page(s, path) : -1;
    if (at < 0 && path && s->later) {
        g_free(s->wanted);
        s->wanted = g_strdup(path);
        s->wanted_line = line;
    }
    if (at < 0)
        return false;
    gtk_stack_set_visible_child_name(GTK_STACK(s->stack), "pages");
    gtk_notebook_set_current_page(GTK_NOTEBOOK(s->notebook), at);
    if (line)
        page_show_line(page_at(s, at), line);
    if (!gtk_window_get_focus(GTK_WINDOW(s->window->window)) || s->first) {
        s->first =
            false; /* keys are for the source at first; later the focus stays where it was put */
        gtk_widget_grab_focus(GTK_WIDGET(page_view(page_at(s, at))));
    }
    return true;
}

void source_close(struct source *s)
{
    int at = gtk_notebook_get_current_page(GTK_NOTEBOOK(s->notebook));
    if (at >= 0)
        remove_page(s, at);
}

/* ---- where the program is ---- */

/* A stranger's recording does not say which files of this machine are opened: the user does. */
static bool may_read(struct source *s, const char *path)
{
    return s->window->debugger->session.recording.own || (path && find_page(s, path) >= 0);
}

/* Said in the place, with what would help. */
static char *missing_words(const struct session_frame *f, bool own, const char *host)
{
    if (f->file && own && host)
        return g_strdup_printf("%s is not on %s. This code was compiled from it: put it where "
                               "it was.",
                               f->file, host);
    if (f->file && !own)
        return g_strdup_printf("This recording is a stranger's, so %s is not opened unasked.",
                               f->file);
    if (f->file)
        return g_strdup_printf(
            "%s is not here. This code was compiled from it: put it where it was, "
            "or name its place in Settings. Frames with source can be chosen in "
            "the stack.",
            f->file);
    return g_strdup_printf(
        "There is no debug information for %s%s%s. Compile with -g, or install the debug symbols "
        "of the library. Frames with source can be chosen in the stack.",
        f->function ? f->function : "this code", f->module ? " of " : "",
        f->module ? text_base(f->module) : "");
}

static void show_missing(struct source *s)
{
    const struct session *session = &s->window->debugger->session;
    char *text = missing_words(&session->frame, session->recording.own,
                               debugger_host(s->window->debugger)),
         *safe = text_lines(text);
    gtk_label_set_text(GTK_LABEL(s->missing_text), safe);
    gtk_button_set_label(GTK_BUTTON(s->missing_button),
                         debugger_host(s->window->debugger)
                             ? "Open That Host's File of That Name"
                             : "Open This Machine's File of That Name");
    gtk_widget_set_visible(s->missing_button, session->frame.fullname && !session->recording.own);
    gtk_stack_set_visible_child_name(GTK_STACK(s->stack), "missing");
    gtk_widget_set_visible(disassembly_widget(s->code), TRUE);
    disassembly_refresh(s->code);
    g_free(safe);
    g_free(text);
}

static void show_frame(struct source *s)
{
    const struct session *session = &s->window->debugger->session;
    const struct session_frame *f = &session->frame;
    s->later = false;
    bool shown = f->line && may_read(s, f->fullname) && source_show(s, f->fullname, f->line);
    if (!shown && s->later)
        return; /* it takes a moment: what is shown stays */
    for (int i = 0; i < gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)); i++) {
        struct page *page = page_at(s, i);
        bool here = shown && strcmp(page_path(page), f->fullname) == 0;
        page_set_current(page, here ? f->line : 0, f->level == 0);
    }
    if (!shown)
        show_missing(s);
}

static void refresh_pages(struct source *s)
{
    for (int i = 0; i < gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)); i++)
        page_refresh(page_at(s, i));
}

static void count_lines(struct source *s)
{
    for (int i = 0; i < gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)); i++)
        page_traced(page_at(s, i));
}

/* Before there is no tab any more: a notebook without tabs is not shown. */
static void show_nothing(struct source *s)
{
    gtk_label_set_text(GTK_LABEL(s->missing_text), "");
    gtk_widget_set_visible(s->missing_button, FALSE);
    gtk_widget_set_visible(disassembly_widget(s->code), FALSE);
    gtk_stack_set_visible_child_name(GTK_STACK(s->stack), "missing");
}

static void close_all(struct source *s)
{
    show_nothing(s);
    while (gtk_notebook_get_n_pages(GTK_NOTEBOOK(s->notebook)))
        gtk_notebook_remove_page(GTK_NOTEBOOK(s->notebook), 0);
}

/* A file of another host is there, or is not. */
static void show_wanted(struct source *s)
{
    const char *fullname = s->window->debugger->session.frame.fullname;
    char *path = g_steal_pointer(&s->wanted);
    bool shown = path && source_show(s, path, s->wanted_line);
    if (g_strcmp0(path, fullname) == 0)
        show_frame(s);
    else if (path && !shown && !s->later)
        window_toast(s->window, "This file cannot be shown");
    g_free(path);
}

void source_changed(struct source *s, enum debugger_change change)
{
    if (change == CHANGE_STOP || change == CHANGE_FRAME) {
        show_frame(s);
        if (source_page(s))
            watchdog_note("place");
    } else if (change == CHANGE_SOURCE)
        show_wanted(s);
    else if (change == CHANGE_BREAKPOINTS || change == CHANGE_SLICE)
        refresh_pages(s);
    else if (change == CHANGE_TRACE)
        count_lines(s);
    else if (change == CHANGE_RECORDING)
        close_all(s);
}

/* ---- find ---- */

static void on_page(GtkNotebook *notebook, GtkWidget *widget, unsigned number, struct source *s)
{
    struct page *page = g_object_get_data(G_OBJECT(widget), "page");
    (void)notebook;
    (void)number;
    g_clear_object(&s->context);
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(page_view(page)));
    s->context = gtk_source_search_context_new(GTK_SOURCE_BUFFER(buffer), s->search_settings);
    gtk_source_search_context_set_highlight(
        s->context, gtk_search_bar_get_search_mode(GTK_SEARCH_BAR(s->search_bar)));
}

void source_find_next(struct source *s, bool back)
{
    struct page *page = source_page(s);
    GtkTextIter from, to, start, end;
    gboolean wrapped, found;
    if (!page || !s->context)
        return;
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(page_view(page)));
    gtk_text_buffer_get_selection_bounds(buffer, &from, &to);
    found = back ? gtk_source_search_context_backward(s->context, &from, &start, &end, &wrapped)
                 : gtk_source_search_context_forward(s->context, &to, &start, &end, &wrapped);
    if (!found)
        return;
    gtk_text_buffer_select_range(buffer, &start, &end);
    gtk_text_view_scroll_to_iter(GTK_TEXT_VIEW(page_view(page)), &start, 0.2, FALSE, 0, 0);
}

static void on_search(GtkSearchEntry *entry, struct source *s)
{
    gtk_source_search_settings_set_search_text(s->search_settings,
                                               gtk_editable_get_text(GTK_EDITABLE(entry)));
    source_find_next(s, false);
}

static void on_search_next(GtkSearchEntry *entry, struct source *s)
{
    (void)entry;
    source_find_next(s, false);
}

static void on_search_mode(GtkSearchBar *bar, GParamSpec *spec, struct source *s)
{
    (void)spec;
    if (s->context)
        gtk_source_search_context_set_highlight(s->context, gtk_search_bar_get_search_mode(bar));
}

void source_find(struct source *s)
{
    gtk_search_bar_set_search_mode(GTK_SEARCH_BAR(s->search_bar), TRUE);
    gtk_widget_grab_focus(s->search);
}

static GtkWidget *make_search(struct source *s)
{
    s->search_bar = gtk_search_bar_new();
    s->search = gtk_search_entry_new();
    gtk_widget_set_hexpand(s->search, TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Find in this file", -1);
    gtk_search_bar_set_child(GTK_SEARCH_BAR(s->search_bar), s->search);
    gtk_search_bar_connect_entry(GTK_SEARCH_BAR(s->search_bar), GTK_EDITABLE(s->search));
    gtk_search_bar_set_show_close_button(GTK_SEARCH_BAR(s->search_bar), TRUE);
    g_signal_connect(s->search, "search-changed", G_CALLBACK(on_search), s);
    g_signal_connect(s->search, "activate", G_CALLBACK(on_search_next), s);
    g_signal_connect(s->search_bar, "notify::search-mode-enabled", G_CALLBACK(on_search_mode), s);
    return s->search_bar;
}

/* ---- looks ---- */

static void set_font(struct source *s, int size)
{
    s->size = CLAMP(size, FONT_LEAST, FONT_MOST);
    char *css = g_strdup_printf(
        ".source, .code { font-family: %s%smonospace; } .source { font-size: %dpt; }",
        s->family ? s->family : "", s->family ? ", " : "", s->size);
    gtk_css_provider_load_from_data(s->font, css, -1);
    g_free(css);
}

void source_use_font(struct source *s, const char *family)
{
    char *safe = g_strdup(family ? family : "");
    g_strcanon(safe, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS " -",
               ' '); /* it goes into a style sheet */
    g_free(s->family);
    s->family = *safe ? g_strdup_printf("\"%s\"", safe) : NULL;
    g_free(safe);
    set_font(s, s->size);
}

void source_zoom(struct source *s, int by)
{
    set_font(s, by ? s->size + by : FONT);
    settings_set_number(s->window->settings, "source", "font", s->size);
}

static void on_missing(GtkButton *button, struct source *s)
{
    const struct session_frame *f = &s->window->debugger->session.frame;
    (void)button;
    if (source_show(s, f->fullname, f->line))
        show_frame(s);
    else if (!s->later)
        window_toast(s->window, "There is no such file");
}

static GtkWidget *make_missing(struct source *s)
{
    s->missing = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    s->missing_text = window_label("");
    gtk_label_set_wrap(GTK_LABEL(s->missing_text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(s->missing_text), 0.5f);
    gtk_label_set_justify(GTK_LABEL(s->missing_text), GTK_JUSTIFY_CENTER);
    gtk_widget_add_css_class(s->missing_text, "dim-label");
    gtk_widget_add_css_class(s->missing_text, "nothing");
    s->missing_button = gtk_button_new_with_label("");
    gtk_widget_set_halign(s->missing_button, GTK_ALIGN_CENTER);
    g_signal_connect(s->missing_button, "clicked", G_CALLBACK(on_missing), s);
    gtk_box_append(GTK_BOX(s->missing), s->missing_text);
    gtk_box_append(GTK_BOX(s->missing), s->missing_button);
    s->code = disassembly_new(s->window, "Disassembly without source");
    gtk_widget_set_vexpand(disassembly_widget(s->code), TRUE);
    gtk_box_append(GTK_BOX(s->missing), disassembly_widget(s->code));
    return s->missing;
}

static void on_destroy(void *arg)
{
    struct source *s = arg;
    g_clear_object(&s->context);
    g_object_unref(s->search_settings);
    g_object_unref(s->font);
    g_free(s->family);
    g_free(s->wanted);
    g_free(s);
}

struct source *source_new(struct window *w)
{
    struct source *s = g_new0(struct source, 1);
    s->window = w;
    s->first = true;
    s->search_settings = gtk_source_search_settings_new();
    gtk_source_search_settings_set_wrap_around(s->search_settings, TRUE);
    s->font = gtk_css_provider_new();
    gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                               GTK_STYLE_PROVIDER(s->font),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    s->notebook = gtk_notebook_new();
    gtk_notebook_set_scrollable(GTK_NOTEBOOK(s->notebook), TRUE);
    gtk_notebook_popup_enable(GTK_NOTEBOOK(s->notebook));
    gtk_widget_set_vexpand(s->notebook, TRUE);
    gtk_widget_add_css_class(s->notebook, "files");
    g_signal_connect(s->notebook, "switch-page", G_CALLBACK(on_page), s);
    s->stack = gtk_stack_new();
    gtk_stack_set_vhomogeneous(GTK_STACK(s->stack), FALSE); /* what is hidden needs no room */
    gtk_stack_add_named(GTK_STACK(s->stack), s->notebook, "pages");
    gtk_stack_add_named(GTK_STACK(s->stack), make_missing(s), "missing");
    gtk_stack_set_hhomogeneous(GTK_STACK(s->stack), FALSE);
    gtk_stack_set_vhomogeneous(GTK_STACK(s->stack), FALSE);
    show_nothing(s);
    s->widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(s->widget), make_search(s));
    gtk_box_append(GTK_BOX(s->widget), s->stack);
    g_object_set_data_full(G_OBJECT(s->widget), "source", s, on_destroy);
    set_font(s, settings_number(w->settings, "source", "font", FONT));
    return s;
}

GtkWidget *source_widget(struct source *s)
{
    return s->widget;
}
