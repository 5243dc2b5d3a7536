/* around.h - the accesses around a race that make it a pattern. SPDX-License-Identifier: MIT */
#ifndef FACTS_ORDER_AROUND_H
#define FACTS_ORDER_AROUND_H

#include "facts/order/races.h"

/* Words for the accesses of struct races_around: lines, values, the names of the variables. NULL:
 * not known. */
struct around_words {
    const char *line[PATTERN_ACCESSES], *value[PATTERN_ACCESSES];
    const char *variable, *other;
};

/* pattern_find() of these accesses. `words` may be NULL. */
enum pattern around_pattern(const struct races_around *a, char *sentence, size_t room,
                            const struct around_words *words);

/* When all races are known: looks at which updates are lost, and at what was used before it was
 * set. */
int around_settle(struct study *s, struct races *races, struct err *err);

#endif
