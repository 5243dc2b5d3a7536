/* stretches.h - what is left out as regions of each thread, in a text file.
 *
 * SPDX-License-Identifier: MIT
 *
 * A line each: `[0x401136:3:1, 0x40114a:7:1)` leaves out what thread 1 executes from the third
 * execution of the instruction at 0x401136 on, up to and without the seventh of that at 0x40114a.
 * `end` in place of the second: all the rest of the thread. Executions are counted in each thread
 * from where the trace begins. `#` begins a remark.
 */
#ifndef RELOGGER_STRETCHES_H
#define RELOGGER_STRETCHES_H

#include <stdio.h>

#include "base/err.h"
#include "trace/pass.h"

struct pieces;
struct stretches;

/* NULL with *err set: not such a file, which `name` names. */
struct stretches *stretches_read(FILE *in, const char *name, struct err *err);
void stretches_free(struct stretches *r); /* NULL is allowed */

/* For a pass from the trace's begin: which instructions of the step are left out, a bit each. -1: a
 * region begins within another. */
int stretches_begin(struct stretches *r, struct trace *trace, struct err *err);
int stretches_step(struct stretches *r, const struct pass_step *s, uint64_t *out, struct err *err);
/* Behind the pass: a region that did not begin, or did not end, is a mistake. */
int stretches_check(const struct stretches *r, struct err *err);

/* All that is not kept. */
int stretches_write(struct trace *trace, const struct pieces *kept, FILE *out, struct err *err);

#endif
