/* watchdog.h - writes down when the main loop was busy for long. SPDX-License-Identifier: MIT
 *
 * While the main loop is busy the window neither draws nor listens. Tests and benches name a file
 * in DRDEBUG_GUI_WATCH; each round of the loop that took 10 ms or more is a line there:
 *
 *     BUSY AT        in milliseconds: how long; when it began, by CLOCK_MONOTONIC
 *
 * Time in which the loop was ready and another program had the processor is not counted.
 */
#ifndef GUI_VIEW_WATCHDOG_H
#define GUI_VIEW_WATCHDOG_H

/* Before the main loop. Without the variable it does nothing. */
void watchdog_start(void);

#endif
