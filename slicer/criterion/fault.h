/* fault.h - the criterion of a fault: what the instruction that was not executed would have used.
 *
 * SPDX-License-Identifier: MIT
 *
 * That is what its address was made from, the divisor, or where a transfer would have led.
 */
#ifndef SLICER_CRITERION_FAULT_H
#define SLICER_CRITERION_FAULT_H

#include "slicer/criterion/criterion.h"
#include "slicer/criterion/place.h"

/* Is there an instruction that raised the signal? */
bool fault_is(const struct place_end *e, int sig);
int fault_want(struct study *s, const struct place_end *e, int sig, struct criterion *out,
               struct err *err);

/* Wants registers at a place, and all that an instruction uses. */
int criterion_want_span(struct criterion *out, const struct place *p, unsigned first,
                        unsigned count, struct err *err);
int criterion_want_uses(struct criterion *out, const struct place_end *e, uint64_t at,
                        struct err *err);

#endif
