/* children.h - which children does this process have?
 *
 * SPDX-License-Identifier: MIT
 *
 * As the kernel tells, alive or ended and not yet waited for. Those of all threads.
 */
#ifndef REPLAYER_CHILDREN_H
#define REPLAYER_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/* Calls fn for each process that may be a child, until that returns false. Without `lists`, which
 * some kernels do not have (CONFIG_PROC_CHILDREN), for all processes there are. False: there are no
 * such lists. */
bool children_each(bool lists, bool (*fn)(void *arg, pid_t pid), void *arg);

#endif
