/* toasts.c - a few words, for some seconds; one after the other. SPDX-License-Identifier: MIT */
#include "gui/view/toasts.h"

#include "gui/model/text.h"

enum { SHOWN_MS = 4000 };

struct toasts {
    GtkWidget *box, *label;
    GQueue waiting; /* of texts */
    unsigned timer; /* a source of the main loop; 0: none is shown */
};

static void show_next(struct toasts *t);

static gboolean on_time(void *arg)
{
    struct toasts *t = arg;
    t->timer = 0;
    show_next(t);
    return G_SOURCE_REMOVE;
}

static void show_next(struct toasts *t)
{
    char *text = g_queue_pop_head(&t->waiting);
    if (text) {
        gtk_label_set_text(GTK_LABEL(t->label), text);
        t->timer = g_timeout_add(SHOWN_MS, on_time, t);
    }
    gtk_widget_set_visible(t->box, text != NULL);
    g_free(text);
}

static void on_dismiss(GtkButton *button, struct toasts *t)
{
    (void)button;
    g_clear_handle_id(&t->timer, g_source_remove);
    show_next(t);
}

void toasts_add(struct toasts *t, const char *text)
{
    char *safe = text_line(text);
    bool known = g_queue_find_custom(&t->waiting, safe, (GCompareFunc)g_strcmp0) ||
                 (t->timer && g_str_equal(gtk_label_get_text(GTK_LABEL(t->label)), safe));
    if (known)
        g_free(safe);
    else
        g_queue_push_tail(&t->waiting, safe);
    if (!t->timer)
        show_next(t);
}

static void on_destroy(void *arg)
{
    struct toasts *t = arg;
    g_clear_handle_id(&t->timer, g_source_remove);
    g_queue_clear_full(&t->waiting, g_free);
    g_free(t);
}

struct toasts *toasts_new(GtkOverlay *overlay)
{
    struct toasts *t = g_new0(struct toasts, 1);
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    g_queue_init(&t->waiting);
    t->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    t->label = gtk_label_new(NULL);
    gtk_label_set_wrap(GTK_LABEL(t->label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(t->label), PANGO_WRAP_WORD_CHAR);
    gtk_label_set_natural_wrap_mode(GTK_LABEL(t->label), GTK_NATURAL_WRAP_NONE);
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_add_css_class(close, "circular");
    gtk_widget_set_tooltip_text(close, "Dismiss");
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL, "Dismiss",
                                   -1);
    g_signal_connect(close, "clicked", G_CALLBACK(on_dismiss), t);
    gtk_widget_add_css_class(t->box, "osd");
    gtk_widget_add_css_class(t->box, "words");
    gtk_box_append(GTK_BOX(t->box), t->label);
    gtk_box_append(GTK_BOX(t->box), close);
    gtk_widget_set_visible(t->box, FALSE);
    gtk_widget_set_halign(t->box, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(t->box, GTK_ALIGN_END);
    gtk_overlay_add_overlay(overlay, t->box);
    g_object_set_data_full(G_OBJECT(t->box), "toasts", t, on_destroy);
    return t;
}
