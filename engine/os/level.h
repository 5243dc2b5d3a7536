/* level.h - a CPU that the target takes for an older one.
 *
 * SPDX-License-Identifier: MIT
 *
 * The engine option cpu=2 or cpu=3 leaves x86-64-v2 or -v3 of what this CPU has: cpuid does not
 * tell of more, and XCR0 and signal frames have no more. So tests see what programs do on other
 * machines. What is hidden is not taken away: an instruction that a program uses without asking
 * still works.
 */
#ifndef ENGINE_OS_LEVEL_H
#define ENGINE_OS_LEVEL_H

#include "engine/rt/types.h"

/* Before the program starts; 0: nothing is hidden. */
void level_set(uint64_t level);

/* Takes out of an answer of cpuid what is above the level. */
void level_hide(uint32_t leaf, uint32_t sub, uint32_t r[4]);

#endif
