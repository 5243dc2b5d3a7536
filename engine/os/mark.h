/* mark.h - places that the program itself has named (include/drdebug.h). SPDX-License-Identifier:
 * MIT
 *
 * A mark is a nop with an operand relative to rip. What lies there begins with "drdebug" and a byte
 * of enum mark_kind; the text follows, up to a zero.
 */
#ifndef ENGINE_OS_MARK_H
#define ENGINE_OS_MARK_H

#include "engine/core/thread.h"

void mark_met(struct thread *t, gaddr operand); /* any such nop; most are no marks */

#endif
