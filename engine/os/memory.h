/* memory.h - system calls that change the target's address space.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel does the work; afterwards translations of what changed are dropped (maps.h). The
 * runtime's own ranges are out of the target's reach.
 */
#ifndef ENGINE_OS_MEMORY_H
#define ENGINE_OS_MEMORY_H

#include "engine/core/thread.h"

long memory_mmap(struct thread *t, long *a);
long memory_munmap(struct thread *t, long *a);
long memory_mprotect(struct thread *t, long *a); /* pkey_mprotect too */
long memory_mremap(struct thread *t, long *a);
long memory_brk(struct thread *t, long *a);
long memory_shmat(struct thread *t, long *a);
long memory_shmdt(struct thread *t, long *a);
long memory_madvise(struct thread *t, long *a);

#endif
