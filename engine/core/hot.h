/* hot.h - finds the paths that are worth a superblock.
 *
 * SPDX-License-Identifier: MIT
 *
 * The progress counter is the profiler: where a budget of ticks expires is a sample of where the
 * program is. A block that was sampled a few times is the head of a path; the path is the one that
 * the program takes next. While a path is *followed*, every block of it comes to the runtime.
 * Samples cost little and come less often the more of them fall on superblocks. The baton is held.
 */
#ifndef ENGINE_CORE_HOT_H
#define ENGINE_CORE_HOT_H

#include "engine/core/cache.h"
#include "engine/core/superblock.h"
#include "engine/core/thread.h"

/* Ticks until a sample is wanted. */
uint64_t hot_period(void);

/* A tick expired at the thread's pc. */
void hot_sample(struct thread *t);

/* Is the thread's path followed? Then it must run plain blocks and come back at every tick. */
bool hot_follows(const struct thread *t);

/* It is about to run b. Returns the path when it has ended before b, NULL while it goes on. */
const struct path *hot_enter(struct thread *t, struct block *b);

/* The block at the head of a path, if a superblock is to be made of it: that is tried once. */
struct block *hot_head(const struct path *path);

/* Something else than a transfer has happened: the path is given up. */
void hot_forget(const struct thread *t);

#endif
