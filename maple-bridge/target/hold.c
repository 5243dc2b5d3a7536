/* hold.c - threads that come to a place wait there as long as others can run.
 *
 * SPDX-License-Identifier: MIT
 *
 * The agenda has one or two places: a site, and how many events behind it, so that "between the
 * first lock and the second one" is a place, too. All threads that come there are held back, or
 * only the first one. If nobody else can run, one of them is released, by lot. So a bug that wants
 * ninety-nine writers between the same two lines is as near as one that wants one of them there.
 * Among the others priorities decide, drawn once.
 */
#include "maple-bridge/target/tactic.h"

static struct visit {
    uint64_t passed;   /* its event at the site, plus one; 0: it was not there */
    uint64_t released; /* its event, plus one, at which it was let go */
} visits[2][AGENDA_THREADS];
static uint32_t came[2]; /* number of the thread that came first; 0: nobody yet */

static void begin(void)
{
    came[0] = came[1] = 0;
}

static uint32_t places(void)
{
    return agenda->steps < 2 ? agenda->steps : 2;
}

static bool is_there(const struct actor *a, uint32_t i)
{
    const struct agenda_step *s = &agenda->step[i];
    const struct visit *v = &visits[i][actor_slot(a)];
    const bool at = s->actor ? v->passed && a->events + 1 == v->passed + s->actor
                             : a->next.kind != EVENT_NONE && a->next.site == s->site;
    return at && v->released != a->events + 1;
}

static bool is_held(const struct actor *a)
{
    for (uint32_t i = 0; i < places(); i++) {
        if (!is_there(a, i))
            continue;
        if (!came[i])
            came[i] = a->number;
        if (!agenda->step[i].place || came[i] == a->number)
            return true;
    }
    return false;
}

static void release(const struct actor *a)
{
    for (uint32_t i = 0; i < places(); i++)
        visits[i][actor_slot(a)].released = a->events + 1;
    agenda->done.reached++;
}

static struct actor *pick(struct choice *c)
{
    struct choice rest = {.self = NULL};
    for (int i = 0; i < c->count; i++)
        if (!is_held(c->who[i]))
            rest.who[rest.count++] = c->who[i];
    if (rest.count)
        return choice_highest(&rest);
    struct actor *a = c->who[rand_below((uint64_t)c->count)];
    release(a);
    return a;
}

static void done(struct actor *a)
{
    for (uint32_t i = 0; i < places(); i++)
        if (a->next.site == agenda->step[i].site)
            visits[i][actor_slot(a)].passed = a->events + 1;
}

const struct tactic hold_tactic = {
    .begin = begin, .pick = pick, .done = done, .demote = actor_demote};
