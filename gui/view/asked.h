/* asked.h - a list of what `drdebug ask` has answered; a row goes to its moment.
 * SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_ASKED_H
#define GUI_VIEW_ASKED_H

#include "gui/view/window.h"

enum { ASKED_COLUMNS = 6 };

struct asked_column {
    const char *title, *name; /* for people; in the answer */
    int width;                /* as table_column's */
    bool code;
};

struct asked_kind {
    const char *name, *work; /* the list's; what is done meanwhile */
    const char *at;          /* the column with the moment to go to */
    struct asked_column column[ASKED_COLUMNS];
    const char *nothing;  /* said if there are no rows */
    const char *before;   /* said before it was asked */
    const char *narrower; /* said if there are more rows: what shows others; or NULL */
};

struct asked;

struct asked *asked_new(struct window *w, const struct asked_kind *kind);
GtkWidget *asked_widget(struct asked *a);
/* The words of the question, ended by NULL. */
void asked_ask(struct asked *a, const char *const words[]);
void asked_clear(struct asked *a);
/* Called with each row; the first has the number 1. */
void asked_on_row(struct asked *a, answer_row *fn, void *arg);
/* Called when all rows are there. */
void asked_on_answer(struct asked *a, debugger_answered *fn, void *arg);

#endif
