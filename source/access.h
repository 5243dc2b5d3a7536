/* access.h - names for memory, by the instruction that touches it.
 *
 * SPDX-License-Identifier: MIT
 *
 * What lies on the heap, or belongs to another function, has no name of its own. The source names
 * it by way of a pointer, `q->mut`, `a[i].key`, and the code shows which: the registers of the
 * operand were loaded from variables shortly before. Only code on one straight way is looked at, so
 * a name is never that of another path; what cannot be told so has none.
 */
#ifndef SOURCE_ACCESS_H
#define SOURCE_ACCESS_H

#include "source/types.h"

/* Writes the name of the memory that the instruction at pc reads or writes by its operand, at least
 * `bytes` bytes: `p->next`, `table[i].key`, `*count`, a thread-local variable. *type is that of the
 * named part, {0} if it is not exactly what is accessed; it may be NULL. False, and an empty name:
 * not known. */
bool source_access(struct source *s, gaddr pc, uint64_t bytes, char *buf, size_t room,
                   struct source_type *type);

#endif
