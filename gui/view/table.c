/* table.c - a list with columns. SPDX-License-Identifier: MIT */
#include "gui/view/table.h"

static const char *const looks[] = {[LOOK_PLAIN] = NULL,
                                    [LOOK_CURRENT] = "row-current",
                                    [LOOK_CHANGED] = "row-changed",
                                    [LOOK_DIM] = "dim-label",
                                    [LOOK_WARN] = "row-warn"};

struct table {
    struct table_kind kind;
    void *arg;
    GtkWidget *stack, *view, *empty;
    GListStore *items;
    GtkSingleSelection *selection;
    unsigned wanted;  /* the row that is to be seen */
    GPtrArray *later; /* GuiItems that are not in the list yet, or NULL */
    unsigned adding;  /* a source of the main loop that adds them, or 0 */
};

/* A cell's column is known by the factory that makes it. */
struct cells {
    struct table *table;
    unsigned column;
};

/* The row's item; of a tree, what the tree's row is about. */
static GuiItem *item_of(void *row)
{
    void *item = GTK_IS_TREE_LIST_ROW(row) ? gtk_tree_list_row_get_item(row) : row;
    if (item && item != row)
        g_object_unref(item); /* the tree keeps it */
    return item;
}

/* ---- cells ---- */

static void on_menu_click(GtkGestureClick *gesture, int presses, double x, double y, void *arg)
{
    GtkListItem *list_item = arg;
    struct table *t = g_object_get_data(G_OBJECT(list_item), "table");
    GuiItem *item = item_of(gtk_list_item_get_item(list_item));
    (void)presses;
    (void)x;
    (void)y;
    if (!item)
        return;
    gtk_single_selection_set_selected(t->selection, gtk_list_item_get_position(list_item));
    t->kind.menu(t->arg, item, gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(gesture)));
}

/* Text that is cut. To set it whenever a row is shown would ask the X server each time. */
static gboolean on_tooltip(GtkWidget *label, int x, int y, gboolean keyboard, GtkTooltip *tip,
                           void *nothing)
{
    (void)x, (void)y, (void)keyboard, (void)nothing;
    if (!pango_layout_is_ellipsized(gtk_label_get_layout(GTK_LABEL(label))))
        return FALSE;
    gtk_tooltip_set_text(tip, gtk_label_get_text(GTK_LABEL(label)));
    return TRUE;
}

static void setup(GtkSignalListItemFactory *factory, GtkListItem *list_item, struct cells *cells)
{
    struct table *t = cells->table;
    GtkWidget *label = gtk_label_new(NULL), *child = label;
    (void)factory;
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
    gtk_widget_set_has_tooltip(label, TRUE);
    g_signal_connect(label, "query-tooltip", G_CALLBACK(on_tooltip), NULL);
    if (t->kind.columns[cells->column].code)
        gtk_widget_add_css_class(label, "code");
    if (t->kind.opened && cells->column == 0) {
        child = gtk_tree_expander_new();
        gtk_tree_expander_set_child(GTK_TREE_EXPANDER(child), label);
    }
    g_object_set_data(G_OBJECT(list_item), "label", label);
    g_object_set_data(G_OBJECT(list_item), "table", t);
    if (t->kind.menu) {
        GtkGesture *click = gtk_gesture_click_new();
        gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_SECONDARY);
        g_signal_connect(click, "pressed", G_CALLBACK(on_menu_click), list_item);
        gtk_widget_add_controller(child, GTK_EVENT_CONTROLLER(click));
    }
    gtk_list_item_set_child(list_item, child);
}

static void name_row(GtkWidget *child, const GuiItem *item)
{
    GtkWidget *cell = gtk_widget_get_parent(child),
              *row = cell ? gtk_widget_get_parent(cell) : NULL;
    char *words = gui_item_words(item);
    if (row)
        gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, words,
                                       -1);
    g_free(words);
}

/* GTK asks for the model of all rows that are seen, to know whether they can be opened; what is in
 * it is asked for when one is opened. */
static void fill(struct table *t, GuiItem *item)
{
    if (item->asked || !item->parts)
        return;
    item->asked = true;
    t->kind.opened(t->arg, item);
}

static void on_expanded(GtkTreeListRow *row, GParamSpec *spec, struct table *t)
{
    (void)spec;
    if (gtk_tree_list_row_get_expanded(row))
        fill(t, item_of(row));
}

static void bind(GtkSignalListItemFactory *factory, GtkListItem *list_item, struct cells *cells)
{
    void *row = gtk_list_item_get_item(list_item);
    GuiItem *item = item_of(row);
    GtkWidget *label = g_object_get_data(G_OBJECT(list_item), "label");
    GtkWidget *child = gtk_list_item_get_child(list_item);
    const char *text = item->cell[cells->column] ? item->cell[cells->column] : "";
    (void)factory;
    gtk_label_set_text(GTK_LABEL(label), text);
    for (unsigned i = 0; i < G_N_ELEMENTS(looks); i++)
        if (looks[i] && i == item->look)
            gtk_widget_add_css_class(label, looks[i]);
        else if (looks[i])
            gtk_widget_remove_css_class(label, looks[i]);
    if (GTK_IS_TREE_EXPANDER(child)) {
        gtk_tree_expander_set_list_row(GTK_TREE_EXPANDER(child), row);
        g_signal_connect(row, "notify::expanded", G_CALLBACK(on_expanded), cells->table);
    }
    if (cells->column == 0)
        name_row(child, item);
}

static void unbind(GtkSignalListItemFactory *factory, GtkListItem *list_item, struct cells *cells)
{
    GtkWidget *child = gtk_list_item_get_child(list_item);
    (void)factory;
    if (!GTK_IS_TREE_EXPANDER(child))
        return;
    g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(list_item), on_expanded,
                                         cells->table);
    gtk_tree_expander_set_list_row(GTK_TREE_EXPANDER(child), NULL);
}

static void add_column(struct table *t, unsigned i)
{
    const struct table_column *c = &t->kind.columns[i];
    struct cells *cells = g_new(struct cells, 1);
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    *cells = (struct cells){t, i};
    g_signal_connect_data(factory, "setup", G_CALLBACK(setup), cells,
                          (GClosureNotify)(void (*)(void))g_free, 0);
    g_signal_connect(factory, "bind", G_CALLBACK(bind), cells);
    g_signal_connect(factory, "unbind", G_CALLBACK(unbind), cells);
    GtkColumnViewColumn *column = gtk_column_view_column_new(c->title, factory);
    gtk_column_view_column_set_resizable(column, TRUE);
    if (c->width)
        gtk_column_view_column_set_fixed_width(column, c->width);
    else
        gtk_column_view_column_set_expand(column, TRUE);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(t->view), column);
    g_object_unref(column);
}

/* ---- rows ---- */

static void on_activate(GtkColumnView *view, unsigned position, struct table *t)
{
    void *row = g_list_model_get_item(G_LIST_MODEL(t->selection), position);
    (void)view;
    if (!row)
        return;
    if (t->kind.activated)
        t->kind.activated(t->arg, item_of(row));
    g_object_unref(row);
}

static GListModel *open_row(void *object, void *arg)
{
    GuiItem *item = object;
    (void)arg;
    if (!item->has_parts)
        return NULL;
    if (!item->parts)
        item->parts = g_list_store_new(GUI_TYPE_ITEM);
    return G_LIST_MODEL(g_object_ref(item->parts));
}

static void on_items(GListModel *model, unsigned position, unsigned removed, unsigned added,
                     struct table *t)
{
    (void)position;
    (void)removed;
    (void)added;
    gtk_stack_set_visible_child_name(GTK_STACK(t->stack),
                                     g_list_model_get_n_items(model) ? "rows" : "empty");
}

/* ---- many rows ----
 *
 * GTK makes widgets for 200 rows of a list, whether they are seen or not, and that takes as long as
 * a dozen frames. So they come some at a time, and what is behind those at once. */

enum { AT_ONCE = 16, WITH_WIDGETS = 240 };

static void forget_later(struct table *t)
{
    g_clear_handle_id(&t->adding, g_source_remove);
    g_clear_pointer(&t->later, g_ptr_array_unref);
}

static void add_items(struct table *t, unsigned begin, unsigned removed, GPtrArray *items,
                      unsigned count)
{
    g_list_store_splice(t->items, begin, removed, items->pdata, count);
    g_ptr_array_remove_range(items, 0, count);
}

static void add_all(struct table *t)
{
    if (t->later)
        add_items(t, g_list_model_get_n_items(G_LIST_MODEL(t->items)), 0, t->later, t->later->len);
    forget_later(t);
}

static gboolean add_some(void *arg)
{
    struct table *t = arg;
    unsigned there = g_list_model_get_n_items(G_LIST_MODEL(t->items));
    if (there < WITH_WIDGETS && t->later->len > AT_ONCE) {
        add_items(t, there, 0, t->later, AT_ONCE);
        return G_SOURCE_CONTINUE;
    }
    t->adding = 0;
    add_all(t);
    return G_SOURCE_REMOVE;
}

static void on_destroy(void *arg)
{
    struct table *t = arg;
    forget_later(t);
    g_object_unref(t->items);
    g_free(t);
}

static GtkWidget *make_empty(struct table *t)
{
    t->empty = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(t->empty), TRUE);
    gtk_label_set_justify(GTK_LABEL(t->empty), GTK_JUSTIFY_CENTER);
    gtk_widget_add_css_class(t->empty, "dim-label");
    gtk_widget_add_css_class(t->empty, "nothing");
    gtk_widget_set_vexpand(t->empty, TRUE);
    return t->empty;
}

struct table *table_new(const struct table_kind *kind, void *arg)
{
    struct table *t = g_new0(struct table, 1);
    GListModel *model;
    t->kind = *kind;
    t->arg = arg;
    t->items = g_list_store_new(GUI_TYPE_ITEM);
    model = G_LIST_MODEL(g_object_ref(t->items));
    if (kind->opened)
        model = G_LIST_MODEL(gtk_tree_list_model_new(model, FALSE, FALSE, open_row, t, NULL));
    t->selection = gtk_single_selection_new(model);
    gtk_single_selection_set_autoselect(t->selection, FALSE);
    gtk_single_selection_set_can_unselect(t->selection, TRUE);
    t->view = gtk_column_view_new(GTK_SELECTION_MODEL(t->selection));
    gtk_widget_add_css_class(t->view, "data-table");
    gtk_column_view_set_single_click_activate(GTK_COLUMN_VIEW(t->view), kind->click);
    gtk_accessible_update_property(GTK_ACCESSIBLE(t->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   kind->name, -1);
    g_signal_connect(t->view, "activate", G_CALLBACK(on_activate), t);
    for (unsigned i = 0; i < kind->count; i++)
        add_column(t, i);
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), t->view);
    t->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(t->stack), make_empty(t), "empty");
    gtk_stack_add_named(GTK_STACK(t->stack), scrolled, "rows");
    gtk_widget_set_vexpand(t->stack, TRUE);
    g_object_set_data_full(G_OBJECT(t->stack), "table", t, on_destroy);
    g_signal_connect(t->items, "items-changed", G_CALLBACK(on_items), t);
    return t;
}

GtkWidget *table_widget(struct table *t)
{
    return t->stack;
}

/* The keys of rows that are open. NULL: it is a list. */
static GHashTable *open_keys(struct table *t)
{
    GListModel *rows = G_LIST_MODEL(t->selection);
    GHashTable *keys =
        t->kind.opened ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    for (unsigned i = 0; keys && i < g_list_model_get_n_items(rows); i++) {
        GtkTreeListRow *row = g_list_model_get_item(rows, i);
        const GuiItem *item = item_of(row);
        if (gtk_tree_list_row_get_expanded(row) && item->key)
            g_hash_table_add(keys, g_strdup(item->key));
        g_object_unref(row);
    }
    return keys;
}

/* Their parts come anew, so that only the outermost ones can be opened at once. */
static void open_again(struct table *t, GHashTable *keys)
{
    GListModel *rows = G_LIST_MODEL(t->selection);
    for (unsigned i = 0; i < g_list_model_get_n_items(rows); i++) {
        GtkTreeListRow *row = g_list_model_get_item(rows, i);
        GuiItem *item = item_of(row);
        if (item->key && g_hash_table_contains(keys, item->key)) {
            gtk_tree_list_row_set_expanded(row, TRUE);
            fill(t, item);
        }
        g_object_unref(row);
    }
    g_hash_table_unref(keys);
}

void table_take(struct table *t, GPtrArray *items)
{
    GHashTable *keys = open_keys(t);
    unsigned first = keys ? items->len : MIN(items->len, AT_ONCE);
    forget_later(t);
    g_ptr_array_set_free_func(items, g_object_unref);
    add_items(t, 0, g_list_model_get_n_items(G_LIST_MODEL(t->items)), items, first);
    if (keys)
        open_again(t, keys);
    t->later = items;
    t->adding = items->len ? g_idle_add(add_some, t) : 0;
}

void table_say(struct table *t, const char *text)
{
    gtk_label_set_text(GTK_LABEL(t->empty), text);
}

void table_select(struct table *t, unsigned row)
{
    add_all(t);
    gtk_single_selection_set_selected(t->selection, row);
}

GuiItem *table_selected(struct table *t)
{
    void *row = gtk_single_selection_get_selected_item(t->selection);
    return row ? item_of(row) : NULL;
}

/* GTK 4.8 has an action for it, of the list in the column view. It needs rows that have their
 * places. */
static gboolean scroll_later(void *arg)
{
    GtkWidget *stack = arg;
    struct table *t = g_object_get_data(G_OBJECT(stack), "table");
    GtkWidget *list = gtk_widget_get_last_child(t->view);
    if (list && gtk_widget_get_mapped(list) && gtk_widget_get_height(list) > 0 &&
        t->wanted < table_rows(t))
        gtk_widget_activate_action(list, "list.scroll-to-item", "u", t->wanted);
    g_object_unref(stack);
    return G_SOURCE_REMOVE;
}

void table_scroll_to(struct table *t, unsigned row)
{
    add_all(t);
    t->wanted = row;
    g_timeout_add(30, scroll_later, g_object_ref(t->stack)); /* they have none yet */
}

unsigned table_rows(struct table *t)
{
    add_all(t);
    return g_list_model_get_n_items(G_LIST_MODEL(t->items));
}

GuiItem *table_row(struct table *t, unsigned row)
{
    GuiItem *item = g_list_model_get_item(G_LIST_MODEL(t->items), row);
    if (item)
        g_object_unref(item);
    return item;
}
