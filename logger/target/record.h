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

/* ---- with a debugger (live/target) ---- */

struct record_at;
/* The thread that ran last stands here; NULL: it is over. */
void record_stop(const struct thread *last);
/* What a debugger has changed, with where the running thread was before; `due`: it is not inside a
 * system call. */
struct record_changed {
    struct thread *running;
    const struct record_at *at;
    uint64_t rflags;
    bool due;
};
struct record_at record_here(const struct thread *t);
void record_poke_memory(const struct record_changed *c, gaddr addr, uint64_t bytes);
void record_poke_registers(const struct record_changed *c, struct thread *of, bool vector);

#endif
