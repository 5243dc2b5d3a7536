/* pos.c - partial order sampling (Yuan, Yang, Gu, CAV 2018).
 *
 * SPDX-License-Identifier: MIT
 *
 * Each event that is to come has a priority by lot, and the highest is executed. Then events that
 * conflict with it get a new one: their order among each other is open again.
 */
#include "maple-bridge/target/tactic.h"

static void draw(struct actor *a)
{
    if (a->drawn == a->events + 1)
        return;
    a->drawn = a->events + 1;
    a->priority = rand_draw();
}

static struct actor *pick(struct choice *c)
{
    struct actor *best = NULL;
    for (int i = 0; i < c->count; i++) {
        draw(c->who[i]);
        if (!best || c->who[i]->priority > best->priority)
            best = c->who[i];
    }
    for (int i = 0; i < c->count; i++)
        if (c->who[i] != best && event_conflicts(&c->who[i]->next, &best->next))
            c->who[i]->drawn = 0;
    return best;
}

static void demote(struct actor *a)
{
    a->drawn = a->events + 1;
    a->priority = 0;
}

const struct tactic pos_tactic = {.pick = pick, .demote = demote};
