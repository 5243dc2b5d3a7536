/* memory.h - a process's memory as records, for a recording that begins in the middle.
 *
 * SPDX-License-Identifier: MIT
 *
 * Read by /proc: pages that are private and not those of their file. What the kernel says about
 * the pages of a process of ours is true, whatever the process is. The process stands still.
 */
#ifndef PINBALL_MEMORY_H
#define PINBALL_MEMORY_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "pinball/record.h"

/* Whole records, of which RECORD_MAP say what is mapped, in ascending order. They need not be
 * believed: reading elsewhere reads that process's memory all the same. */
struct memory_list {
    const void *records;
    size_t bytes;
};

/* Calls `put` with each RECORD_DATA; pages of zeros are left out. */
int memory_put(pid_t pid, const struct memory_list *list,
               int (*put)(void *arg, const struct record *r, struct err *err), void *arg,
               struct err *err);

#endif
