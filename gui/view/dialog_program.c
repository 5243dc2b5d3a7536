/* dialog_program.c - which program, and what is to be done with it. SPDX-License-Identifier: MIT */
#include "gui/view/form.h"
#include "gui/view/launch.h"

struct asking {
    struct form form;
    GtkWidget *command, *folder, *environment, *failing;
};

static char *text_of(GtkWidget *entry)
{
    return g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
}

static void take(const struct asking *a, struct program *p)
{
    p->command = text_of(a->command);
    p->folder = text_of(a->folder);
    p->environment = text_of(a->environment);
}

/* The dialog and `a` are gone when fn is called. */
static void finish(struct asking *a, void (*fn)(struct window *w, const struct program *p))
{
    struct window *w = a->form.window;
    struct program p = {0};
    take(a, &p);
    if (launch_accept(w, &p)) {
        gtk_window_destroy(GTK_WINDOW(a->form.dialog));
        fn(w, &p);
    }
    program_deinit(&p);
}

static void record(struct window *w, const struct program *p)
{
    launch_record(w, p, false);
}

static void record_failing(struct window *w, const struct program *p)
{
    launch_record(w, p, true);
}

static void find(struct window *w, const struct program *p)
{
    (void)p; /* it was remembered */
    dialog_find(w);
}

static void on_live(GtkButton *button, struct asking *a)
{
    (void)button;
    finish(a, launch_live);
}

static void on_record(GtkButton *button, struct asking *a)
{
    (void)button;
    finish(a, gtk_check_button_get_active(GTK_CHECK_BUTTON(a->failing)) ? record_failing : record);
}

static void on_find(GtkButton *button, struct asking *a)
{
    (void)button;
    finish(a, find);
}

static void on_chosen(GtkNativeDialog *chooser, int response, struct asking *a)
{
    GFile *file = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(chooser))
                      : NULL;
    char *path = file ? g_file_get_path(file) : NULL;
    if (path) {
        struct program p = {0};
        char *words[] = {path, NULL}, *folder = g_path_get_dirname(path);
        program_take_words(&p, words);
        gtk_editable_set_text(GTK_EDITABLE(a->command), p.command);
        if (!*gtk_editable_get_text(GTK_EDITABLE(a->folder)))
            gtk_editable_set_text(GTK_EDITABLE(a->folder), folder);
        program_deinit(&p);
        g_free(folder);
    }
    g_free(path);
    g_clear_object(&file);
    g_object_unref(chooser);
}

static void on_choose(GtkEntry *entry, GtkEntryIconPosition position, struct asking *a)
{
    GtkFileChooserNative *chooser =
        gtk_file_chooser_native_new("Choose a Program", GTK_WINDOW(a->form.dialog),
                                    GTK_FILE_CHOOSER_ACTION_OPEN, "Choose", "Cancel");
    (void)entry;
    (void)position;
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(chooser), TRUE);
    g_signal_connect(chooser, "response", G_CALLBACK(on_chosen), a);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

void dialog_program(struct window *w)
{
    struct asking *a = g_new0(struct asking, 1);
    struct program last = {0};
    launch_last(w, &last);
    form_init(&a->form, w, "Open a Program", 620);
    a->command = form_entry(&a->form, "Program", last.command, "./program and its arguments");
    gtk_entry_set_icon_from_icon_name(GTK_ENTRY(a->command), GTK_ENTRY_ICON_SECONDARY,
                                      "document-open-symbolic");
    gtk_entry_set_icon_tooltip_text(GTK_ENTRY(a->command), GTK_ENTRY_ICON_SECONDARY,
                                    "Choose a program");
    g_signal_connect(a->command, "icon-press", G_CALLBACK(on_choose), a);
    a->folder = form_entry(&a->form, "Folder", last.folder, "where this window was started");
    a->environment = form_entry(&a->form, "Environment", last.environment, "NAME=VALUE NAME=VALUE");
    a->failing = form_check(
        &a->form,
        "Record under odd schedules, again and again until a run fails (a minute at most)", false);
    form_button(&a->form, "Find the Bug …", G_CALLBACK(on_find), a);
    form_button(&a->form, "Record It", G_CALLBACK(on_record), a);
    form_button(&a->form, "Debug It Live", G_CALLBACK(on_live), a);
    program_deinit(&last);
    form_show(&a->form, a, g_free);
}
