/* item.h - a row of a pane's list. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_ITEM_H
#define GUI_VIEW_ITEM_H

#include <gtk/gtk.h>
#include <stdbool.h>

enum item_look { LOOK_PLAIN, LOOK_CURRENT, LOOK_CHANGED, LOOK_DIM, LOOK_WARN };

#define GUI_TYPE_ITEM gui_item_get_type()
G_DECLARE_FINAL_TYPE(GuiItem, gui_item, GUI, ITEM, GObject)

enum { ITEM_CELLS = 8 };

struct _GuiItem {
    GObject parent;
    char *cell[ITEM_CELLS]; /* as they are shown: through model/text.h */
    char *position;         /* the moment that the row is about, or NULL */
    char *key; /* what the pane knows it by: a number, an expression, a file; or NULL */
    unsigned line;
    enum item_look look;
    bool has_parts;    /* a tree's row that can be opened */
    GListStore *parts; /* once it is shown */
    bool asked;        /* for its parts: when it is opened first */
};

/* Texts are taken: cells that are missing are "". */
GuiItem *gui_item_new(void);
/* Takes the text. */
void gui_item_set(GuiItem *item, unsigned cell, char *text);
/* All cells in one text, for people who hear it. To be freed. */
char *gui_item_words(const GuiItem *item);

#endif
