/* panes.c - the panes, in notebooks whose tabs can be moved. SPDX-License-Identifier: MIT */
#include "gui/view/panes.h"

#include <string.h>

#define PANE(id, title, place) {#id, title, place, id##_pane_new},
static const struct pane_kind kinds[] = {
#include "gui/view/panes.def"
};
#undef PANE

static void refresh(struct pane *pane)
{
    if (!pane->old || !pane->refresh || !gtk_widget_get_mapped(pane->widget))
        return;
    pane->old = false;
    pane->refresh(pane);
}

static void on_map(GtkWidget *widget, struct pane *pane)
{
    (void)widget;
    refresh(pane);
}

static enum pane_place place_of(struct window *w, const struct pane_kind *kind)
{
    int place = settings_number(w->settings, "panes", kind->name, kind->place);
    return place >= 0 && place < PLACES ? (enum pane_place)place : kind->place;
}

static void add(struct window *w, const struct pane_kind *kind)
{
    struct pane *pane = kind->make(w);
    GtkNotebook *notebook = GTK_NOTEBOOK(w->places[place_of(w, kind)]);
    GtkWidget *label = gtk_label_new(kind->title);
    pane->kind = kind;
    pane->window = w;
    pane->old = true;
    g_object_set_data(G_OBJECT(pane->widget), "pane", pane);
    g_signal_connect(pane->widget, "map", G_CALLBACK(on_map), pane);
    gtk_accessible_update_property(GTK_ACCESSIBLE(pane->widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   kind->title, -1);
    gtk_notebook_append_page(notebook, pane->widget, label);
    window_name_tab(label, kind->title);
    gtk_notebook_set_tab_reorderable(notebook, pane->widget, TRUE);
    gtk_notebook_set_tab_detachable(notebook, pane->widget, TRUE);
    g_ptr_array_add(w->panes, pane);
}

static GtkWidget *notebook_new(const char *name)
{
    GtkWidget *notebook = gtk_notebook_new();
    gtk_notebook_set_group_name(GTK_NOTEBOOK(notebook), "panes");
    gtk_notebook_set_scrollable(GTK_NOTEBOOK(notebook), TRUE);
    gtk_notebook_popup_enable(GTK_NOTEBOOK(notebook));
    gtk_widget_add_css_class(notebook, "panes");
    gtk_accessible_update_property(GTK_ACCESSIBLE(notebook), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    return notebook;
}

void panes_make(struct window *w)
{
    static const char *const names[PLACES] = {"Panes below the source", "Panes at the right",
                                              "Panes below at the right"};
    w->panes = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < PLACES; i++)
        w->places[i] = notebook_new(names[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        add(w, &kinds[i]);
}

void panes_changed(struct window *w, enum debugger_change change)
{
    for (unsigned i = 0; i < w->panes->len; i++) {
        struct pane *pane = g_ptr_array_index(w->panes, i);
        if (pane->changed)
            pane->changed(pane, change);
        if (pane->refresh_on & PANE_BIT(change))
            pane->old = true;
        refresh(pane);
    }
}

static enum pane_place find_place(struct window *w, struct pane *pane)
{
    for (int i = 0; i < PLACES; i++)
        if (gtk_notebook_page_num(GTK_NOTEBOOK(w->places[i]), pane->widget) >= 0)
            return (enum pane_place)i;
    return pane->kind->place;
}

void panes_save(struct window *w)
{
    for (unsigned i = 0; i < w->panes->len; i++) {
        struct pane *pane = g_ptr_array_index(w->panes, i);
        settings_set_number(w->settings, "panes", pane->kind->name, (int)find_place(w, pane));
    }
}

struct pane *window_pane(struct window *w, const char *name)
{
    for (unsigned i = 0; i < w->panes->len; i++) {
        struct pane *pane = g_ptr_array_index(w->panes, i);
        if (strcmp(pane->kind->name, name) == 0)
            return pane;
    }
    g_assert_not_reached();
}

void window_show_pane(struct window *w, const char *name)
{
    struct pane *pane = window_pane(w, name);
    GtkNotebook *notebook = GTK_NOTEBOOK(w->places[find_place(w, pane)]);
    gtk_notebook_set_current_page(notebook, gtk_notebook_page_num(notebook, pane->widget));
}
