/* pane_executions.c - each time a line or a function was executed, or all values of
 * a variable.
 * SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/asked.h"
#include "gui/view/panes.h"

enum list { LINES, CALLS, VALUES, LISTS };

#define ROWS_MOST "5000" /* a person reads no more */

struct executions_pane {
    struct pane pane;
    struct asked *asked[LISTS];
    GtkWidget *stack, *entry;
    enum list list;   /* the one that is shown */
    char *of, *where; /* FILE:LINE, a function, or an expression; where that is meant */
    char *print;      /* what to tell of each execution, or NULL */
};

static const char *const names[LISTS] = {"lines", "calls", "values"};

/* `lines a.c:5 --print x`, `calls f`, `values x at T1:2:3` */
static void ask(void *arg, const struct value *nothing)
{
    struct executions_pane *p = arg;
    const char *words[10], **at = words;
    (void)nothing;
    *at++ = names[p->list];
    *at++ = p->of;
    if (p->where) {
        *at++ = "at";
        *at++ = p->where;
    }
    *at++ = "--limit";
    *at++ = ROWS_MOST;
    if (p->print && p->list != VALUES) {
        *at++ = "--print";
        *at++ = p->print;
    }
    *at = NULL;
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), names[p->list]);
    gtk_widget_set_visible(p->entry, p->list != VALUES);
    asked_ask(p->asked[p->list], words);
}

static struct executions_pane *set(struct window *w, enum list list, char *of, const char *where)
{
    struct executions_pane *p = (struct executions_pane *)window_pane(w, "executions");
    g_free(p->of);
    g_free(p->where);
    g_clear_pointer(&p->print, g_free);
    p->list = list;
    p->of = of;
    p->where = g_strdup(where);
    gtk_editable_set_text(GTK_EDITABLE(p->entry), "");
    return p;
}

/* Each variable of the line is worth seeing, but which those are only GDB knows: the user names
 * them. */
void executions_ask_line(struct window *w, const char *file, unsigned line)
{
    char *of = g_strdup_printf("%s:%u", text_base(file), line);
    struct executions_pane *p = set(w, LINES, of, NULL);
    window_show_pane(w, "executions");
    ask(p, NULL);
}

void executions_ask_calls(struct window *w, const char *function)
{
    struct executions_pane *p = set(w, CALLS, g_strdup(function), NULL);
    window_show_pane(w, "executions");
    debugger_trace(w->debugger, ask, p);
}

void executions_ask_values(struct window *w, const char *expression)
{
    struct executions_pane *p = set(w, VALUES, g_strdup(expression), w->debugger->session.position);
    window_show_pane(w, "executions");
    debugger_trace(w->debugger, ask, p);
}

static void on_entry(GtkEntry *entry, struct executions_pane *p)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    g_free(p->print);
    p->print = *text ? g_strdup(text) : NULL;
    if (p->of)
        ask(p, NULL);
    else
        window_toast(p->pane.window, "Choose Executions of This Line in the source first");
}

static void changed(struct pane *pane, enum debugger_change change)
{
    struct executions_pane *p = (struct executions_pane *)pane;
    if (change != CHANGE_RECORDING)
        return;
    set(pane->window, LINES, NULL, NULL);
    for (int i = 0; i < LISTS; i++)
        asked_clear(p->asked[i]);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), names[LINES]);
    gtk_widget_set_visible(p->entry, TRUE);
}

struct pane *executions_pane_new(struct window *w)
{
    static const struct asked_kind kinds[LISTS] = {
        [LINES] = {.name = "Executions",
                   .work = "Reading executions",
                   .at = "at",
                   .column = {{"Moment", "at", 190, true},
                              {"Place", "place", 170, true},
                              {"Values", "*", 0, true}},
                   .nothing = "This line was never executed.",
                   .before = "Each time that a line or a function was executed: choose Executions "
                             "on it in the source.\n"
                             "All values of a variable: choose All Values on it."},
        [CALLS] = {.name = "Calls",
                   .work = "Reading calls",
                   .at = "at",
                   .column = {{"Moment", "at", 170, true},
                              {"Function", "function", 120, true},
                              {"Arguments", "arguments", 0, true},
                              {"Result", "result", 80, true},
                              {"Called at", "caller", 120, true}},
                   .nothing = "This function was never called.",
                   .before = ""},
        [VALUES] = {.name = "Values",
                    .work = "Reading values",
                    .at = "at",
                    .column = {{"Moment", "at", 190, true},
                               {"Place", "place", 170, true},
                               {"Value", "value", 0, true}},
                    .nothing = "It was never written.",
                    .before = ""}};
    struct executions_pane *p = g_new0(struct executions_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->stack = gtk_stack_new();
    for (int i = 0; i < LISTS; i++) {
        p->asked[i] = asked_new(w, &kinds[i]);
        gtk_stack_add_named(GTK_STACK(p->stack), asked_widget(p->asked[i]), names[i]);
    }
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->entry), "Expressions to show, with commas between");
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Expressions", -1);
    gtk_widget_add_css_class(p->entry, "filter");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_entry), p);
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), p->stack);
    p->pane.widget = box;
    p->pane.changed = changed;
    return &p->pane;
}
