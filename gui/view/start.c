/* start.c - what there is before a recording is open. SPDX-License-Identifier: MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/guide.h"

static GtkWidget *recent_list, *recent_title;

static void on_recent(GtkListBox *list, GtkListBoxRow *row, struct window *w)
{
    (void)list;
    window_open(w, g_object_get_data(G_OBJECT(row), "path"));
}

static GtkWidget *recent_row(const char *path)
{
    GtkWidget *row = adw_action_row_new();
    char *name = text_line(text_base(path)), *full = text_line(path);
    adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
    adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), name);
    char *escaped = g_markup_escape_text(full, -1);
    adw_action_row_set_subtitle(ADW_ACTION_ROW(row), escaped);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), TRUE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_object_set_data_full(G_OBJECT(row), "path", g_strdup(path), g_free);
    g_free(escaped);
    g_free(full);
    g_free(name);
    return row;
}

void start_refresh(struct window *w)
{
    char **recent = settings_recent(w->settings);
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(recent_list)))
        gtk_list_box_remove(GTK_LIST_BOX(recent_list), row);
    for (char **path = recent; *path; path++)
        gtk_list_box_append(GTK_LIST_BOX(recent_list), recent_row(*path));
    gtk_widget_set_visible(recent_list, *recent != NULL);
    gtk_widget_set_visible(recent_title, *recent != NULL);
    g_strfreev(recent);
}

static void on_sample(GtkButton *button, struct window *w)
{
    guide_begin(w, GTK_WIDGET(button));
}

static GtkWidget *make_button(const char *label, const char *action, const char *hint)
{
    GtkWidget *button = gtk_button_new_with_label(label);
    if (action)
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
    gtk_widget_add_css_class(button, "pill");
    gtk_widget_set_tooltip_text(button, hint);
    return button;
}

static GtkWidget *make_buttons(struct window *w)
{
    GtkWidget *rows = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12),
              *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *open =
        make_button("Open a Recording …", "win.open", "A folder that drdebug record has made");
    GtkWidget *program = make_button("Open a Program …", "win.program",
                                     "Debug it live, record it, or search for a bug in it");
    GtkWidget *sample = make_button(
        "Try the Sample Bug", NULL,
        "A program with a race is compiled and recorded here; three steps lead to its cause");
    gtk_widget_add_css_class(open, "suggested-action");
    gtk_widget_add_css_class(sample, "flat");
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(sample, GTK_ALIGN_CENTER);
    g_signal_connect(sample, "clicked", G_CALLBACK(on_sample), w);
    gtk_box_append(GTK_BOX(row), open);
    gtk_box_append(GTK_BOX(row), program);
    gtk_box_append(GTK_BOX(rows), row);
    gtk_box_append(GTK_BOX(rows), sample);
    return rows;
}

GtkWidget *start_new(struct window *w)
{
    GtkWidget *page = adw_status_page_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    GtkWidget *clamp = adw_clamp_new();
    adw_status_page_set_icon_name(ADW_STATUS_PAGE(page), "org.drdebug.gui");
    adw_status_page_set_title(ADW_STATUS_PAGE(page), "drdebug");
    adw_status_page_set_description(
        ADW_STATUS_PAGE(page),
        "Record a failure once, replay it forwards and backwards, and ask why.");
    recent_title = window_label("Recent recordings");
    gtk_widget_add_css_class(recent_title, "heading");
    recent_list = gtk_list_box_new();
    gtk_widget_add_css_class(recent_list, "boxed-list");
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(recent_list), GTK_SELECTION_NONE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(recent_list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Recent recordings", -1);
    g_signal_connect(recent_list, "row-activated", G_CALLBACK(on_recent), w);
    gtk_box_append(GTK_BOX(box), make_buttons(w));
    gtk_box_append(GTK_BOX(box), recent_title);
    gtk_box_append(GTK_BOX(box), recent_list);
    adw_clamp_set_child(ADW_CLAMP(clamp), box);
    adw_clamp_set_maximum_size(ADW_CLAMP(clamp), 720);
    adw_status_page_set_child(ADW_STATUS_PAGE(page), clamp);
    return page;
}
