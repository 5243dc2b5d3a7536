/* races_kept.h - races as words of a file, so that they are found once. SPDX-License-Identifier:
 * MIT */
#ifndef FACTS_ORDER_RACES_KEPT_H
#define FACTS_ORDER_RACES_KEPT_H

#include "facts/order/races.h"

/* Add one to it with every change of what races.c and what it calls find. */
enum { RACES_VERSION = 4 };

/* False: nothing was kept that can be used. */
bool races_kept_get(struct study *s, bool locksets, struct races *out);
void races_kept_put(struct study *s, bool locksets, const struct races *r);

#endif
