/* table.h - a list with columns, as most panes are. SPDX-License-Identifier: MIT
 *
 * A row acts by a click, or by Return when it has the focus. Each row has its cells as its
 * accessible name. While there is nothing to show, a sentence says why.
 */
#ifndef GUI_VIEW_TABLE_H
#define GUI_VIEW_TABLE_H

#include "gui/view/item.h"

struct table;

struct table_column {
    const char *title;
    int width; /* in pixels; 0: what is left */
    bool code; /* in the font of the source */
};

struct table_kind {
    const char *name; /* for people who hear it */
    const struct table_column *columns;
    unsigned count;
    bool click; /* one click acts; else two do */
    void (*activated)(void *arg, GuiItem *item);
    /* For a tree: it fills item->parts, at once or later. NULL: it is a list. */
    void (*opened)(void *arg, GuiItem *item);
    /* The right button, or the menu key. NULL: there is no menu. */
    void (*menu)(void *arg, GuiItem *item, GtkWidget *at);
};

/* The table lives as long as its widget. */
struct table *table_new(const struct table_kind *kind, void *arg);
GtkWidget *table_widget(struct table *t);

/* Replaces all rows by those of an array of GuiItem, which it frees. */
void table_take(struct table *t, GPtrArray *items);
void table_say(struct table *t, const char *text); /* what is shown while there are no rows */
void table_select(struct table *t, unsigned row);
GuiItem *table_selected(struct table *t); /* or NULL; not a reference */
/* So that it is seen, in the middle if it was not. */
void table_scroll_to(struct table *t, unsigned row);
unsigned table_rows(struct table *t);
GuiItem *table_row(struct table *t, unsigned row); /* not a reference */

#endif
