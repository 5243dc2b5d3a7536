/* divert.h - this process leaves the log. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_DIVERT_H
#define REPLAYER_TARGET_DIVERT_H

#include "engine/core/thread.h"

void divert(void);
bool divert_is_on(void);
void divert_go_on(struct thread *t); /* before it runs: a signal may be due */

#endif
