/* pane_locals.c - the variables of the frame that is looked at, as a tree. SPDX-License-Identifier:
 * MIT */
#include "gui/model/variables.h"
#include "gui/view/panes.h"
#include "gui/view/tree.h"

struct locals_pane {
    struct pane pane;
    struct tree *tree;
    struct variables variables;
    struct value *types;
};

static char *scope(struct locals_pane *p)
{
    const struct session *s = &p->pane.window->debugger->session;
    return g_strdup_printf("%s %u %u", s->frame.function ? s->frame.function : "", s->gdb_thread,
                           s->frame.level);
}

static void take(struct locals_pane *p, const struct value *values, const struct value *types)
{
    char *name = scope(p);
    variables_take(&p->variables, name, values, types);
    tree_take(p->tree, p->variables.list);
    g_free(name);
}

/* First the types, then the values: both lists have the same order. */
static void on_values(void *arg, const struct mi_record *result)
{
    struct locals_pane *p = arg;
    if (result)
        take(p, result->results, p->types);
    value_free(p->types);
    p->types = NULL;
}

static struct value *copy(const struct value *v)
{
    struct value *made = v->text ? value_new_text(v->name, v->text) : value_new(v->kind, v->name);
    for (unsigned i = 0; i < value_count(v); i++)
        value_add(made, copy(value_at(v, i)));
    return made;
}

static void on_types(void *arg, const struct mi_record *result)
{
    struct locals_pane *p = arg;
    if (!result)
        return;
    value_free(p->types);
    p->types = copy(result->results);
    debugger_query(p->pane.window->debugger, "-stack-list-variables --all-values", on_values, p);
}

static void refresh(struct pane *pane)
{
    debugger_query(pane->window->debugger, "-stack-list-variables --simple-values", on_types, pane);
}

struct tree *locals_tree(struct window *w)
{
    return ((struct locals_pane *)window_pane(w, "locals"))->tree;
}

struct pane *locals_pane_new(struct window *w)
{
    struct locals_pane *p = g_new0(struct locals_pane, 1);
    variables_init(&p->variables);
    p->tree = tree_new(w, "Locals", "This frame has no variables with debug information.");
    p->pane.widget = tree_widget(p->tree);
    p->pane.refresh = refresh;
    p->pane.refresh_on = PANE_MOVED;
    return &p->pane;
}
