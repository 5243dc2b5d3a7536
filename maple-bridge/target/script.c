/* script.c - repeats a schedule that is given as a list of switches.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread goes on until it comes to the event of a switch, or cannot. Then the thread that the
 * switch names is next, if it can run; else the one with the lowest number. Switches that do not
 * come to pass are passed over.
 */
#include "maple-bridge/target/tactic.h"

enum { AHEAD = 256 }; /* switches that are looked through */

static uint32_t at; /* the switch that is to come */

static void begin(void)
{
    at = 0;
}

static struct actor *find(const struct choice *c, uint32_t number)
{
    for (int i = 0; i < c->count; i++)
        if (c->who[i]->number == number)
            return c->who[i];
    return NULL;
}

static struct actor *lowest(const struct choice *c)
{
    struct actor *best = c->who[0];
    for (int i = 1; i < c->count; i++)
        if (c->who[i]->number < best->number)
            best = c->who[i];
    return best;
}

/* The switch at which the thread that ran is taken off here; NULL: there is none. */
static const struct agenda_switch *here(const struct actor *left)
{
    const uint32_t all = agenda->switches < AGENDA_SWITCHES ? agenda->switches : AGENDA_SWITCHES;
    for (uint32_t i = at; left && i < all && i - at < AHEAD; i++) {
        const struct agenda_switch *s = &agenda->script[i];
        if (s->thread == left->number && s->event == left->events) {
            at = i + 1;
            return s;
        }
    }
    return NULL;
}

static struct actor *pick(struct choice *c)
{
    const struct agenda_switch *s = here(c->ran);
    struct actor *a = s ? find(c, s->next) : NULL;
    return a ? a : c->self ? c->self : lowest(c);
}

const struct tactic script_tactic = {.begin = begin, .pick = pick};
