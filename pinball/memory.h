/* memory.h - a process's memory as records, for a recording that begins in the middle.
 *
 * SPDX-License-Identifier: MIT
 *
 * Read by /proc: pages that are private and not those of their file, and shared memory where that
 * is asked for. What the kernel says about the pages of a process of ours is true, whatever the
 * process is. The process stands still.
 */
#ifndef PINBALL_MEMORY_H
#define PINBALL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "pinball/record.h"

/* Whole records, of which RECORD_MAP say what is mapped, in ascending order. They need not be
 * believed: reading elsewhere reads that process's memory all the same. */
struct memory_list {
    const void *records;
    size_t bytes;
    bool objects; /* what is mapped shared goes to RECORD_OBJECT; else it is not read */
    bool absent;  /* ... also pages that pagemap does not show as present */
};

typedef int memory_put_fn(void *arg, const struct record *r, struct err *err);

/* Calls `put` with each RECORD_DATA and RECORD_OBJECT; pages of zeros are left out, but
 * not where a file shows beneath. */
int memory_put(pid_t pid, const struct memory_list *list, memory_put_fn *put, void *arg,
               struct err *err);

/* The same a piece at a time, of about a megabyte. The list's records must stay. */
struct memory_walk;
struct memory_walk *memory_walk_new(pid_t pid, const struct memory_list *list, struct err *err);
void memory_walk_free(struct memory_walk *walk); /* NULL is allowed */
/* 1: there is more; 0: that was all. */
int memory_walk_some(struct memory_walk *walk, memory_put_fn *put, void *arg, struct err *err);

#endif
