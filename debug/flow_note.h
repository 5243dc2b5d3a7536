/* flow_note.h - is a note of a trace well-formed?
 *
 * SPDX-License-Identifier: MIT
 *
 * Notes come from a replaying process or from a file, and both may be a stranger's. After this
 * check a reader finds all that the kind has, and ranges that lie in a program's memory.
 */
#ifndef DEBUG_FLOW_NOTE_H
#define DEBUG_FLOW_NOTE_H

#include <stddef.h>

#include "debug/flow.h"

/* The note, in private memory of `room` bytes. NULL: it is good; else what is wrong with it. */
const char *flow_note_check(const struct flow_note *note, size_t room);

#endif
