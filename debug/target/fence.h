/* fence.h - a piece of code that one thread is in, and the places where it would leave it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Stepping a thread through a loop costs a microsecond for each instruction. Inside a fence the
 * thread runs at full speed: only its *posts* are looked at, which are found by decoding the code
 * once. There is one fence at a time.
 *
 * A post is outside, where a direct transfer or the end of the code leads to; or it is a *gate*
 * inside: an instruction that may lead anywhere (an indirect transfer, a return, a call of the
 * system), of which only a single step tells. Signals are not posts: the caller that raises a fence
 * looks at them.
 */
#ifndef DEBUG_TARGET_FENCE_H
#define DEBUG_TARGET_FENCE_H

#include "debug/messages.h"
#include "engine/core/thread.h"

enum fence_post { FENCE_NOTHING, FENCE_OUTSIDE, FENCE_GATE, FENCE_INSIDE };

/* Around [low, high). False: it cannot be raised, the code is too large or cannot be read. */
bool fence_raise_range(const struct thread *t, gaddr low, gaddr high);

/* Around the instructions of the edges. One that may take another way inside than they do is a
 * gate. For an entry it is the other way round: the posts are FENCE_INSIDE, all of the
 * instructions. */
bool fence_raise_edges(const struct mailbox_fence *f);

void fence_drop(void);
bool fence_is_of(const struct thread *t); /* is there one, of this thread? */
bool fence_has_post(gaddr pc);
enum fence_post fence_at(const struct thread *t); /* what is at its pc, to this thread */

#endif
