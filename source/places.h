/* places.h - all places that a variable has, and for which code.
 *
 * SPDX-License-Identifier: MIT
 *
 * For callers that are at no particular pc: a variable of a function is in one place in some code
 * and in another elsewhere (its location list), in every call of the function.
 */
#ifndef SOURCE_PLACES_H
#define SOURCE_PLACES_H

#include "source/variable.h"

struct source_home {
    gaddr from, to; /* while code in [from, to) is executed; both 0: always */
    bool memory;    /* `bytes` bytes at `address`; else in register `reg` */
    bool frame;     /* of memory: `address` counts from the CFA */
    gaddr address;
    uint64_t bytes;
    uint16_t reg; /* as in source/variable.h */
};

/* Not 0 ends it. */
typedef int source_home_fn(void *arg, const struct source_home *home);

/* Tells of all homes of the variable `name` that is visible at pc, as source_variable_at() has it;
 * of `FUNCTION::NAME`, of all variables of that name in the function, also where it was inlined.
 * What is only computed, constant or gone has none. Returns 0, what `fn` has ended it with, or -1
 * with one of source_error's codes, SOURCE_UNKNOWN_PLACE also if there is no home. `frame` is of
 * pc, for thread-local variables; NULL is allowed. */
int source_places(struct source *s, gaddr pc, const struct source_frame *frame, const char *name,
                  source_home_fn *fn, void *arg, struct err *err);

#endif
