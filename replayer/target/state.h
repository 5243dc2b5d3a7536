/* state.h - where a recording begins in the middle. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_STATE_H
#define REPLAYER_TARGET_STATE_H

#include "engine/core/thread.h"
#include "pinball/record_state.h"

void state_tell_space(void); /* to the supervisor */
void state_tell_threads(struct thread *self);
void state_take_process(struct thread *first, const struct record_process *r);
bool state_take_thread(struct thread *first, const struct record_state *s); /* true: the last one */

#endif
