/* recipe.h - what makes one run of a search. SPDX-License-Identifier: MIT
 *
 * As text: TACTIC:DEPTH:SEED, with what it wants beside that: `/G` a group, `,W>R` or `,W!R` wishes
 * of rff, `,SITE.ACTOR.PLACE` steps of an idiom, `,T@E>N` switches of a script: thread T is taken
 * off before its E-th event, for thread N. Sites are numbers of the profile; DEPTH may be followed
 * by `/K`, the number of events that pct counts on.
 */
#ifndef MAPLE_BRIDGE_RECIPE_H
#define MAPLE_BRIDGE_RECIPE_H

#include <stddef.h>

#include "base/err.h"
#include "maple-bridge/agenda.h"

enum { RECIPE_TEXT = 512, RECIPE_SWITCHES = 32 };

struct recipe {
    enum agenda_tactic tactic;
    uint32_t depth, group;
    uint64_t seed;
    uint64_t length; /* pct; 0: as the runs before tell */
    uint32_t steps, orders, switches;
    struct agenda_step step[AGENDA_STEPS];
    struct agenda_order order[AGENDA_ORDERS];
    struct agenda_switch script[RECIPE_SWITCHES];
};

void recipe_text(const struct recipe *r, char *out, size_t room);
int recipe_parse(const char *text, struct recipe *out, struct err *err);
const char *recipe_name(enum agenda_tactic tactic);
/* The first half of an agenda, but for what a profile tells. */
void recipe_tell(const struct recipe *r, struct agenda *agenda);

#endif
