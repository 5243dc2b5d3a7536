/* procfs.h - files of /proc that would show the engine.
 *
 * SPDX-License-Identifier: MIT
 *
 * Opening a map of the own address space gives a memfd with the kernel's text less the runtime's
 * ranges.
 */
#ifndef ENGINE_OS_PROCFS_H
#define ENGINE_OS_PROCFS_H

#include "engine/core/thread.h"

/* How many maps are open; while there are some, every call is offered here first. True: it was
 * dealt with, *result is its result. */
extern int procfs_maps;
bool procfs_call(struct thread *t, long nr, const long *a, long *result);

/* /proc/self/mem was opened for writing: any write may change code unseen. */
extern bool procfs_memory_open;

long procfs_open(struct thread *t, long *a);
long procfs_openat(struct thread *t, long *a);
long procfs_openat2(struct thread *t, long *a);

#endif
