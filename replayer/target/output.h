/* output.h - which descriptors are standard output and error. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_OUTPUT_H
#define REPLAYER_TARGET_OUTPUT_H

#include "engine/core/thread.h"
#include "pinball/record.h"

void output_after(struct thread *t, long nr, const long a[6], int64_t result);
/* ... and of a call that opened a descriptor, by the flags of its record. */
void output_opened(struct thread *t, int64_t fd, uint8_t flags);
int64_t output_given(long nr, const long a[6]); /* what a write or writev is to write */
void output_child(void); /* a process that shares the memory begins, with the same descriptors */
void output_inherited(const struct record_output *o);
void output_received(const struct thread *t, const struct record_output *o);
uint8_t *output_table(void);                   /* MAILBOX_FDS entries */
void output_high(void (*fn)(long fd, int to)); /* those that have no entry there */
uint8_t *output_child_table(void);

#endif
