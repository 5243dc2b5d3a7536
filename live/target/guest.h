/* guest.h - a kernel thread of the runtime's own, which stops the program for a debugger.
 *
 * SPDX-License-Identifier: MIT
 *
 * It sleeps until somebody asks for a pause, or until a key of the terminal arrives, which it gets
 * in the program's place (engine.guest_signals). Then it takes the baton, as a thread of the
 * program does (sched/baton.h): so nothing runs, whether the program's threads compute or sleep in
 * system calls, and no call of theirs is interrupted.
 */
#ifndef LIVE_TARGET_GUEST_H
#define LIVE_TARGET_GUEST_H

#include "engine/core/thread.h"

void guest_start(struct thread *t); /* by the first thread, before its first instruction */

#endif
