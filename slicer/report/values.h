/* values.h - what flowed along the dependences of a report, from one replay for all of them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A trace has no values. A replay comes to the instructions that used what flowed, in the order of
 * the execution, and looks before each one: the location then holds what the other one gave it. A
 * row that stands for many instances has the value of the latest, as report_edge.sample is.
 */
#ifndef SLICER_REPORT_VALUES_H
#define SLICER_REPORT_VALUES_H

#include "slicer/report/report.h"

struct values;

/* For the edges that brought in the first `rows` rows (those of the user's, if there are such), and
 * for `more` dependences from elsewhere, by their addresses, which must stay until the end. NULL
 * with *err set. What a replay cannot tell is no error: it says so in its place. */
struct values *values_new(struct study *s, const struct report *r,
                          const struct criterion *criterion, size_t rows,
                          const struct slice_dependence *const *more, size_t mores,
                          struct err *err);
void values_free(struct values *v); /* NULL is allowed */

/* As text: `139`, `97 'a'`, `0x7ffe1234`, `{01 02 03}`; NULL: not known, or a dependence by
 * control. Edges are numbered as in the report. */
const char *values_of(const struct values *v, int32_t edge);
const char *values_flowed(const struct values *v, const struct slice_dependence *d);

#endif
