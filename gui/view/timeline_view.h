/* timeline_view.h - the recording over time: a lane per thread, and a cursor to drag.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef GUI_VIEW_TIMELINE_VIEW_H
#define GUI_VIEW_TIMELINE_VIEW_H

#include "gui/view/window.h"

struct timeline_view *timeline_view_new(struct window *w);
GtkWidget *timeline_view_widget(struct timeline_view *v);
GtkWidget *
timeline_view_label(struct timeline_view *v);     /* says where the cursor is, for the status bar */
void timeline_view_stop(struct timeline_view *v); /* it goes nowhere any more */
void timeline_view_changed(struct timeline_view *v, enum debugger_change change);

#endif
