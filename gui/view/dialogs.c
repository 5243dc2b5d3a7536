/* dialogs.c - the window's questions. SPDX-License-Identifier: MIT */
#include "gui/view/dialogs.h"

#include <string.h>

#include "gui/link/remote.h"
#include "gui/model/text.h"
#include "gui/view/form.h"
#include "gui/view/panes.h"
#include "gui/view/source.h"

void actions_each(void (*fn)(void *arg, const char *name, const char *label, const char *keys),
                  void *arg);

/* ---- files ---- */

static char *chosen(GtkNativeDialog *dialog, int response)
{
    GFile *file = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                      : NULL;
    char *path = file ? g_file_get_path(file) : NULL;
    g_clear_object(&file);
    g_object_unref(dialog);
    return path;
}

static void on_recording(GtkNativeDialog *dialog, int response, struct window *w)
{
    char *path = chosen(dialog, response);
    if (path)
        window_open(w, path);
    g_free(path);
}

void dialogs_open(struct window *w, bool folder)
{
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "Open a Recording", GTK_WINDOW(w->window),
        folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN, "Open",
        "Cancel");
    g_signal_connect(dialog, "response", G_CALLBACK(on_recording), w);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void on_source(GtkNativeDialog *dialog, int response, struct window *w)
{
    char *path = chosen(dialog, response);
    if (path && !source_show(w->source, path, 1))
        window_toast(w, "This file cannot be shown");
    g_free(path);
}

void dialogs_open_source(struct window *w)
{
    if (debugger_host(w->debugger)) {
        window_toast(w, "The sources are on the recording's host: Go to Function opens them");
        return;
    }
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new("Open a Source File", GTK_WINDOW(w->window),
                                    GTK_FILE_CHOOSER_ACTION_OPEN, "Open", "Cancel");
    g_signal_connect(dialog, "response", G_CALLBACK(on_source), w);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

/* ---- a question with one entry ---- */

struct question {
    struct window *window;
    GtkWidget *dialog, *entry, *list;
    char *about; /* an expression, or NULL */
    void (*answer)(struct question *q, const char *text);
};

static void on_question_entry(GtkEntry *entry, struct question *q)
{
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    if (*text)
        q->answer(q, text);
    g_free(text);
}

static gboolean on_question_key(GtkEventControllerKey *keys, guint key, guint code,
                                GdkModifierType state, struct question *q)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(GTK_WINDOW(q->dialog));
    return TRUE;
}

static void question_free(void *arg)
{
    struct question *q = arg;
    g_free(q->about);
    g_free(q);
}

static struct question *ask(struct window *w, const char *title, const char *hint,
                            void (*answer)(struct question *q, const char *text))
{
    struct question *q = g_new0(struct question, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkEventController *keys = gtk_event_controller_key_new();
    q->window = w;
    q->answer = answer;
    q->dialog = gtk_window_new();
    q->entry = gtk_entry_new();
    gtk_window_set_title(GTK_WINDOW(q->dialog), title);
    gtk_window_set_transient_for(GTK_WINDOW(q->dialog), GTK_WINDOW(w->window));
    gtk_window_set_modal(GTK_WINDOW(q->dialog), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(q->dialog), 420, -1);
    gtk_entry_set_placeholder_text(GTK_ENTRY(q->entry), hint);
    gtk_accessible_update_property(GTK_ACCESSIBLE(q->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   -1);
    gtk_widget_add_css_class(box, "question");
    gtk_box_append(GTK_BOX(box), q->entry);
    q->list = gtk_list_box_new();
    gtk_box_append(GTK_BOX(box), q->list);
    gtk_window_set_child(GTK_WINDOW(q->dialog), box);
    g_signal_connect(q->entry, "activate", G_CALLBACK(on_question_entry), q);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_question_key), q);
    gtk_widget_add_controller(q->dialog, keys);
    g_object_set_data_full(G_OBJECT(q->dialog), "question", q, question_free);
    gtk_window_present(GTK_WINDOW(q->dialog));
    return q;
}

static void remote_answer(struct question *q, const char *text)
{
    struct window *w = q->window;
    if (!remote_is(text, NULL, NULL)) {
        window_toast(w, "HOST:DIR, as ssh and scp name them");
        return;
    }
    gtk_window_destroy(GTK_WINDOW(q->dialog));
    window_open(w, text);
}

void dialogs_open_remote(struct window *w)
{
    ask(w, "Open a Recording on Another Host", "HOST:DIR, such as build7:race.pinball",
        remote_answer);
}

static void position_answer(struct question *q, const char *text)
{
    debugger_goto(q->window->debugger, text);
    gtk_window_destroy(GTK_WINDOW(q->dialog));
}

void dialogs_goto_position(struct window *w)
{
    ask(w, "Go to Position", "T2:48213:401136, begin, end, +100, -100", position_answer);
}

/* ---- another value ---- */

static void change_answer(struct question *q, const char *text)
{
    debugger_change_value(q->window->debugger, q->about, text);
    gtk_window_destroy(GTK_WINDOW(q->dialog));
}

/* The value that it has is offered. */
static void on_old_value(void *arg, const struct mi_record *result)
{
    GtkWidget *dialog = arg;
    struct question *q = g_object_get_data(G_OBJECT(dialog), "question");
    const char *value = result ? value_text(result->results, "value") : NULL;
    if (q && value && !*gtk_editable_get_text(GTK_EDITABLE(q->entry))) {
        char *safe = text_line(value);
        gtk_editable_set_text(GTK_EDITABLE(q->entry), safe);
        gtk_editable_select_region(GTK_EDITABLE(q->entry), 0, -1);
        g_free(safe);
    }
    g_object_unref(dialog);
}

void dialogs_change(struct window *w)
{
    struct page *page = source_page(w->source);
    char *of = g_steal_pointer(&w->expression);
    if (!of)
        of = watches_selected(w);
    if (!of && page)
        of = page_cursor_expression(page);
    if (!debugger_program(w->debugger) || !w->debugger->session.now) {
        window_toast(w, "What was recorded cannot be changed; a live program can, where it is");
    } else if (!of) {
        window_toast(w, "Select a variable first");
    } else {
        char *title = g_strdup_printf("New Value of %s", of), *safe = text_line(title);
        char *quoted = mi_quote(of),
             *command = g_strdup_printf("-data-evaluate-expression %s", quoted);
        struct question *q = ask(w, safe, "An expression", change_answer);
        q->about = g_steal_pointer(&of);
        debugger_query(w->debugger, command, on_old_value, g_object_ref(q->dialog));
        g_free(command);
        g_free(quoted);
        g_free(safe);
        g_free(title);
    }
    g_free(of);
}

/* ---- a line or a function ---- */

enum { OFFERED_MOST = 8 };

static void each_function(const struct value *answer,
                          void (*fn)(void *arg, const char *file, const struct value *one),
                          void *arg)
{
    const struct value *files = value_get(value_get(answer, "symbols"), "debug");
    for (unsigned i = 0; i < value_count(files); i++) {
        const struct value *file = value_at(files, i), *symbols = value_get(file, "symbols");
        for (unsigned k = 0; k < value_count(symbols); k++)
            fn(arg, value_say(file, "fullname"), value_at(symbols, k));
    }
}

static void on_function_row(GtkListBox *list, GtkListBoxRow *row, struct question *q)
{
    (void)list;
    source_show(q->window->source, g_object_get_data(G_OBJECT(row), "file"),
                GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "line")));
    gtk_window_destroy(GTK_WINDOW(q->dialog));
}

static void add_function(void *arg, const char *file, const struct value *one)
{
    struct question *q = arg;
    unsigned rows = 0;
    for (GtkWidget *row = gtk_widget_get_first_child(q->list); row;
         row = gtk_widget_get_next_sibling(row))
        rows++;
    if (rows >= OFFERED_MOST)
        return;
    char *words = g_strdup_printf("%s   %s:%s", value_say(one, "name"), text_base(file),
                                  value_say(one, "line"));
    char *safe = text_line(words);
    GtkWidget *row = gtk_list_box_row_new(), *label = window_label(safe);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, safe, -1);
    g_object_set_data_full(G_OBJECT(row), "file", g_strdup(file), g_free);
    g_object_set_data(G_OBJECT(row), "line",
                      GUINT_TO_POINTER((unsigned)value_number(one, "line", 1)));
    gtk_list_box_append(GTK_LIST_BOX(q->list), row);
    g_free(safe);
    g_free(words);
}

static void on_functions(void *arg, const struct mi_record *result)
{
    GtkWidget *dialog = arg;
    struct question *q = g_object_get_data(G_OBJECT(dialog), "question");
    GtkWidget *row;
    if (result && q && gtk_widget_get_parent(q->entry)) {
        while ((row = gtk_widget_get_first_child(q->list)))
            gtk_list_box_remove(GTK_LIST_BOX(q->list), row);
        each_function(result->results, add_function, q);
    }
    g_object_unref(dialog);
}

static void on_goto_changed(GtkEditable *entry, struct question *q)
{
    const char *text = gtk_editable_get_text(entry);
    if (strlen(text) < 2 || strspn(text, "0123456789") == strlen(text))
        return;
    char *pattern = g_regex_escape_string(text, -1);
    char *quoted = mi_quote(pattern),
         *command = g_strdup_printf("-symbol-info-functions --name %s --max-results 50", quoted);
    debugger_query(q->window->debugger, command, on_functions, g_object_ref(q->dialog));
    g_free(command);
    g_free(quoted);
    g_free(pattern);
}

static void goto_answer(struct question *q, const char *text)
{
    struct page *page = source_page(q->window->source);
    GtkWidget *first = gtk_widget_get_first_child(q->list);
    if (strspn(text, "0123456789") == strlen(text)) {
        if (page)
            page_show_line(page, (unsigned)g_ascii_strtoull(text, NULL, 10));
        gtk_window_destroy(GTK_WINDOW(q->dialog));
    } else if (first) {
        on_function_row(NULL, GTK_LIST_BOX_ROW(first), q);
    }
}

void dialogs_goto(struct window *w)
{
    struct question *q = ask(w, "Go to Line or Function",
                             "A line's number, or the begin of a function's name", goto_answer);
    g_signal_connect(q->entry, "changed", G_CALLBACK(on_goto_changed), q);
    g_signal_connect(q->list, "row-activated", G_CALLBACK(on_function_row), q);
}

/* ---- help ---- */

struct key_list {
    GtkWidget *grid;
    int rows;
};

static void add_key(void *arg, const char *name, const char *label, const char *keys)
{
    struct key_list *list = arg;
    GtkWidget *words = window_label(label), *own = window_label(name);
    gtk_widget_set_hexpand(words, TRUE);
    gtk_widget_add_css_class(own, "dim-label");
    gtk_grid_attach(GTK_GRID(list->grid), words, 0, list->rows, 1, 1);
    gtk_grid_attach(GTK_GRID(list->grid), own, 1, list->rows, 1, 1);
    gtk_grid_attach(GTK_GRID(list->grid), gtk_shortcut_label_new(keys), 2, list->rows++, 1, 1);
}

/* With the names that the settings have for them. */
void dialogs_keys(struct window *w)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    struct form form;
    struct key_list list = {.grid = gtk_grid_new()};
    form_init(&form, w, "Keys", 560);
    gtk_grid_set_row_spacing(GTK_GRID(list.grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(list.grid), 18);
    actions_each(add_key, &list);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list.grid);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_min_content_height(GTK_SCROLLED_WINDOW(scrolled), 520);
    gtk_grid_attach(GTK_GRID(form.grid), scrolled, 0, form.rows++, 2, 1);
    form_show(&form, NULL, NULL);
}

void dialogs_about(struct window *w)
{
    adw_show_about_window(
        GTK_WINDOW(w->window), "application-name", "drdebug", "application-icon", "org.drdebug.gui",
        "version", DRDEBUG_VERSION, "license-type", GTK_LICENSE_MIT_X11, "comments",
        "Replays a recorded failure, forwards and backwards, and says why.", NULL);
}
