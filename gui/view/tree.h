/* tree.h - variables that can be opened: Locals and Watches. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_TREE_H
#define GUI_VIEW_TREE_H

#include "gui/view/window.h"

struct tree;

struct tree *tree_new(struct window *w, const char *name, const char *nothing);
GtkWidget *tree_widget(struct tree *t);
/* struct variable *. Outermost rows that were open stay open. */
void tree_take(struct tree *t, const GPtrArray *variables);
const char *tree_selected(struct tree *t); /* the expression, or NULL */

#endif
