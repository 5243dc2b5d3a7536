/* slice_bar.h - the slices of the session, and what can be made of them. SPDX-License-Identifier:
 * MIT */
#ifndef GUI_VIEW_SLICE_BAR_H
#define GUI_VIEW_SLICE_BAR_H

#include "gui/view/window.h"

struct slice_bar;

struct slice_bar *slice_bar_new(struct window *w);
GtkWidget *slice_bar_widget(struct slice_bar *b);
/* There is another slice, or none. */
void slice_bar_changed(struct slice_bar *b);

/* Actions: without a variable, with another slice, into a file. */
void slice_prune(struct window *w);
void slice_unprune(struct window *w);
void slice_unite(struct window *w);
void slice_common(struct window *w);
void slice_subtract(struct window *w);
void slice_delete(struct window *w);
void slice_export(struct window *w);

#endif
