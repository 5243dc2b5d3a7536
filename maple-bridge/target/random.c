/* random.c - at every event any thread, all alike.
 *
 * SPDX-License-Identifier: MIT
 *
 * `depth` N other than 0: the thread that runs goes on in N - 1 of N cases. Bugs that need one
 * thread to get far ahead want long turns, others short ones.
 */
#include "maple-bridge/target/tactic.h"

static struct actor *pick(struct choice *c)
{
    if (c->self && agenda->depth && rand_below(agenda->depth))
        return c->self;
    return c->who[rand_below((uint64_t)c->count)];
}

const struct tactic random_tactic = {.pick = pick};
