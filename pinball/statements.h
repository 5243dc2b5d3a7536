/* statements.h - the statements that a recording was made of, if it leaves others out.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef PINBALL_STATEMENTS_H
#define PINBALL_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/position.h"
#include "pinball/record_gap.h"

struct pinball;

/* In the order of their execution; what a stranger's recording says of it is taken as it is. */
struct statements {
    struct kept_statement *list;
    size_t count, room;
};

/* None of them: it leaves nothing out. */
int statements_read(struct pinball *pinball, struct statements *out, struct err *err);
void statements_deinit(struct statements *s);

/* What the whole recording has shown of its code, one by one. */
typedef void way_fn(void *arg, const struct code_way *way);
int statements_ways(struct pinball *pinball, way_fn *fn, void *arg, struct err *err);

/* Is the instruction there one of them? */
bool statements_have(const struct statements *s, const struct position *at);
/* The next one that can be gone to, from a place that is in none; NULL: none. */
const struct kept_statement *statements_next(const struct statements *s, const struct position *at);

#endif
