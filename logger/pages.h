/* pages.h - which pages a process has written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOGGER_PAGES_H
#define LOGGER_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pinball/ring.h"

/* Pages of private memory that are there and are not a file's any more, outside [not_from, not_to):
 * at most `room` ranges and a few megabytes, from *next on; *next is where to go on the next time,
 * round and round. There are none if the kernel does not let us look. */
size_t pages_written(pid_t pid, uint64_t not_from, uint64_t not_to, uint64_t *next,
                     struct ring_pages *out, size_t room);

#endif
