/* form.h - dialogs with several entries. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_FORM_H
#define GUI_VIEW_FORM_H

#include "gui/view/window.h"

struct form {
    struct window *window;
    GtkWidget *dialog, *grid, *buttons;
    int rows;
};

/* A dialog with a grid above a row of buttons. It goes with Escape. */
void form_init(struct form *f, struct window *w, const char *title, int width);
/* A row with a label and an entry; `hint` is seen while it is empty. */
GtkWidget *form_entry(struct form *f, const char *label, const char *text, const char *hint);
GtkWidget *form_check(struct form *f, const char *label, bool on);
GtkWidget *form_choice(struct form *f, const char *label, const char *const choices[]);
/* A sentence over the whole width. */
GtkWidget *form_say(struct form *f, const char *text);
/* The last one is the one that Return presses. */
GtkWidget *form_button(struct form *f, const char *label, GCallback fn, void *arg);
/* Shows it; `data` lives as long as it. */
void form_show(struct form *f, void *data, GDestroyNotify free);

#endif
