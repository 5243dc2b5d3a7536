/* depends.h - was a value made from another one, a little earlier in the same thread?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FACTS_ORDER_DEPENDS_H
#define FACTS_ORDER_DEPENDS_H

#include "study/study.h"

/* *out: what instruction `to` writes depends by value (not by an address or a branch) on what
 * instruction `from` of the same thread has read, by way of that thread alone. Where they are too
 * far apart, or too much depends on it, the answer is false. */
int depends_by_value(struct study *s, uint64_t from, uint64_t to, bool *out, struct err *err);

#endif
