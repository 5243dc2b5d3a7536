/* timeline_debuggee.h - a recording as a program that a debugger looks into.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_TIMELINE_DEBUGGEE_H
#define REPLAYER_TIMELINE_DEBUGGEE_H

#include "debug/debuggee.h"

struct timeline;

/* The timeline is the debuggee's from here on: debuggee_close() frees it. */
struct debuggee timeline_debuggee(struct timeline *timeline);

#endif
