/* surw.c - selectively uniform random walk (Zhao and others, ASPLOS 2025).
 *
 * SPDX-License-Identifier: MIT
 *
 * Only events of one group count (agenda->group). The thread that is to execute the next one of
 * them is drawn in proportion to how many it has left, so that all orders of these events are about
 * equally likely; a parent carries those of its children that are not born yet. Events that do not
 * count are executed in any order, but nobody executes one that counts out of turn. How many there
 * are is known from runs before.
 */
#include "maple-bridge/target/tactic.h"

static struct {
    uint32_t left[AGENDA_THREADS];
    bool born[AGENDA_THREADS];
    struct actor *turn; /* whose event is next; NULL: to be drawn */
    uint64_t turn_events;
} surw;

static void begin(void)
{
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        surw.left[i] = agenda->expected[i][agenda->group];
}

static bool counts(const struct actor *a)
{
    return event_accesses(&a->next) && a->next.group == agenda->group;
}

static void note_births(const struct choice *c)
{
    for (int i = 0; i < c->count; i++)
        surw.born[actor_slot(c->who[i])] = true;
}

/* With what those that are not born yet will do: it is divided among all that are. */
static uint64_t weight(const struct actor *a, uint64_t unborn)
{
    uint64_t left = surw.left[actor_slot(a)];
    return left + (a->number == 1 ? unborn : 0) + (counts(a) && !left);
}

static struct actor *draw(const struct choice *c)
{
    uint64_t unborn = 0, all = 0;
    for (uint32_t i = 0; i < AGENDA_THREADS; i++)
        unborn += surw.born[i] ? 0 : surw.left[i];
    for (int i = 0; i < c->count; i++)
        all += weight(c->who[i], unborn);
    uint64_t at = rand_below(all);
    for (int i = 0; i < c->count; i++) {
        uint64_t w = weight(c->who[i], unborn);
        if (at < w)
            return c->who[i];
        at -= w;
    }
    return c->who[rand_below((uint64_t)c->count)];
}

static bool can_run(const struct choice *c, const struct actor *a)
{
    for (int i = 0; i < c->count; i++)
        if (c->who[i] == a)
            return true;
    return false;
}

static struct actor *pick(struct choice *c)
{
    note_births(c);
    if (!surw.turn || !can_run(c, surw.turn))
        surw.turn = draw(c);
    if (counts(surw.turn))
        return surw.turn;
    struct actor *free[CHOICES];
    int n = 0;
    for (int i = 0; i < c->count; i++)
        if (!counts(c->who[i]))
            free[n++] = c->who[i];
    return n ? free[rand_below((uint64_t)n)] : surw.turn;
}

static void done(struct actor *a)
{
    if (!counts(a))
        return;
    uint32_t *left = &surw.left[actor_slot(a)];
    *left -= *left > 0;
    if (a == surw.turn)
        surw.turn = NULL;
}

static void demote(struct actor *a)
{
    if (a == surw.turn)
        surw.turn = NULL;
}

const struct tactic surw_tactic = {.begin = begin, .pick = pick, .done = done, .demote = demote};
