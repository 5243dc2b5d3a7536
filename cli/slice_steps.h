/* slice_steps.h - the statements of a slice in the order of their execution.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_SLICE_STEPS_H
#define CLI_SLICE_STEPS_H

#include "study/study.h"

struct slice_steps;

/* NULL: no memory. The study must stay. */
struct slice_steps *slice_steps_new(struct study *s);
void slice_steps_free(struct slice_steps *s); /* NULL is allowed */

/* The next node, in order: does it begin a statement? One begins where its thread comes to another
 * row, or back to the begin of a loop in the same one. `thread` is a number of any kind. */
bool slice_steps_begin(struct slice_steps *s, uint32_t thread, uint32_t row, gaddr pc);

#endif
