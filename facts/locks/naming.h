/* naming.h - names of what threads hold and wait for. SPDX-License-Identifier: MIT */
#ifndef FACTS_LOCKS_NAMING_H
#define FACTS_LOCKS_NAMING_H

#include "facts/locks/locks.h"

/* The variable, as it is named at pc; else its address. `frame` may be NULL. */
void naming_lock(struct study *s, gaddr pc, const struct source_frame *frame, gaddr lock, char *buf,
                 size_t room);
/* What somebody waits for: the variable, or a thread's number. */
void naming_wait(struct study *s, const struct locks_wait *w, char *buf, size_t room);

#endif
