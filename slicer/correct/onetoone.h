/* onetoone.h - does a right result mean a right operand? SPDX-License-Identifier: MIT
 *
 * By what instructions do, not by the values that they had in the run: of one that was executed
 * once, those would say that everything is right.
 */
#ifndef SLICER_CORRECT_ONETOONE_H
#define SLICER_CORRECT_ONETOONE_H

#include "slicer/walk/copy.h"
#include "slicer/walk/edges.h"
#include "trace/code.h"

struct onetoone;

struct onetoone *onetoone_new(const struct code *code); /* NULL: no memory */
void onetoone_free(struct onetoone *o);                 /* NULL is allowed */

/* Would another value along this dependence always have made the result of d->node another one?
 * `strict`: also if other variables went into it, which might have been wrong with it. */
bool onetoone_edge(const struct onetoone *o, const struct slice_dependence *d, bool strict);
/* Do so many bytes that it made hold all that the instruction at pc has computed? */
bool onetoone_covers(const struct onetoone *o, gaddr pc, uint64_t bytes);

#endif
