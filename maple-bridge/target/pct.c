/* pct.c - priorities that change a few times (Burckhardt and others, ASPLOS 2010).
 *
 * SPDX-License-Identifier: MIT
 *
 * Each thread has a priority by lot, and the highest runs. At depth - 1 events, by lot among the
 * expected number of events, the thread that comes there falls below all others. A bug that needs d
 * orders to hold is found with probability 1 / (n * k^(d-1)) at least.
 */
#include "maple-bridge/target/tactic.h"

enum { MOST_CHANGES = 16 };

static struct {
    uint64_t at[MOST_CHANGES];
    uint32_t changes;
} pct;

static void begin(void)
{
    pct.changes = agenda->depth ? agenda->depth - 1 : 0;
    if (pct.changes > MOST_CHANGES)
        pct.changes = MOST_CHANGES;
    for (uint32_t i = 0; i < pct.changes; i++)
        pct.at[i] = 1 + rand_below(agenda->length);
}

static bool changes_at(uint64_t event)
{
    bool found = false;
    for (uint32_t i = 0; i < pct.changes; i++)
        if (pct.at[i] == event) {
            pct.at[i] = 0;
            found = true;
        }
    return found;
}

static struct actor *pick(struct choice *c)
{
    if (c->self && changes_at(agenda->done.events))
        actor_demote(c->self);
    return choice_highest(c);
}

const struct tactic pct_tactic = {.begin = begin, .pick = pick, .demote = actor_demote};
