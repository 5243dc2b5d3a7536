/* progress.h - say on a terminal how far long work is; elsewhere say nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    uint64_t begin_ns;
    int shown; /* percent, or millions; -1: nothing is on the line yet */
    bool terminal;
};

void progress_begin(struct progress *progress, const char *what);
/* A pinball_progress; arg is a struct progress. */
void progress_show(void *arg, uint64_t done, uint64_t total);
/* The same for instructions, of which the total may be unknown: 0. */
void progress_count(void *arg, uint64_t done, uint64_t total);
void progress_end(struct progress *progress); /* clears the line */

#endif
