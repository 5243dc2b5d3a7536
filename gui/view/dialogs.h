/* dialogs.h - the window's questions. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_DIALOGS_H
#define GUI_VIEW_DIALOGS_H

#include "gui/view/window.h"

void dialogs_open(struct window *w, bool folder); /* a recording: a folder, or a packed file */
void dialogs_open_remote(struct window *w);       /* HOST:DIR */
void dialogs_open_source(struct window *w);
void dialogs_goto(struct window *w); /* a line, or a function with completion */
void dialogs_goto_position(struct window *w);
void dialogs_keys(struct window *w);
void dialogs_about(struct window *w);

/* Another value for what is selected, or at the cursor. */
void dialogs_change(struct window *w);

#endif
