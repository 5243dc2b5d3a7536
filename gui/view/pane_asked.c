/* pane_asked.c - panes that are one question: Output, Events, Races, Locks.
 * SPDX-License-Identifier: MIT
 *
 * Output and Events need no trace and are asked when they are first seen. The others need one:
 * nothing collects it unasked, the pane has a button.
 */
#include <string.h>

#include "gui/model/text.h"
#include "gui/view/asked.h"
#include "gui/view/panes.h"
#include "gui/view/timeline_view.h"

#define ROWS_MOST "20000" /* a person reads no more */

struct question {
    struct asked_kind kind;
    const char *word;        /* the question's */
    bool traced;             /* it needs a trace */
    const char *button;      /* that asks it */
    const char *filter;      /* what the filter is of; NULL: there is none */
    enum timeline_kind mark; /* TIMELINE_RUN: rows are no marks */
};

struct asked_pane {
    struct pane pane;
    const struct question *question;
    struct asked *asked;
    GtkWidget *stack, *estimate, *entry;
};

static void add_mark(void *arg, const struct value *row)
{
    struct asked_pane *p = arg;
    struct timeline *t = p->pane.window->debugger->timeline;
    const char *at = value_say(row, p->question->kind.at);
    char *label = text_line(value_say(row, "what"));
    uint64_t ticks;
    if (value_number(row, "row", 0) == 1)
        timeline_clear_marks(t, p->question->mark);
    if (timeline_when_position(t, at, &ticks))
        timeline_add_mark(t, p->question->mark, (uint32_t)g_ascii_strtoull(at + 1, NULL, 10), ticks,
                          label);
    g_free(label);
}

static void show_marks(void *arg, const struct value *answer)
{
    struct asked_pane *p = arg;
    (void)answer;
    timeline_view_changed(p->pane.window->timeline, CHANGE_MARKS);
}

static void ask(void *arg, const struct value *nothing)
{
    struct asked_pane *p = arg;
    const char *filter = p->entry ? gtk_editable_get_text(GTK_EDITABLE(p->entry)) : "";
    char **words = g_strsplit(filter, " ", -1);
    GPtrArray *all = g_ptr_array_new();
    (void)nothing;
    g_ptr_array_add(all, (char *)p->question->word);
    for (char **word = words; *word; word++)
        if (**word)
            g_ptr_array_add(all, *word);
    if (!p->question->traced) {
        g_ptr_array_add(all, "--limit");
        g_ptr_array_add(all, ROWS_MOST);
    }
    g_ptr_array_add(all, NULL);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "rows");
    asked_ask(p->asked, (const char *const *)all->pdata);
    g_ptr_array_unref(all);
    g_strfreev(words);
}

static void on_button(GtkButton *button, struct asked_pane *p)
{
    (void)button;
    debugger_trace(p->pane.window->debugger, ask, p);
}

static void on_filter(GtkEntry *entry, struct asked_pane *p)
{
    (void)entry;
    ask(p, NULL);
}

/* About 18 instructions for a tick, and 50 M of them a second: what programs of the test suite
 * take. */
static void tell_estimate(struct asked_pane *p)
{
    const struct session_recording *r = &p->pane.window->debugger->session.recording;
    uint64_t instructions = r->instructions ? r->instructions : r->ticks * 18;
    char *number = text_short_number(instructions);
    char *text = g_strdup_printf("This needs the trace of about %s instructions: %s.", number,
                                 instructions < 500000000 ? "a few seconds" : "minutes");
    gtk_label_set_text(GTK_LABEL(p->estimate), text);
    g_free(text);
    g_free(number);
}

static void refresh(struct pane *pane)
{
    struct asked_pane *p = (struct asked_pane *)pane;
    struct debugger *d = pane->window->debugger;
    asked_clear(p->asked);
    if (!d->session.recording.path)
        return;
    bool wait = p->question->traced &&
                !d->traced; /* so it is asked by its button while a program is live */
    if (wait)
        tell_estimate(p);
    gtk_stack_set_visible_child_name(GTK_STACK(p->stack), wait ? "button" : "rows");
    if (!wait)
        ask(p, NULL);
}

/* What a live program has done grows with each stop. */
static void changed(struct pane *pane, enum debugger_change change)
{
    const struct session *s = &pane->window->debugger->session;
    if (change == CHANGE_PLACE && s->recording.live && s->now)
        pane->old = true;
}

static GtkWidget *make_button(struct asked_pane *p)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8);
    GtkWidget *button = gtk_button_new_with_label(p->question->button);
    p->estimate = window_label("");
    gtk_label_set_wrap(GTK_LABEL(p->estimate), TRUE);
    gtk_label_set_xalign(GTK_LABEL(p->estimate), 0.5f);
    gtk_widget_add_css_class(p->estimate, "dim-label");
    gtk_widget_set_halign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_margin_start(box, 12);
    gtk_widget_set_margin_end(box, 12);
    g_signal_connect(button, "clicked", G_CALLBACK(on_button), p);
    gtk_box_append(GTK_BOX(box), p->estimate);
    gtk_box_append(GTK_BOX(box), button);
    return box;
}

static GtkWidget *make_filter(struct asked_pane *p)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    p->entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(p->entry), p->question->filter);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Filter", -1);
    gtk_widget_add_css_class(p->entry, "filter");
    g_signal_connect(p->entry, "activate", G_CALLBACK(on_filter), p);
    gtk_box_append(GTK_BOX(box), p->entry);
    gtk_box_append(GTK_BOX(box), asked_widget(p->asked));
    return box;
}

static struct pane *asked_pane_new(struct window *w, const struct question *question)
{
    struct asked_pane *p = g_new0(struct asked_pane, 1);
    p->question = question;
    p->asked = asked_new(w, &question->kind);
    if (question->mark != TIMELINE_RUN) {
        asked_on_row(p->asked, add_mark, p);
        asked_on_answer(p->asked, show_marks, p);
    }
    p->stack = gtk_stack_new();
    gtk_stack_add_named(GTK_STACK(p->stack),
                        question->filter ? make_filter(p) : asked_widget(p->asked), "rows");
    if (question->traced)
        gtk_stack_add_named(GTK_STACK(p->stack), make_button(p), "button");
    p->pane.widget = p->stack;
    p->pane.changed = changed;
    p->pane.refresh = refresh;
    p->pane.refresh_on =
        PANE_BIT(CHANGE_RECORDING) | (question->traced ? PANE_BIT(CHANGE_TRACE) : 0);
    return &p->pane;
}

struct pane *output_pane_new(struct window *w)
{
    static const struct question question = {
        .kind =
            {.name = "Output",
             .work = "Reading the output",
             .at = "at",
             .column = {{"Text", "text", 0, true},
                        {"To", "to", 70, false},
                        {"Moment", "at", 170, true}},
             .nothing = "The program wrote nothing.",
             .before =
                 "What the program wrote is shown here; a line leads to the moment at which it was written."},
        .word = "output"};
    return asked_pane_new(w, &question);
}

struct pane *events_pane_new(struct window *w)
{
    static const struct question question = {
        .kind = {.name = "Events",
                 .work = "Reading the events",
                 .at = "at",
                 .column = {{"Moment", "at", 170, true},
                            {"What", "what", 110, false},
                            {"Event", "event", 0, true}},
                 .nothing = "Nothing of this kind happened.",
                 .before = "System calls, signals and threads are shown here.",
                 .narrower = "A filter shows others"},
        .word = "events",
        .filter = "Filter: call, signal, thread, a call's name, file, net, fd=3, failed, a path …"};
    return asked_pane_new(w, &question);
}

struct pane *races_pane_new(struct window *w)
{
    static const struct question question = {
        .kind = {.name = "Races",
                 .work = "Looking for races",
                 .at = "then",
                 .column = {{"What", "what", 90, true},
                            {"First", "first_place", 120, true},
                            {"Then", "then_place", 120, true},
                            {"Pattern", "pattern", 110, false},
                            {"Story", "story", 0, false}},
                 .nothing = "There is no race in this recording.",
                 .before = "Races are shown here."},
        .word = "races",
        .traced = true,
        .button = "Look for Races",
        .mark = TIMELINE_RACE};
    return asked_pane_new(w, &question);
}

struct pane *locks_pane_new(struct window *w)
{
    static const struct question question = {
        .kind = {.name = "Locks",
                 .work = "Looking at locks",
                 .at = "at",
                 .column = {{"State", "state", 90, false},
                            {"Lock", "lock", 110, true},
                            {"Thread", "thread", 60, false},
                            {"Place", "place", 120, true},
                            {"Story", "story", 0, false}},
                 .nothing = "No lock is held at the end, and no order of locks could deadlock.",
                 .before = "Locks are shown here."},
        .word = "locks",
        .traced = true,
        .button = "Look at Locks"};
    return asked_pane_new(w, &question);
}
