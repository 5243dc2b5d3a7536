/* sites.h - places that accesses come from: an instruction, and the line of the user's own for
 * which it was executed.
 *
 * SPDX-License-Identifier: MIT
 *
 * For code of a library that is the innermost call in the user's own code. Uses the frames' marks.
 */
#ifndef FACTS_ORDER_SITES_H
#define FACTS_ORDER_SITES_H

#include "facts/order/numbers.h"
#include "study/study.h"

struct frame;

struct sites {
    struct study *study;
    struct numbers own; /* pc */
    bool *is_own;       /* by its number */
    size_t owns;
    struct numbers calls; /* in the user's own code: pc; frame->mark is a number plus one */
    struct numbers sites; /* pc, pc in the user's own code */
};

void sites_deinit(struct sites *s); /* all but the study is empty at first */

/* The number of the place; NUMBERS_NONE: no memory. */
uint32_t sites_of(struct sites *s, gaddr pc, struct frame *f);
/* Its pc, and that in the user's own code, or 0. */
const gaddr *sites_at(const struct sites *s, uint32_t site);

/* The pc in the user's own code alone; 0: there is none. */
gaddr sites_line(struct sites *s, gaddr pc, struct frame *f);

#endif
