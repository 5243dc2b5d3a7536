/* launch.h - programs that are started here: live, recorded, or searched for a bug.
 * SPDX-License-Identifier: MIT */
#ifndef GUI_VIEW_LAUNCH_H
#define GUI_VIEW_LAUNCH_H

#include "gui/view/window.h"

/* The one that was started last, as the settings have it. */
void launch_last(struct window *w, struct program *p);
/* Remembers it. False: it cannot be started, that was told. */
bool launch_accept(struct window *w, const struct program *p);

/* In a live session, stopped at main. */
void launch_live(struct window *w, const struct program *p);
/* Records it in the terminal and opens the recording; until_failure: under odd schedules, again and
 * again until a run fails, for a minute at most. */
void launch_record(struct window *w, const struct program *p, bool until_failure);
/* Opens a recording that was made here: in a window of its own if a live program would end. */
void launch_result(struct window *w, const char *path);

/* The button: begins or ends a region of a live program, ends a recording, or asks for a program.
 */
void launch_button(struct window *w);
void launch_restart(struct window *w);

/* dialog_program.c, dialog_find.c */
void dialog_program(struct window *w);
void dialog_find(struct window *w);
/* dialog_settings.c */
void dialog_settings(struct window *w);
void settings_apply(struct window *w); /* those for GDB */

#endif
