/* pattern.h - what went wrong between two threads, by the accesses to one variable or two.
 *
 * SPDX-License-Identifier: MIT
 *
 * One function for everybody who has a few accesses and wants to know what they are: a kind and a
 * sentence. It looks at nothing else, so it can be asked about accesses that really came in this
 * order and about those of another run. story.h asks it about a race of races.h, with the names,
 * lines and values that are known.
 */
#ifndef FACTS_ORDER_PATTERN_H
#define FACTS_ORDER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pattern {
    PATTERN_NONE,
#define PATTERN(NAME, name) PATTERN_##NAME,
#include "facts/order/patterns.def"
#undef PATTERN
    PATTERNS,
};

struct pattern_access {
    uint32_t thread; /* its number in positions */
    bool write;
    bool other;        /* it is to the second variable */
    const char *line;  /* "work.c:12"; NULL: not known */
    const char *value; /* that was read or written; NULL: not known */
};

enum { PATTERN_ACCESSES = 4 };

/* Two or three accesses to the same bytes, in the order in which they came. Or four to two
 * variables: what a call of one thread did first to the one and last to the other, and between
 * these what a call of the other thread did to the first one and to the second, in any order. */
struct pattern_case {
    struct pattern_access access[PATTERN_ACCESSES];
    unsigned accesses;
    const char *variable; /* NULL: no name */
    const char *other;    /* the second one */
    bool unordered;       /* nothing orders the other thread's access and one of the thread's own */
    bool one_frame;       /* the thread's two accesses are in one call, or in calls made there */
    bool updates;         /* its last one writes a value that was made from what it read */
    bool unset;           /* nobody wrote it before the first access */
};

/* Writes a sentence, cut to fit; an empty one with PATTERN_NONE. */
enum pattern pattern_find(const struct pattern_case *c, char *sentence, size_t room);

const char *pattern_name(enum pattern p); /* "lost update"; "" */

#endif
