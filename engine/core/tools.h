/* tools.h - instrumentation that comes with the engine: `drdebug run --engine tool=NAME`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_CORE_TOOLS_H
#define ENGINE_CORE_TOOLS_H

#include "engine/core/instrument.h"

const struct instrument *tools_find(const char *name); /* NULL if there is none */

#endif
