/* pane_executions.c - each time a line was executed, or all values of a variable.
 * SPDX-License-Identifier: MIT */
#include "gui/model/text.h"
#include "gui/view/asked.h"
#include "gui/view/panes.h"

/* Which of the two lists, and what is to be asked once there is a trace. */
struct executions_pane {
    struct pane pane;
    struct asked *lines, *values;
    GtkWidget *stack, *entry;
    char *place,
        *expression; /* of lines: FILE:LINE and what to print; of values: expression and WHERE */
};

static void ask_lines(void *arg, const struct value *nothing)
{
    struct executions_pane *p = arg;
    const char *words[] = {"lines", p->place, "--limit", "5000", "--print", p->expression, NULL};
    (void)nothing;
    if (!p->expression)
        words[4] = NULL;
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "lines");
    asked_ask(p->lines, words);
}

static void ask_values(void *arg, const struct value *nothing)
{
    struct executions_pane *p = arg;
    const char *words[] = {"values", p->expression, "at", p->place, "--limit", "5000", NULL};
    (void)nothing;
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "values");
    asked_ask(p->values, words);
}

static void set(struct executions_pane *p, char *place, char *expression)
{
    g_free(p->place);
    g_free(p->expression);
    p->place = place;
    p->expression = expression;
}

/* Each variable of the line is worth seeing, but which those are only GDB knows: the user names
 * them. */
void executions_ask_line(struct window *w, const char *file, unsigned line)
{
    struct executions_pane *p = (struct executions_pane *)window_pane(w, "executions");
    set(p, g_strdup_printf("%s:%u", text_base(file), line), NULL);
    window_show_pane(w, "executions");
    ask_lines(p, NULL);
}

void executions_ask_values(struct window *w, const char *expression)
{
    struct executions_pane *p = (struct executions_pane *)window_pane(w, "executions");
    set(p, g_strdup(w->debugger->session.position), g_strdup(expression));
    window_show_pane(w, "executions");
    debugger_trace(w->debugger, ask_values, p);
}

static void on_entry(GtkEntry *entry, struct executions_pane *p)
{
    const char *text = gtk_editable_get_text(GTK_EDITABLE(entry));
    if (!p->place)
        window_toast(p->pane.window, "Choose Executions of This Line in the source first");
    else if (gtk_stack_get_visible_child(GTK_STACK(p->stack)) == asked_widget(p->lines)) {
        g_free(p->expression);
        p->expression = *text ? g_strdup(text) : NULL;
        ask_lines(p, NULL);
    }
}

static void changed(struct pane *pane, enum debugger_change change)
{
    struct executions_pane *p = (struct executions_pane *)pane;
    if (change != CHANGE_RECORDING)
        return;
    set(p, NULL, NULL);
    asked_clear(p->lines);
    asked_clear(p->values);
}

struct pane *executions_pane_new(struct window *w)
{
    static const struct asked_kind lines = {
        .name = "Executions",
        .work = "Reading executions",
        .at = "at",
        .column = {{"Moment", "at", 190, true},
                   {"Place", "place", 170, true},
                   {"Values", "*", 0, true}},
        .nothing = "This line was never executed.",
        .before =
            "Each time that a line was executed: choose Executions of This Line in the source.\n"
            "All values of a variable: choose All Values on it."};
    static const struct asked_kind values = {.name = "Values",
                                             .work = "Reading values",
                                             .at = "at",
                                             .column = {{"Moment", "at", 190, true},
                                                        {"Place", "place", 170, true},
                                                        {"Value", "value", 0, true}},
                                             .nothing = "It was never written.",
                                             .before = ""};
    struct executions_pane *p = g_new0(struct executions_pane, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->lines = asked_new(w, &lines);
    p->values = asked_new(w, &values);
    p->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(p->stack), asked_widget(p->lines), "lines");
    gtk_stack_add_named(GTK_STACK(p->stack), asked_widget(p->values), "values");
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
