/* idiom.c - forces two to four accesses into an order (Maple; Yu and others, OOPSLA 2012).
 *
 * SPDX-License-Identifier: MIT
 *
 * One state machine for all idioms: the agenda has the accesses as steps, each by one of two
 * threads and at one of two locations. The first thread and the first address that come to a step
 * are those of the order. A thread whose next event is a later step waits as long as another one
 * can run; if only such threads are left, one of them is released, and the order is given up. In
 * between the priorities of threads decide, drawn once; in every second run they are the other way
 * round.
 */
#include "maple-bridge/target/tactic.h"

static struct {
    uint32_t at;            /* steps that were executed */
    struct actor *actor[2]; /* NULL: not bound yet */
    gaddr place[2];         /* 0: not bound yet */
    bool given_up;
} idiom;

static void begin(void)
{
    idiom.at = 0;
}

/* Could the event be that step, as far as threads and places are bound? */
static bool fits(const struct actor *a, const struct agenda_step *s)
{
    const struct actor *bound = idiom.actor[s->actor & 1], *other = idiom.actor[!(s->actor & 1)];
    gaddr place = idiom.place[s->place & 1];
    return a->next.site == s->site && event_accesses(&a->next) && (!bound || bound == a) &&
           other != a && (!place || place == event_word(a->next.addr));
}

static bool holds_back(const struct actor *a)
{
    if (idiom.given_up || idiom.at >= agenda->steps)
        return false;
    if (fits(a, &agenda->step[idiom.at]))
        return false;
    for (uint32_t i = idiom.at + 1; i < agenda->steps && i < AGENDA_STEPS; i++)
        if (fits(a, &agenda->step[i]))
            return true;
    return false;
}

static struct actor *pick(struct choice *c)
{
    struct choice rest = {.self = NULL};
    if (!idiom.given_up && idiom.at && idiom.at < agenda->steps) /* on the way: straight on */
        for (int i = 0; i < c->count; i++)
            if (fits(c->who[i], &agenda->step[idiom.at]))
                return c->who[i];
    for (int i = 0; i < c->count; i++)
        if (!holds_back(c->who[i]))
            rest.who[rest.count++] = c->who[i];
    if (rest.count)
        return choice_highest(&rest);
    if (idiom.at) /* it may succeed with another beginning */
        idiom.at = 0;
    else
        idiom.given_up = true;
    idiom.actor[0] = idiom.actor[1] = NULL;
    idiom.place[0] = idiom.place[1] = 0;
    return choice_highest(c);
}

static void done(struct actor *a)
{
    if (idiom.given_up || idiom.at >= agenda->steps || idiom.at >= AGENDA_STEPS)
        return;
    const struct agenda_step *s = &agenda->step[idiom.at];
    if (!fits(a, s))
        return;
    idiom.actor[s->actor & 1] = a;
    idiom.place[s->place & 1] = event_word(a->next.addr);
    idiom.at++;
    if (idiom.at > agenda->done.reached)
        agenda->done.reached = idiom.at;
}

const struct tactic idiom_tactic = {
    .begin = begin, .pick = pick, .done = done, .demote = actor_demote};
