/* parts.h - which code is the C library's or the dynamic loader's. SPDX-License-Identifier: MIT */
#ifndef FACTS_ORDER_PARTS_H
#define FACTS_ORDER_PARTS_H

#include "study/study.h"

enum part { PART_OTHER, PART_LIBRARY, PART_LOADER };

enum part parts_module(const char *module); /* by its name; NULL is allowed */
bool parts_allocates(const char *module);   /* a library that is an allocator */
/* By a pc: in a static program the library is what has no lines. */
enum part parts_code(struct study *s, gaddr pc);

/* A function's name as users know it, in the name that symbol tables and debug information have for
 * it: without leading underscores, `new_` and `libc_`. */
const char *parts_name(const char *symbol);

#endif
