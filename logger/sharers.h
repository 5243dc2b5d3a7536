/* sharers.h - who else has a process's shared memory. SPDX-License-Identifier: MIT */
#ifndef LOGGER_SHARERS_H
#define LOGGER_SHARERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether another process that lives has an object mapped, shared and writable, or open for
 * writing, which `pid` has mapped shared. The object that this process has mapped at `ring` does
 * not count, nor do processes whose memory is the same as that of `pid`, or that may not be looked
 * at. */
bool sharers_find(pid_t pid, const void *ring);

#endif
