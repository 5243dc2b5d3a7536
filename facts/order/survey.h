/* survey.h - a first look at a trace for its races: what several threads touch, and which
 * synchronisation is there by chance.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef FACTS_ORDER_SURVEY_H
#define FACTS_ORDER_SURVEY_H

#include "facts/order/shared.h"
#include "facts/order/sync.h"

struct survey {
    struct shared shared;
    bool *chance; /* by synchronisation variable: it was only touched in calls of chance.h */
};

int survey_init(struct survey *v, struct study *s, const struct sync *sync, struct err *err);
void survey_deinit(struct survey *v); /* {0} is allowed */

#endif
