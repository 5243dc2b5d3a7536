/* classes.h - registers, a bit for each: general ones, vectors, masks, x87, flags, others.
 *
 * SPDX-License-Identifier: MIT
 *
 * Coarser than locations, so that a word holds them. The bits are those of enum gap_register.
 */
#ifndef TRACE_CLASSES_H
#define TRACE_CLASSES_H

#include "trace/code.h"

/* All of them. */
#define CLASSES_ALL ((1ull << 52) - 1)

uint64_t classes_of(const struct loc_set *set);
/* All that instructions [first, end) of a block may define, whatever values and options say. */
uint64_t classes_defined(const struct code_block *b, unsigned first, unsigned end);
/* The locations of these registers. */
void classes_locations(uint64_t classes, struct loc_set *out);

#endif
