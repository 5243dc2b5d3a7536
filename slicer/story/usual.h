/* usual.h - what is usual in the dependences of a slice, and what is the exception.
 *
 * SPDX-License-Identifier: MIT
 *
 * The value that an instruction got once from somewhere else than all other times, tells more than
 * that which it got always; the zero that a sum began with tells less than what was added.
 */
#ifndef SLICER_STORY_USUAL_H
#define SLICER_STORY_USUAL_H

#include "slicer/report/report.h"

enum { USUAL_RAREST = 6 }; /* at most so many doublings count */

struct usual;

/* NULL: no memory. */
struct usual *usual_new(struct study *s, const struct report *r);
void usual_free(struct usual *u); /* NULL is allowed */

/* How often the instruction of `node` took a value, by that of the edge: in doublings, what all
 * such edges are to those on the same instruction. 0: it is as usual. */
unsigned usual_rarity(const struct usual *u, uint32_t node, const struct flows_edge *e);

/* Does a row of the report take values that it made before, as a sum or a counter does? */
bool usual_repeats(const struct usual *u, uint32_t row);

/* Is a row of the report the line that opens its function? Not if that is all the function has. */
bool usual_opens(struct usual *u, uint32_t row);

#endif
