/* guide.h - the sample bug, and three steps to its cause. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_GUIDE_H
#define GUI_VIEW_GUIDE_H

#include "gui/view/window.h"

/* Compiles the sample, records a run of it that fails, opens that, and says what to do next.
 * `button` cannot be pressed meanwhile. */
void guide_begin(struct window *w, GtkWidget *button);
void guide_changed(struct window *w, enum debugger_change change);
/* The last step's button: goes to the write that lost an update. */
void guide_show(struct window *w);

#endif
