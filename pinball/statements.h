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
struct steplist;

/* In the order of their execution; what a stranger's recording says of it is taken as it is. */
struct statements {
    struct steplist *list; /* NULL: it leaves nothing out */
    size_t count;
    bool output; /* what is written by other code is to appear, too */
};

/* None of them: it leaves nothing out. */
int statements_read(struct pinball *pinball, struct statements *out, struct err *err);
void statements_deinit(struct statements *s);

/* Number i, in the order of their execution; false: there are fewer. */
bool statements_get(const struct statements *s, size_t i, struct kept_statement *out);

/* The last one that the thread has begun there; false: none. */
bool statements_begun(const struct statements *s, const struct position *at, size_t *i);
/* Places that they begin at, as steplist_place() has them. */
bool statements_place(const struct statements *s, size_t i, uint64_t *first, uint64_t *last);

/* Packed, as a recording lists them: a record each. */
typedef int statements_put_fn(void *arg, const struct record *r, struct err *err);
int statements_put(const struct steplist *list, statements_put_fn *put, void *arg, struct err *err);

/* What the whole recording has shown of its code, one by one. */
typedef void way_fn(void *arg, const struct code_way *way);
int statements_ways(struct pinball *pinball, way_fn *fn, void *arg, struct err *err);

/* Is the instruction there one of them? */
bool statements_have(const struct statements *s, const struct position *at);
/* Is output that was written there to be kept quiet, since the code is left out? */
bool statements_hush(const struct statements *s, const struct position *at);
/* The next one that can be gone to, for a thread that went from one place to another, which is in
 * none; and the one before a place. False: none. */
bool statements_next(const struct statements *s, const struct position *from,
                     const struct position *at, struct kept_statement *out);
bool statements_before(const struct statements *s, const struct position *at,
                       struct kept_statement *out);

#endif
