/* wording.h - words for what threads hold and wait for. SPDX-License-Identifier: MIT */
#ifndef ASK_WORDING_H
#define ASK_WORDING_H

#include "facts/locks/locks.h"

/* The variable, as it is named at pc; else its address. */
void wording_lock(struct study *s, gaddr pc, gaddr lock, char *buf, size_t room);
/* What somebody waits for: the variable, or a thread's number. */
void wording_wait(struct study *s, const struct locks_wait *w, char *buf, size_t room);

#endif
