/* story.h - a race in words: its variable, lines and values, and the sentence of its pattern.
 *
 * SPDX-License-Identifier: MIT
 *
 * For everybody who tells of races: what pattern.h says, with the words that the debug information
 * has and the values that were found (races.h).
 */
#ifndef FACTS_ORDER_STORY_H
#define FACTS_ORDER_STORY_H

#include "facts/order/races.h"

enum { STORY_NAME = 256, STORY_TEXT = 1024 };

/* The variable, `total`, `node.next`; else an address. */
void story_variable(struct study *s, const struct races_pair *p, char name[STORY_NAME]);
/* The same of one access, and the type of exactly what it accesses, {0} if that is not known.
 * False: it has no name. */
bool story_name(struct study *s, const struct races_side *side, char name[STORY_NAME],
                struct source_type *type);
/* The sentence of its pattern; empty if it has none. */
void story_tell(struct study *s, const struct races_pair *p, char text[STORY_TEXT]);

#endif
