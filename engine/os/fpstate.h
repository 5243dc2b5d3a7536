/* fpstate.h - the extended registers (x87, SSE, AVX, ...) in memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * They are never touched by the runtime's own code, so while a thread is in the runtime the
 * hardware still holds the target's values. What is written out depends on those values alone:
 * whether the CPU happens to track a component as in use (XINUSE) does not show.
 */
#ifndef ENGINE_OS_FPSTATE_H
#define ENGINE_OS_FPSTATE_H

#include "engine/core/thread.h"

void fpstate_init(void);

uint64_t fpstate_bytes(void);    /* of the standard format with all enabled components */
uint64_t fpstate_features(void); /* in signal frames */
uint64_t fpstate_visible(void);  /* of those, the ones that the target knows of and can use */
/* Only these from now on, as on the machine of a recording. False: this CPU lacks some. */
bool fpstate_restrict(uint64_t to);

/* The target is to know of no others than these. */
void fpstate_limit(uint64_t to);

/* Takes out of an answer of cpuid what the target must not use: components that are hidden. */
void fpstate_hide(uint32_t leaf, uint32_t sub, uint32_t r[4]);

/* Saves the components of `mask` to t->xsave, standard format, deterministic XSTATE_BV. */
void fpstate_save(struct thread *t, uint64_t mask);
/* Loads t->xsave, whatever it holds. */
void fpstate_load(struct thread *t, uint64_t mask);
/* What a signal handler starts with. */
void fpstate_reset(struct thread *t);

/* Which x87 instruction was last, and its operand, is kept by some CPUs at all times and by others
 * (AMD's) only until the next context switch, unless an exception is pending that is not masked. So
 * the target sees zeros, and of that exception the pc: its own, never one of the cache. */
gaddr fpstate_x87_pc(uint16_t status, gaddr fip);
/* The same in what fxsave64 wrote. */
void fpstate_fix_fxsave(uint8_t *x);

/* The xsave instructions. `compact`: xsavec's format. Returns false if memory could not be written.
 */
bool fpstate_xsave(struct thread *t, gaddr addr, uint64_t mask, bool compact);

#endif
