/* ptrace.h - the one use of ptrace that works under the engine.
 *
 * SPDX-License-Identifier: MIT
 *
 * LeakSanitizer stops its own process from a clone that shares the memory, to look at registers.
 * The kernel's ptrace does stop the threads; the registers shown are the target's. All other uses:
 * EPERM.
 */
#ifndef ENGINE_OS_PTRACE_H
#define ENGINE_OS_PTRACE_H

#include "engine/core/thread.h"

long ptrace_call(struct thread *t, long *a);

#endif
