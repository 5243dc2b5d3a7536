/* probes.h - values taken at places, inside the replaying process. SPDX-License-Identifier: MIT */
#ifndef DEBUG_TARGET_PROBES_H
#define DEBUG_TARGET_PROBES_H

#include "debug/mailbox.h"
#include "engine/rt/types.h"

struct instrument;

/* DO_PROBES: one piece of the list. False: there is no room for it. */
bool probes_set(const struct mailbox *box);
/* The tool that takes what the list says. NULL: there is no list. */
const struct instrument *probes_tool(void);
/* Hands over the rows that there are. */
void probes_flush(void);

#endif
