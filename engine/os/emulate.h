/* emulate.h - instructions whose results are the engine's to see.
 *
 * SPDX-License-Identifier: MIT
 *
 * rdtsc, rdtscp, rdpid, cpuid, rdrand, rdseed, xgetbv, the xsave family, popf and the gs base
 * instructions. What they deliver is not a function of the target's state, so a recording has to
 * pass through here.
 */
#ifndef ENGINE_OS_EMULATE_H
#define ENGINE_OS_EMULATE_H

#include "engine/core/thread.h"

void emulate(struct thread *t);             /* the instruction at t->cpu.rip */
void emulate_unsupported(struct thread *t); /* says which one it is; the target gets SIGILL */

#endif
