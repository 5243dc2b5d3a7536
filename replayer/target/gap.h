/* gap.h - instructions that the recording leaves out. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_GAP_H
#define REPLAYER_TARGET_GAP_H

#include "engine/core/thread.h"

/* The next record is RECORD_GAP, and the thread has come to it: its position and registers were
 * compared. Everything is made as it is behind the gap, and the thread goes on that runs there. */
_Noreturn void gap_cross(struct thread *t);

#endif
