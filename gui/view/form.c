/* form.c - dialogs with several entries. SPDX-License-Identifier: MIT */
#include "gui/view/form.h"

static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       GtkWindow *dialog)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_close(dialog);
    return TRUE;
}

void form_init(struct form *f, struct window *w, const char *title, int width)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14);
    GtkEventController *keys = gtk_event_controller_key_new();
    f->window = w;
    f->rows = 0;
    f->dialog = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(f->dialog), title);
    gtk_window_set_transient_for(GTK_WINDOW(f->dialog), GTK_WINDOW(w->window));
    gtk_window_set_modal(GTK_WINDOW(f->dialog), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(f->dialog), width, -1);
    gtk_window_set_resizable(GTK_WINDOW(f->dialog), FALSE);
    f->grid = gtk_grid_new();
    gtk_grid_set_row_spacing(GTK_GRID(f->grid), 8);
    gtk_grid_set_column_spacing(GTK_GRID(f->grid), 12);
    f->buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    gtk_widget_set_halign(f->buttons, GTK_ALIGN_END);
    gtk_widget_add_css_class(box, "form");
    gtk_box_append(GTK_BOX(box), f->grid);
    gtk_box_append(GTK_BOX(box), f->buttons);
    gtk_window_set_child(GTK_WINDOW(f->dialog), box);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), f->dialog);
    gtk_widget_add_controller(f->dialog, keys);
}

static void attach(struct form *f, const char *label, GtkWidget *widget)
{
    GtkWidget *words = window_label(label);
    gtk_widget_add_css_class(words, "dim-label");
    gtk_label_set_xalign(GTK_LABEL(words), 1);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(f->grid), words, 0, f->rows, 1, 1);
    gtk_grid_attach(GTK_GRID(f->grid), widget, 1, f->rows++, 1, 1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                   -1);
}

GtkWidget *form_entry(struct form *f, const char *label, const char *text, const char *hint)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_text(GTK_EDITABLE(entry), text ? text : "");
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), hint);
    gtk_entry_set_activates_default(GTK_ENTRY(entry), TRUE);
    attach(f, label, entry);
    return entry;
}

GtkWidget *form_check(struct form *f, const char *label, bool on)
{
    GtkWidget *check = gtk_check_button_new_with_label(label);
    gtk_check_button_set_active(GTK_CHECK_BUTTON(check), on);
    gtk_grid_attach(GTK_GRID(f->grid), check, 1, f->rows++, 1, 1);
    return check;
}

GtkWidget *form_choice(struct form *f, const char *label, const char *const choices[])
{
    GtkWidget *choice = gtk_drop_down_new_from_strings(choices);
    attach(f, label, choice);
    return choice;
}

GtkWidget *form_say(struct form *f, const char *text)
{
    GtkWidget *label = window_label(text);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_width_chars(GTK_LABEL(label), 60);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 60);
    gtk_grid_attach(GTK_GRID(f->grid), label, 0, f->rows++, 2, 1);
    return label;
}

GtkWidget *form_button(struct form *f, const char *label, GCallback fn, void *arg)
{
    GtkWidget *before = gtk_window_get_default_widget(GTK_WINDOW(f->dialog));
    GtkWidget *button = gtk_button_new_with_label(label);
    if (before)
        gtk_widget_remove_css_class(before, "suggested-action");
    gtk_widget_add_css_class(button, "suggested-action");
    g_signal_connect(button, "clicked", fn, arg);
    gtk_box_append(GTK_BOX(f->buttons), button);
    gtk_window_set_default_widget(GTK_WINDOW(f->dialog), button);
    return button;
}

void form_show(struct form *f, void *data, GDestroyNotify free)
{
    g_object_set_data_full(G_OBJECT(f->dialog), "form", data, free);
    gtk_window_present(GTK_WINDOW(f->dialog));
}
