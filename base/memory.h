/* memory.h - how much memory may be taken for what a stranger made.
 *
 * SPDX-License-Identifier: MIT
 *
 * A few bytes can ask for gigabytes: a replay that allocates, a table of lines in debug
 * information, the code of a trace. One limit holds for all of them.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Lines "NAME:  123 kB" of a file of /proc: each is added, in bytes, to what its row names. */
struct memory_line {
    const char *name;
    uint64_t *bytes;
};
void memory_lines(const char *path, const struct memory_line *line, size_t lines);

/* What the machine could give now: memory that is free or can be reclaimed, and free swap. 0: it
 * does not say. */
uint64_t memory_available(void);

/* The environment variable that says another limit, in megabytes. */
extern const char memory_setting[];
/* The limit in bytes. Without that variable: what the machine could give when this was first asked,
 * less a reserve. */
uint64_t memory_limit(void);
/* -1: the variable is no number. */
int memory_check_setting(struct err *err);

/* From here on this process and those that it makes can have as much as the limit beyond what they
 * have; then there is "no memory". -1: that cannot be had, or memory_check_setting() fails. */
int memory_bound(struct err *err);

#endif
