/* slice_bar.c - the slices of the session, and what can be made of them. SPDX-License-Identifier:
 * MIT
 *
 * The slices are GDB's (`pin list`): by number, or by the name under which the recording keeps
 * them.
 */
#include "gui/view/slice_bar.h"

#include <string.h>

#include "gui/model/text.h"
#include "gui/view/form.h"
#include "gui/view/panes.h"

enum { TITLE_MOST = 36 };

struct slice_bar {
    struct window *window;
    GtkWidget *box, *choice;
    GPtrArray *names; /* of the slices in the list */
    bool telling;     /* the list is being set: it is not the user */
};

/* ---- which one ---- */

static void on_choice(GtkDropDown *choice, GParamSpec *spec, struct slice_bar *b)
{
    unsigned at = gtk_drop_down_get_selected(choice);
    (void)spec;
    if (b->telling || at >= b->names->len)
        return;
    char *command = g_strdup_printf("-pin-list %s", (char *)g_ptr_array_index(b->names, at));
    debugger_slice(b->window->debugger, command, NULL, NULL);
    g_free(command);
}

/* Without a moment in numbers, which says nothing here. To be freed. */
static char *without_moment(const char *title)
{
    GRegex *moment = g_regex_new(" at (P\\d+\\.)?T\\d+:\\d+:[0-9a-f]+", 0, 0, NULL);
    char *text = g_regex_replace_literal(moment, title, -1, 0, "", 0, NULL);
    g_regex_unref(moment);
    return text;
}

/* To be freed. The pane has all of it below. */
static char *shortened(const char *title)
{
    if (g_utf8_strlen(title, -1) <= TITLE_MOST)
        return g_strdup(title);
    char *cut = g_utf8_substring(title, 0, TITLE_MOST), *last = strrchr(cut, ' ');
    if (last)
        *last = '\0';
    cut[strlen(cut) - (g_str_has_suffix(cut, ",") ? 1 : 0)] = '\0';
    char *text = g_strdup_printf("%s …", cut);
    g_free(cut);
    return text;
}

static void on_list(void *arg, const struct mi_record *result)
{
    struct slice_bar *b = arg;
    const struct value *list = result ? value_get(result->results, "slices") : NULL;
    unsigned current = GTK_INVALID_LIST_POSITION;
    if (!result || b->window->closing)
        return;
    GtkStringList *titles = gtk_string_list_new(NULL);
    g_ptr_array_set_size(b->names, 0);
    for (unsigned i = 0; i < value_count(list); i++) {
        const struct value *one = value_at(list, i);
        char *title = without_moment(value_say(one, "title"));
        char *words = g_strdup_printf("%s  %s", value_say(one, "name"), title);
        g_free(title);
        char *safe = text_line(words), *cut = shortened(safe);
        gtk_string_list_append(titles, cut);
        g_free(cut);
        g_ptr_array_add(b->names, g_strdup(value_say(one, "name")));
        if (value_is_true(one, "current"))
            current = i;
        g_free(safe);
        g_free(words);
    }
    b->telling = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(b->choice), G_LIST_MODEL(titles));
    gtk_drop_down_set_selected(GTK_DROP_DOWN(b->choice), current);
    b->telling = false;
    gtk_widget_set_visible(b->box, b->names->len > 0);
    g_object_unref(titles);
}

void slice_bar_changed(struct slice_bar *b)
{
    if (b->window->debugger->session.state == SESSION_STOPPED)
        debugger_command(b->window->debugger, "-pin-list", on_list, b);
    else
        gtk_widget_set_visible(b->box, FALSE);
}

static struct slice_bar *bar_of(struct window *w)
{
    return slices_bar(w);
}

/* ---- what is made of it ---- */

static void run(struct window *w, const char *format, const char *text)
{
    char *command = g_strdup_printf("%s %s", format, text);
    debugger_slice(w->debugger, command, NULL, NULL);
    g_free(command);
}

struct asking {
    struct form form;
    GtkWidget *entry;
    const char *how; /* minus, common, plus; NULL: what is to be left out is asked */
};

static void on_prune(GtkButton *button, struct asking *a)
{
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(a->entry))));
    struct window *w = a->form.window;
    (void)button;
    gtk_window_destroy(GTK_WINDOW(a->form.dialog));
    if (*text)
        run(w, "-pin-prune", text);
    g_free(text);
}

void slice_prune(struct window *w)
{
    struct asking *a = g_new0(struct asking, 1);
    form_init(&a->form, w, "Leave Out of the Slice", 460);
    form_say(
        &a->form,
        "All that only this brought in goes: a variable, FUNCTION::VARIABLE, or an expression in "
        "memory that does not matter here.");
    a->entry = form_entry(&a->form, "What", "", "threads");
    form_button(&a->form, "Leave Out", G_CALLBACK(on_prune), a);
    form_show(&a->form, a, g_free);
}

void slice_unprune(struct window *w)
{
    run(w, "-pin-prune", "--clear");
}

static void on_combine(GtkButton *button, struct asking *a)
{
    struct window *w = a->form.window;
    struct slice_bar *b = bar_of(w);
    unsigned at = gtk_drop_down_get_selected(GTK_DROP_DOWN(a->entry)),
             current = gtk_drop_down_get_selected(GTK_DROP_DOWN(b->choice));
    const char *how = a->how;
    (void)button;
    gtk_window_destroy(GTK_WINDOW(a->form.dialog));
    if (at >= b->names->len || current >= b->names->len)
        return;
    char *words = g_strdup_printf("%s %s %s", (char *)g_ptr_array_index(b->names, current), how,
                                  (char *)g_ptr_array_index(b->names, at));
    run(w, "-pin-combine", words);
    g_free(words);
}

static void combine(struct window *w, const char *title, const char *how)
{
    struct slice_bar *b = bar_of(w);
    GListModel *model = gtk_drop_down_get_model(GTK_DROP_DOWN(b->choice));
    if (b->names->len < 2) {
        window_toast(w, "There is no other slice: Why? and Slice make one");
        return;
    }
    struct asking *a = g_new0(struct asking, 1);
    static const char *const none[] = {NULL};
    a->how = how;
    form_init(&a->form, w, title, 460);
    a->entry = form_choice(&a->form, "The other slice", none);
    gtk_drop_down_set_model(GTK_DROP_DOWN(a->entry), model);
    form_button(&a->form, title, G_CALLBACK(on_combine), a);
    form_show(&a->form, a, g_free);
}

void slice_unite(struct window *w)
{
    combine(w, "Unite with a Slice", "plus");
}

void slice_common(struct window *w)
{
    combine(w, "What Both Slices Have", "common");
}

void slice_subtract(struct window *w)
{
    combine(w, "Subtract a Slice", "minus");
}

static void on_deleted(void *arg, const struct mi_record *result)
{
    struct window *w = arg;
    if (result && strcmp(result->name, "done") != 0)
        window_toast(w, value_say(result->results, "msg"));
    else if (result)
        debugger_drop_slice(w->debugger);
}

void slice_delete(struct window *w)
{
    struct slice_bar *b = bar_of(w);
    unsigned current = gtk_drop_down_get_selected(GTK_DROP_DOWN(b->choice));
    if (current >= b->names->len)
        return;
    char *command = g_strdup_printf("-pin-delete %s", (char *)g_ptr_array_index(b->names, current));
    debugger_command(w->debugger, command, on_deleted, w);
    g_free(command);
}

/* ---- into a file ---- */

static void on_file(GtkNativeDialog *dialog, int response, struct window *w)
{
    GFile *file = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                      : NULL;
    char *path = file ? g_file_get_path(file) : NULL, *text = slice_text(w);
    GError *error = NULL;
    if (path && !g_file_set_contents(path, text, -1, &error)) {
        window_toast(w, error->message);
        g_error_free(error);
    }
    g_free(text);
    g_free(path);
    g_clear_object(&file);
    g_object_unref(dialog);
}

void slice_export(struct window *w)
{
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new("Save the Slice as Text", GTK_WINDOW(w->window),
                                    GTK_FILE_CHOOSER_ACTION_SAVE, "Save", "Cancel");
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), "slice.txt");
    g_signal_connect(dialog, "response", G_CALLBACK(on_file), w);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

/* ---- begin ---- */

static GtkWidget *make_menu(void)
{
    static const struct {
        const char *label, *action;
    } rows[] = {{"Leave Out a Variable …", "win.slice-prune"},
                {"Take Back What Was Left Out", "win.slice-unprune"},
                {"Unite with a Slice …", "win.slice-unite"},
                {"What Both Slices Have …", "win.slice-common"},
                {"Subtract a Slice …", "win.slice-subtract"},
                {"Replay Only the Slice …", "win.relog"},
                {"Save as Text …", "win.slice-export"},
                {"Delete the Slice", "win.slice-delete"}};
    GMenu *menu = g_menu_new();
    GtkWidget *button = gtk_menu_button_new();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_menu_append(menu, rows[i].label, rows[i].action);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "view-more-symbolic");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button), G_MENU_MODEL(menu));
    gtk_widget_add_css_class(button, "flat");
    gtk_widget_set_tooltip_text(button, "What can be made of this slice");
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Slice menu", -1);
    g_object_unref(menu);
    return button;
}

struct slice_bar *slice_bar_new(struct window *w)
{
    static const char *const none[] = {NULL};
    struct slice_bar *b = g_new0(struct slice_bar, 1);
    b->window = w;
    b->names = g_ptr_array_new_with_free_func(g_free);
    b->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
    b->choice = gtk_drop_down_new_from_strings(none);
    gtk_widget_set_hexpand(b->choice, TRUE);
    gtk_widget_add_css_class(b->choice, "slices");
    gtk_accessible_update_property(GTK_ACCESSIBLE(b->choice), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Slices", -1);
    g_signal_connect(b->choice, "notify::selected", G_CALLBACK(on_choice), b);
    gtk_box_append(GTK_BOX(b->box), b->choice);
    gtk_box_append(GTK_BOX(b->box), make_menu());
    gtk_widget_set_visible(b->box, FALSE);
    return b;
}

GtkWidget *slice_bar_widget(struct slice_bar *b)
{
    return b->box;
}
