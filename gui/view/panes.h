/* panes.h - what panes offer to the rest of the window. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_PANES_H
#define GUI_VIEW_PANES_H

#include "gui/view/window.h"

#define PANE(id, title, place) struct pane *id##_pane_new(struct window *w);
#include "gui/view/panes.def"
#undef PANE

/* The story of an expression here, or of the failure: asked for, shown in the pane Slices. */
void story_ask(struct window *w, const char *expression);
/* The current one as text. To be freed. */
char *story_text(struct window *w);

void executions_ask_values(struct window *w, const char *expression);
void executions_ask_line(struct window *w, const char *file, unsigned line);
void watches_add(struct window *w, const char *expression);
/* What GDB's console says. */
void console_say(struct window *w, const char *text);

#endif
