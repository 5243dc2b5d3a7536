/* state.h - where a recording begins in the middle. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_STATE_H
#define REPLAYER_TARGET_STATE_H

#include "engine/core/thread.h"
#include "pinball/record_state.h"

struct sink_writer;

void state_tell_space(void); /* to the supervisor */
void state_tell_threads(struct thread *self);
void state_tell_changes(void); /* changes.h */
void state_tell_object(struct sink_writer *to, uint32_t number, int fd, uint64_t bytes);
void state_take_process(struct thread *first, const struct record_process *r);
bool state_take_thread(struct thread *first, const struct record_state *s); /* true: the last one */

/* A gap (gap.h): threads and processes that are there, and others, have this state from now on. */
void state_change_begin(void);
void state_change_process(const struct record_process *r);
/* *is_new: it had not begun before. */
struct thread *state_change_thread(const struct record_state *s, bool *is_new);
void state_change_end(void);

#endif
