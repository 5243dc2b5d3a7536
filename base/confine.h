/* confine.h - take from a process what it does not need, for good.
 *
 * SPDX-License-Identifier: MIT
 *
 * For code that reads what a stranger made, such as debug information: a mistake in it must not
 * reach files, other processes or the network. A process that is confined uses the memory and the
 * descriptors that it has, starts threads and ends. It opens, connects, executes, signals and
 * traces nothing: such calls fail with EPERM (seccomp). Another process must hand over what it
 * needs from outside. Its memory has a limit (base/memory.h).
 */
#ifndef BASE_CONFINE_H
#define BASE_CONFINE_H

#include "base/err.h"

/* Standard input becomes /dev/null, and descriptors that drdebug was started with are closed but
 * for standard output and error: those of its own are known by close-on-exec. To be called while
 * there is one thread. It dies with its parent. */
int confine_self(struct err *err);

/* Signals that have a handler get their default action back: the handler is another process's. */
void confine_drop_handlers(void);

#endif
