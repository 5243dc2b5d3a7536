/* live.h - a program that is debugged while it is recorded.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its session (engine/core/session.h) passes everything on to the recorder's, and stops where the
 * debugger wants it: by the same code as a replay (debug/target).
 */
#ifndef LIVE_TARGET_LIVE_H
#define LIVE_TARGET_LIVE_H

#include "engine/core/thread.h"

struct thread *live_last(void); /* the thread that ran last; NULL: it is over */
/* After a stop: is a signal to be delivered? *sig is which one, before and after. */
bool live_signal(int32_t *sig);
/* The thread gets it that the kernel would have given it to, without another stop. */
void live_send(const struct siginfo_raw *info);

#endif
