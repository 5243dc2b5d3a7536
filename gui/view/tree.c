/* tree.c - variables that can be opened. SPDX-License-Identifier: MIT
 *
 * The parts of a variable come from GDB's variable objects, made when a row is opened and deleted
 * as soon as their children are known: so nothing has to be kept up to date but rows that are seen.
 */
#include "gui/view/tree.h"

#include <string.h>

#include "gui/model/text.h"
#include "gui/model/variables.h"
#include "gui/view/table.h"

enum { PARTS_MOST = 200 };

struct tree {
    struct window *window;
    struct table *table;
};

/* A row whose parts are on their way. */
struct opening {
    struct tree *tree;
    GuiItem *item;
};

static void opening_free(struct opening *o)
{
    g_object_unref(o->item);
    g_free(o);
}

static GuiItem *item_new(const char *name, const char *value, const char *type,
                         const char *expression)
{
    GuiItem *item = gui_item_new();
    gui_item_set(item, 0, text_line(name));
    gui_item_set(item, 1, text_line(value));
    gui_item_set(item, 2, text_line(type));
    item->key = g_strdup(expression);
    return item;
}

/* GDB's name for a part as an expression: -var-info-path-expression, without another question. */
static char *part_expression(const GuiItem *of, const char *name)
{
    const char *type = of->cell[2] ? of->cell[2] : "";
    if (g_ascii_isdigit(*name))
        return g_strdup_printf("(%s)[%s]", of->key, name);
    if (*name == '*')
        return g_strdup_printf("*(%s)", of->key);
    return g_strdup_printf("(%s)%s%s", of->key, g_str_has_suffix(type, "*") ? "->" : ".", name);
}

static void add_parts(GuiItem *to, const struct value *children)
{
    for (unsigned i = 0; i < value_count(children); i++) {
        const struct value *child = value_at(children, i);
        const char *name = value_say(child, "exp");
        char *expression = part_expression(to, name);
        GuiItem *item =
            item_new(name, value_say(child, "value"), value_say(child, "type"), expression);
        item->has_parts = value_number(child, "numchild", 0) > 0;
        g_list_store_append(to->parts, item);
        g_object_unref(item);
        g_free(expression);
    }
}

/* The row below says how many are not shown. */
static void add_rest(GuiItem *to)
{
    uint64_t elements = variables_elements(to->cell[2]);
    if (elements <= PARTS_MOST)
        return;
    char *number = text_number(elements - PARTS_MOST), *words = g_strdup_printf("%s more", number);
    GuiItem *item = item_new("…", words, "", to->key);
    g_list_store_append(to->parts, item);
    g_object_unref(item);
    g_free(words);
    g_free(number);
}

static void on_children(void *arg, const struct mi_record *result)
{
    struct opening *o = arg;
    if (result && o->item->parts) {
        add_parts(o->item, value_get(result->results, "children"));
        add_rest(o->item);
    }
    opening_free(o);
}

static void on_object(void *arg, const struct mi_record *result)
{
    struct opening *o = arg;
    const char *name = result ? value_text(result->results, "name") : NULL;
    if (!name) {
        opening_free(o);
        return;
    }
    char *list = g_strdup_printf("-var-list-children --all-values %s 0 %d", name, PARTS_MOST);
    char *delete = g_strdup_printf("-var-delete %s", name);
    debugger_query(o->tree->window->debugger, list, on_children, o);
    debugger_query(o->tree->window->debugger, delete, NULL, NULL);
    g_free(delete);
    g_free(list);
}

static void on_opened(void *arg, GuiItem *item)
{
    struct tree *t = arg;
    struct opening *o = g_new(struct opening, 1);
    /* GDB makes an object of each element, wanted or not: that would take minutes. */
    bool huge = variables_elements(item->cell[2]) > PARTS_MOST;
    char *of = huge ? g_strdup_printf("(%s)[0]@%d", item->key, PARTS_MOST) : g_strdup(item->key);
    char *quoted = mi_quote(of), *command = g_strdup_printf("-var-create - * %s", quoted);
    *o = (struct opening){.tree = t, .item = g_object_ref(item)};
    debugger_query(t->window->debugger, command, on_object, o);
    g_free(command);
    g_free(quoted);
    g_free(of);
}

static void on_menu(void *arg, GuiItem *item, GtkWidget *at)
{
    struct tree *t = arg;
    window_menu(t->window, item->key, at);
}

static void on_activated(void *arg, GuiItem *item)
{
    (void)arg;
    (void)item;
}

struct tree *tree_new(struct window *w, const char *name, const char *nothing)
{
    static const struct table_column columns[] = {
        {"Name", 130, true}, {"Value", 0, true}, {"Type", 110, true}};
    struct tree *t = g_new0(struct tree, 1);
    struct table_kind kind = {.name = name,
                              .columns = columns,
                              .count = 3,
                              .activated = on_activated,
                              .opened = on_opened,
                              .menu = on_menu};
    t->window = w;
    t->table = table_new(&kind, t);
    table_say(t->table, nothing);
    return t;
}

GtkWidget *tree_widget(struct tree *t)
{
    return table_widget(t->table);
}

const char *tree_selected(struct tree *t)
{
    GuiItem *item = table_selected(t->table);
    return item ? item->key : NULL;
}

void tree_take(struct tree *t, const GPtrArray *variables)
{
    GPtrArray *items = g_ptr_array_new();
    for (unsigned i = 0; i < variables->len; i++) {
        const struct variable *v = g_ptr_array_index(variables, i);
        GuiItem *item = item_new(v->name, v->value, v->type, v->expression);
        item->look = v->changed ? LOOK_CHANGED : LOOK_PLAIN;
        item->has_parts = v->has_parts;
        g_ptr_array_add(items, item);
    }
    table_take(t->table, items);
}
