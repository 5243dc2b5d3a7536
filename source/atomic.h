/* atomic.h - what debug information says about atomic variables and code.
 *
 * SPDX-License-Identifier: MIT
 *
 * An atomic is of a type with _Atomic, or one of the C++ library's. The type of memory that no
 * variable has (the heap's) is not known; but code that belongs to a function of std::atomic,
 * inlined or not, shows that the memory it touches is atomic.
 */
#ifndef SOURCE_ATOMIC_H
#define SOURCE_ATOMIC_H

#include "source/variable.h"

/* Tells of all atomic globals and statics, and atomic parts of others. */
typedef void source_atomic_fn(void *arg, gaddr addr, uint64_t bytes);
void source_atomic_each(struct source *s, source_atomic_fn *fn, void *arg);

/* Is pc in a function of std::atomic? *inlined: into another one. */
bool source_atomic_code(struct source *s, gaddr pc, bool *inlined);

enum source_atomic { SOURCE_ATOMIC_UNKNOWN, SOURCE_ATOMIC_NO, SOURCE_ATOMIC_YES };

/* What lies at addr, seen from pc. `frame` may be NULL. */
enum source_atomic source_atomic_at(struct source *s, gaddr pc, const struct source_frame *frame,
                                    gaddr addr);

#endif
