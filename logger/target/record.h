/* record.h - the recording session, from the middle of a run on. SPDX-License-Identifier: MIT */
#ifndef LOGGER_TARGET_RECORD_H
#define LOGGER_TARGET_RECORD_H

#include "engine/core/thread.h"

void record_open(void);                 /* the log, before anything is noted */
void record_ranges(void);               /* the runtime's, far from it */
void record_begin(struct thread *t);    /* the state is noted: t goes on */
void record_end_part(struct thread *t); /* the program goes on without being recorded */
/* While no thread runs: the one that ran last; and another one has its turn. */
uint32_t record_last(void);
void record_switch(struct thread *t);

#endif
