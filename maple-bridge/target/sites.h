/* sites.h - which instructions are sites of the agenda. SPDX-License-Identifier: MIT */
#ifndef MAPLE_BRIDGE_TARGET_SITES_H
#define MAPLE_BRIDGE_TARGET_SITES_H

#include "engine/x86/insn.h"

bool sites_wants(const struct insn *in); /* asked when it is translated */
uint16_t sites_of(gaddr pc);             /* of one that was wanted; 0: none */

#endif
