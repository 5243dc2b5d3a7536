/* terminal.h - calls that wait for a terminal which a debugger reads, too.
 *
 * SPDX-License-Identifier: MIT
 *
 * A debugger that has stopped the program reads from the same terminal, and no call of the program
 * is interrupted for it. What a call that waits all the while sees then is the debugger's input: so
 * the program waits until there is input, and reads it only when it has its turn; and a call that
 * has found the terminal ready looks again.
 */
#ifndef ENGINE_OS_TERMINAL_H
#define ENGINE_OS_TERMINAL_H

#include "engine/core/thread.h"

/* Would it wait for a line or a character? */
bool terminal_waits(long nr, const long a[6]);
/* Makes it: SYSCALL_ABORTED or its result. False: by now it would do something else. */
bool terminal_read(struct thread *t, long nr, const long a[6], long *result);
/* Does it say that descriptors are ready, and would say so again? */
bool terminal_looks(long nr);

#endif
