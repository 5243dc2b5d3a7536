/* together.h - races of two variables that two calls use together.
 *
 * SPDX-License-Identifier: MIT
 *
 * A call of thread A touches x, a call of thread B touches x and y, and the call of A touches y:
 * neither call is before the other one, whatever order one thinks of. This is a violation of
 * atomicity if B writes both, or A writes both and B reads them. Both variables must be met in
 * races, in the user's own code, each at places of their own; A must not have looked at x again
 * after B. Flags by which threads hand something over, where each writes one variable and reads the
 * other, are none.
 */
#ifndef FACTS_ORDER_TOGETHER_H
#define FACTS_ORDER_TOGETHER_H

#include "facts/order/conflicts.h"

enum { TOGETHER_MOST = 32 };

/* A meeting, kept by value. */
struct together_one {
    gaddr word; /* 0: none */
    struct conflicts_access first, then;
};

/* The last races that were met. */
struct together {
    struct together_one last[TOGETHER_MOST];
    unsigned next, count;
};

/* Some meeting, a race or not: what it is about was looked at again. To be called for each. */
void together_see(struct together *t, const struct conflicts_meeting *m);
/* A race is met, in own code on both sides. Returns the race of another variable that makes a
 * violation with it, which came first; NULL: none. Good until the next call. */
const struct together_one *together_meet(struct together *t, const struct conflicts_meeting *m);

#endif
