/* instances.h - which time a line was executed. SPDX-License-Identifier: MIT
 *
 * Instance n of a line in a thread begins where GDB's breakpoint at the line stops the thread for
 * the nth time. Code that counts to a call belongs to the instance of the call's line.
 */
#ifndef SLICER_REPORT_INSTANCES_H
#define SLICER_REPORT_INSTANCES_H

#include "slicer/report/report.h"

/* For each node of a report that lists its nodes: the instance of its row's line; 0 before the
 * first, and of rows without lines. To be freed. NULL with *err set. */
uint32_t *instances_find(struct study *s, const struct report *report, struct err *err);

#endif
