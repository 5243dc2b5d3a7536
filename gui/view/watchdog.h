/* watchdog.h - writes down what the main loop was busy with, and when. SPDX-License-Identifier: MIT
 *
 * While the main loop is busy the window neither draws nor listens. Tests and benches name a file
 * in DRDEBUG_GUI_WATCH, which gets lines: what, how many ms, when it began by CLOCK_MONOTONIC in
 * ms.
 *
 *     busy 12.3 AT   a round of the loop that took 10 ms or more
 *     frame 4.5 AT   a frame: layout and painting
 *     place 0.0 AT   the source line of a stop is shown, from the next frame on
 *     panes 0.0 AT   GDB and questions are idle: so are the panes, from the next frame on
 *
 * Time in which the loop was ready and another program had the processor is not counted.
 */
#ifndef GUI_VIEW_WATCHDOG_H
#define GUI_VIEW_WATCHDOG_H

#include <gtk/gtk.h>

/* Before the main loop. Without the variable it and the others do nothing. */
void watchdog_start(void);
/* Its frames, once it is shown. */
void watchdog_watch(GtkWidget *window);
void watchdog_note(const char *what);

#endif
