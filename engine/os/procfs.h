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

/* How many opened maps wait for their first use; with some, every call is announced here first. */
extern int procfs_unread;
void procfs_touch(long nr, const long *a);

/* /proc/self/mem was opened for writing: any write may change code unseen. */
extern bool procfs_memory_open;

long procfs_open(struct thread *t, long *a);
long procfs_openat(struct thread *t, long *a);

#endif
