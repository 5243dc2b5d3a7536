/* descriptors.h - what descriptors lead to, by the calls that made them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recording has no list of descriptors, but every call that makes or closes one. A file has the
 * name that the program used, which need not be a whole path. What was open at the start is known
 * for standard input, output and error alone. A child that shares the program's memory has
 * descriptors of its own.
 */
#ifndef DEBUG_EVENTS_DESCRIPTORS_H
#define DEBUG_EVENTS_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

struct descriptors;

struct descriptors *descriptors_new(void);    /* NULL: no memory */
void descriptors_free(struct descriptors *d); /* NULL is allowed */

/* NULL: not known. */
const char *descriptors_name(const struct descriptors *d, uint32_t thread, int64_t fd);
/* NULL: what it leads to is not known any more. */
void descriptors_set(struct descriptors *d, uint32_t thread, int64_t fd, const char *name);
void descriptors_set_cloexec(struct descriptors *d, uint32_t thread, int64_t fd, bool closes);
void descriptors_copy(struct descriptors *d, uint32_t thread, int64_t from, int64_t to);
/* All from `first` to `last`. */
void descriptors_close(struct descriptors *d, uint32_t thread, uint64_t first, uint64_t last);

/* A child process begins, with a copy of its maker's, or ends; the program executes another. */
void descriptors_fork(struct descriptors *d, uint32_t child, uint32_t maker);
void descriptors_exit(struct descriptors *d, uint32_t child);
void descriptors_exec(struct descriptors *d);

#endif
