/* twin.h - a copy of the program that the program cannot see.
 *
 * SPDX-License-Identifier: MIT
 *
 * A fork, for whoever needs the program's memory as it is now while the program goes on. The twin
 * is a child of the program's parent, so the program's wait, SIGCHLD and times of children know
 * nothing of it. It has a process group of its own, all signals blocked, no descriptors, and it
 * dies with that parent. It has one kernel thread, the caller's; the structs of the others describe
 * them.
 *
 *     long pid = twin_make(-1);
 *     if (pid == 0) { ... in the twin: twin_own_shared(); twin_ready(); and never return ... }
 *     if (pid > 0 && twin_await(pid)) ... it is ready
 *
 * The caller holds the baton, and no side process shares the memory (engine.side_processes).
 */
#ifndef ENGINE_OS_TWIN_H
#define ENGINE_OS_TWIN_H

#include "engine/rt/types.h"

/* Returns its process id; 0 in the twin; a negative errno where the kernel refuses one. keep_fd is
 * a descriptor that the twin goes on to have; -1: none. */
long twin_make(int keep_fd);

/* In the twin: memory that others may write becomes its own, at the same addresses, as it is now.
 * Mappings of one object still show one object. Pages that hold something are present in pagemap.
 */
void twin_own_shared(void);

/* In the twin: what has to be done while the program stands still is done. */
void twin_ready(void);
/* In the program: waits for that. False: the twin died. */
bool twin_await(long pid);

/* In the twin: waits to be read and killed. */
_Noreturn void twin_wait(void);

/* The program asks for memory that is not copied by forks, or empty there. A twin has it. */
void twin_advised(void);

#endif
