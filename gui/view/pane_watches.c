/* pane_watches.c - expressions that the user wants to see at every stop. SPDX-License-Identifier:
 * MIT */
#include <string.h>

#include "gui/model/text.h"
#include "gui/model/variables.h"
#include "gui/view/panes.h"
#include "gui/view/tree.h"

struct watches_pane {
    struct pane pane;
    struct tree *tree;
    GtkWidget *entry;
    GPtrArray *list; /* of struct variable * */
};

/* An answer on its way; the list may have changed since. */
struct asked_watch {
    struct watches_pane *pane;
    char *expression;
};

static struct variable *find(struct watches_pane *p, const char *expression)
{
    for (unsigned i = 0; i < p->list->len; i++) {
        struct variable *v = g_ptr_array_index(p->list, i);
        if (strcmp(v->expression, expression) == 0)
            return v;
    }
    return NULL;
}

static void on_value(void *arg, const struct mi_record *result)
{
    struct asked_watch *a = arg;
    struct variable *v = find(a->pane, a->expression);
    if (v && result) {
        const char *value = value_text(result->results, "value");
        char *text = value ? text_line(value) : text_line(value_text(result->results, "msg"));
        v->changed = *v->value && strcmp(v->value, text) != 0;
        v->has_parts = value && (*value == '{' || strchr(value, '*'));
        g_free(v->value);
        v->value = text;
        tree_take(a->pane->tree, a->pane->list);
    }
    g_free(a->expression);
    g_free(a);
}

static void refresh(struct pane *pane)
{
    struct watches_pane *p = (struct watches_pane *)pane;
    for (unsigned i = 0; i < p->list->len; i++) {
        const struct variable *v = g_ptr_array_index(p->list, i);
        struct asked_watch *a = g_new(struct asked_watch, 1);
        char *quoted = mi_quote(v->expression),
             *command = g_strdup_printf("-data-evaluate-expression %s", quoted);
        *a = (struct asked_watch){.pane = p, .expression = g_strdup(v->expression)};
        debugger_query(pane->window->debugger, command, on_value, a);
        g_free(command);
        g_free(quoted);
    }
}

void watches_add(struct window *w, const char *expression)
{
    struct watches_pane *p = (struct watches_pane *)window_pane(w, "watches");
    struct variable *v = g_new0(struct variable, 1);
    v->name = text_line(expression);
    v->expression = g_strdup(expression);
    v->value = g_strdup("");
    v->type = g_strdup("");
    if (find(p, expression)) {
        variable_free(v);
    } else {
        g_ptr_array_add(p->list, v);
    }
    tree_take(p->tree, p->list);
    window_show_pane(w, "watches");
    refresh(&p->pane);
}

/* The one that has the focus. */
static const char *selected_in(struct window *w, const char *pane, struct tree *tree)
{
    GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(w->window));
    bool here = focus && gtk_widget_is_ancestor(focus, window_pane(w, pane)->widget);
    return here ? tree_selected(tree) : NULL;
}

char *watches_selected(struct window *w)
{
    struct watches_pane *p = (struct watches_pane *)window_pane(w, "watches");
    const char *found = selected_in(w, "watches", p->tree);
    return g_strdup(found ? found : selected_in(w, "locals", locals_tree(w)));
}

static void on_add(GtkEntry *entry, struct watches_pane *p)
{
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    if (*text)
        watches_add(p->pane.window, text);
    gtk_editable_set_text(GTK_EDITABLE(entry), "");
    g_free(text);
}

static void on_remove(GtkButton *button, struct watches_pane *p)
{
    const char *selected = tree_selected(p->tree);
    struct variable *v = selected ? find(p, selected) : NULL;
    (void)button;
    if (v)
        g_ptr_array_remove(p->list, v);
    tree_take(p->tree, p->list);
}

struct pane *watches_pane_new(struct window *w)
{
    struct watches_pane *p = g_new0(struct watches_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2);
    GtkWidget *remove = gtk_button_new_from_icon_name("list-remove-symbolic");
    p->list = g_ptr_array_new_with_free_func(variable_free);
    p->tree = tree_new(w, "Watches", "Type an expression above, or choose Watch on a variable.");
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->entry), "Expression to watch");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Expression to watch", -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(remove), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Remove the watch", -1);
    gtk_widget_set_tooltip_text(remove, "Remove the selected expression");
    gtk_widget_set_hexpand(p->entry, TRUE);
    gtk_widget_add_css_class(p->entry, "filter");
    gtk_widget_add_css_class(remove, "flat");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_add), p);
    g_signal_connect(remove, "clicked", G_CALLBACK(on_remove), p);
    gtk_box_append(GTK_BOX(row), p->entry);
    gtk_box_append(GTK_BOX(row), remove);
    gtk_box_append(GTK_BOX(box), row);
    gtk_box_append(GTK_BOX(box), tree_widget(p->tree));
    p->pane.widget = box;
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
