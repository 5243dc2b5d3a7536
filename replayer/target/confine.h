/* confine.h - what this process may do.
 *
 * SPDX-License-Identifier: MIT
 *
 * Copies are made by clone with CONFINE_COPY_FLAGS alone.
 */
#ifndef REPLAYER_TARGET_CONFINE_H
#define REPLAYER_TARGET_CONFINE_H

#include "engine/rt/types.h"

enum { CONFINE_COPY_FLAGS = 0x8000 /* CLONE_PARENT */ | 17 /* SIGCHLD */, CONFINE_CLOCKS = 15 };
void confine_unmap_others(gaddr keep, gaddr keep_end);
void confine(bool allow_copies);

#endif
