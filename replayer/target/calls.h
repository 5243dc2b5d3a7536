/* calls.h - a system call in words for the journal: arguments, and what they point to.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_TARGET_CALLS_H
#define REPLAYER_TARGET_CALLS_H

#include "engine/core/thread.h"

/* A call begins, or is made again after others ran: nothing that the log says of it has been done
 * yet. What it is given is read here. Another thread may have changed that while the call waited;
 * the kernel, too, reads it at some time in between. */
void calls_enter(struct thread *t, long nr, const long a[6]);
/* It is over, and its memory is written; `number` is that of its record. */
void calls_leave(struct thread *t, long nr, int64_t result, uint64_t number);
/* It becomes another program. */
void calls_exec(struct thread *t, long nr);
/* It waits, and thread `to` goes on. */
void calls_wait(struct thread *t, uint32_t to);
/* The recording ends here: calls that are under way have no result. */
void calls_end(void);

#endif
