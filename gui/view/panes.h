/* panes.h - what panes offer to the rest of the window. SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_PANES_H
#define GUI_VIEW_PANES_H

#include "gui/view/window.h"

#define PANE(id, title, place) struct pane *id##_pane_new(struct window *w);
#include "gui/view/panes.def"
#undef PANE

/* The story of an expression here, or of the failure: asked for, shown in the pane Slices. */
void story_ask(struct window *w, const char *expression);
/* The position of its line that has a race in it, or of its first line; NULL: there is none. */
const char *story_cause(struct window *w);
struct slice_bar *slices_bar(struct window *w);
/* All lines of the current slice as text. To be freed. */
char *slice_text(struct window *w);
/* The current one as text. To be freed. */
char *story_text(struct window *w);

void executions_ask_values(struct window *w, const char *expression);
void executions_ask_line(struct window *w, const char *file, unsigned line);
void executions_ask_calls(struct window *w, const char *function);
/* The terminal of programs that are started here. For one that gets it from elsewhere: its path, to
 * be freed; NULL: there is none. */
char *terminal_tty(struct window *w);
/* Starts a command in it; fn gets its status as wait() has it, or -1. */
typedef void terminal_ended(void *arg, int status);
void terminal_run(struct window *w, char *argv[], terminal_ended *fn, void *arg);
bool terminal_is_running(struct window *w);
void terminal_stop(struct window *w);

void watches_add(struct window *w, const char *expression);
/* What is selected in Watches or Locals, whichever has the focus; NULL: neither has, or nothing is.
 */
char *watches_selected(struct window *w);
struct tree *locals_tree(struct window *w);
/* What GDB's console says. */
void console_say(struct window *w, const char *text);

#endif
