/* tools.h - instrumentation that comes with the engine: `drdebug run --engine tool=NAME`, or
 * several: NAME+NAME.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_CORE_TOOLS_H
#define ENGINE_CORE_TOOLS_H

#include "engine/core/instrument.h"

enum { TOOLS_NAMES = 48 }; /* of a list of names, with its end */

/* Takes the first name off the list; returns what follows it. */
const char *tools_name(const char *list, char name[TOOLS_NAMES]);
const struct instrument *tools_find(const char *name); /* NULL if there is none */

#endif
