/* places.h - places in the code that parts of a run begin and end with.
 *
 * SPDX-License-Identifier: MIT
 *
 * The program does not know names. Whenever it maps a file with code, the recorder is asked where
 * in it the functions, lines and probes are that triggers name. A place is forgotten when its
 * mapping goes. The baton is held.
 */
#ifndef LOGGER_TARGET_PLACES_H
#define LOGGER_TARGET_PLACES_H

#include "engine/core/thread.h"

/* Whether there are triggers that name places. */
bool places_wanted(void);

/* Before the first instruction: the files that are mapped now. */
void places_begin(const struct thread *t);

/* After a system call. */
void places_called(const struct thread *t, long nr, long result);

/* Which triggers mean this pc: a bit for the number of each. */
uint32_t places_at(gaddr pc);

/* The program's own first instruction: what it begins with is mapped. */
bool places_is_entry(gaddr pc);
void places_loaded(void);

#endif
