/* rff.c - orders of reads and writes as wishes (reads-from fuzzing, Wolff and others, ASPLOS 2024).
 *
 * SPDX-License-Identifier: MIT
 *
 * The agenda has pairs of sites: the read is to see what the write wrote, or is not to. A thread
 * that would break a wish waits as long as another one can run. Among the others it is as in pos.c.
 * The driver changes wishes and keeps those that lead to pairs nobody saw before.
 */
#include "maple-bridge/target/tactic.h"

static uint32_t met; /* wishes that came true, a bit each */

static void begin(void)
{
    met = 0;
}

static bool read_breaks(const struct event *e, const struct agenda_order *o, uint32_t i)
{
    if (o->read != e->site || !event_reads(e) || (met >> i & 1))
        return false;
    return (event_writer(e->addr) == o->write) == (o->negated != 0);
}

/* Would the write overwrite what a read is still to see? */
static bool write_breaks(const struct choice *c, const struct event *e,
                         const struct agenda_order *o, uint32_t i)
{
    if (o->negated || (met >> i & 1) || !event_writes(e) || o->write == e->site ||
        event_writer(e->addr) != o->write || !o->write)
        return false;
    for (int k = 0; k < c->count; k++) {
        const struct event *r = &c->who[k]->next;
        if (r != e && r->site == o->read && event_reads(r) &&
            event_word(r->addr) == event_word(e->addr))
            return true;
    }
    return false;
}

static bool breaks(const struct choice *c, const struct actor *a)
{
    for (uint32_t i = 0; i < agenda->orders && i < AGENDA_ORDERS; i++)
        if (read_breaks(&a->next, &agenda->order[i], i) ||
            write_breaks(c, &a->next, &agenda->order[i], i))
            return true;
    return false;
}

static struct actor *pick(struct choice *c)
{
    struct choice rest = {.self = NULL};
    for (int i = 0; i < c->count; i++)
        if (!breaks(c, c->who[i])) {
            rest.who[rest.count++] = c->who[i];
            if (c->who[i] == c->self)
                rest.self = c->self;
        }
    return pos_tactic.pick(rest.count ? &rest : c);
}

static void done(struct actor *a)
{
    const struct event *e = &a->next;
    for (uint32_t i = 0; i < agenda->orders && i < AGENDA_ORDERS; i++)
        if (event_reads(e) && agenda->order[i].read == e->site &&
            event_writer(e->addr) == agenda->order[i].write && !(met >> i & 1)) {
            met |= 1u << i;
            agenda->done.reached++;
        }
}

static void demote(struct actor *a)
{
    pos_tactic.demote(a);
}

const struct tactic rff_tactic = {.begin = begin, .pick = pick, .done = done, .demote = demote};
