/* spin_state.h - what sched/spin.c and os/control.c know about one thread.
 * SPDX-License-Identifier: MIT */
#ifndef ENGINE_CORE_SPIN_STATE_H
#define ENGINE_CORE_SPIN_STATE_H

#include "engine/rt/types.h"

enum { SPIN_LOADS = 6, SPIN_LOOPS = 8 };

/* A loop in which the thread was seen to wait for others. */
struct spin_loop {
    gaddr pc;
    uint64_t key;    /* hash of the registers that addresses depend on ... */
    uint16_t regs;   /* ... these, one bit each */
    uint16_t ticks;  /* of one turn of it */
    uint8_t loads;   /* addresses that it reads */
    bool may_rest;   /* these are all, and only other threads of this process change them */
    uint64_t values; /* hash of what was there when it was last sampled */
    uint8_t bytes[SPIN_LOADS];
    gaddr addr[SPIN_LOADS];
};

struct spin_state {
    uint64_t at;     /* the count at which the next sample is taken */
    uint32_t ticks;  /* from the last one to there */
    uint16_t pauses; /* executed in this turn */
    uint16_t hints;  /* ... and clocks read, since the last sample */
    bool news;       /* a known loop has read something else than before, in this turn */
    bool soon;       /* the budget ends early for a sample: none of hot.c's */
    uint8_t next;    /* entry of loop to be used next */
    struct spin_loop loop[SPIN_LOOPS];
    const struct spin_loop *met;    /* the last sample met it here, and nothing had changed ... */
    const struct spin_loop *waits;  /* ... nor after exactly one turn of that loop */
    const struct spin_loop *rests;  /* it needs no turn until something here changes */
    uint64_t yield_pc, yield_count; /* of the last sched_yield ... */
    uint64_t yield_ticks;           /* ... and ticks from the one before to it */
};

/* Under a controlled schedule: os/control.h. */
struct control_state {
    uint64_t wake_at; /* it is asleep until then; 0: not */
    uint64_t tried;   /* calls of all threads, when it tried its own in vain */
    bool late, tries; /* its time came; it tries a call again and again */
    bool waits;       /* nobody else can run: the kernel may keep it waiting */
};

#endif
