/* symbol.h - the name of a code address, for messages. SPDX-License-Identifier: MIT */
#ifndef ENGINE_OS_SYMBOL_H
#define ENGINE_OS_SYMBOL_H

#include "engine/rt/types.h"

/* "function+0x12 (file)", "file+0x345" or "?" */
void symbol_name(gaddr pc, char *out, size_t size);

#endif
