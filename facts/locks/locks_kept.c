/* locks_kept.c - locks as lists of a file. SPDX-License-Identifier: MIT */
#include "facts/locks/locks_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "study/kept.h"

/* What a file begins with; the lists follow. */
struct head {
    uint64_t events, waits;
};

_Static_assert(sizeof(struct locks_event) % KEPT_WORD == 0 &&
                   sizeof(struct locks_wait) % KEPT_WORD == 0,
               "elements have whole words");

/* Which call is the user's own, the debug information says. */
static struct kept_fact fact_of(struct study *s)
{
    return (struct kept_fact){"locks", LOCKS_VERSION, hash_fold(source_identity(s->source), 0)};
}

static size_t bytes_of(const struct head *n)
{
    return sizeof *n + n->events * sizeof(struct locks_event) +
           n->waits * sizeof(struct locks_wait);
}

static bool is_sound(const struct study *s, const struct locks *l)
{
    const uint32_t threads = trace_threads(s->trace);
    for (size_t i = 0; i < l->events; i++)
        if (l->event[i].kind > LOCKS_ONCE || l->event[i].thread >= threads)
            return false;
    for (size_t i = 0; i < l->waits; i++)
        if (l->wait[i].kind > LOCKS_ONCE || l->wait[i].thread >= threads ||
            l->wait[i].joins > threads)
            return false;
    return true;
}

bool locks_kept_get(struct study *s, struct locks *out)
{
    static const uint64_t most = 1ull << 40;
    const struct kept_fact fact = fact_of(s);
    struct head n = {0};
    struct locks l = {0};
    size_t bytes = 0;
    uint8_t *data = kept_get(s, &fact, &bytes);
    const uint8_t *at = NULL;
    if (data && bytes >= sizeof n)
        memcpy(&n, data, sizeof n);
    if (data && bytes >= sizeof n && n.events < most && n.waits < most && bytes_of(&n) == bytes)
        at = kept_get_list(data + sizeof n, &l.event, n.events, sizeof *l.event);
    if (at)
        at = kept_get_list(at, &l.wait, n.waits, sizeof *l.wait);
    free(data);
    l.events = l.event_room = n.events;
    l.waits = l.wait_room = n.waits;
    if (at && is_sound(s, &l)) {
        *out = l;
        return true;
    }
    free(l.event);
    free(l.wait);
    return false;
}

void locks_kept_put(struct study *s, const struct locks *l)
{
    const struct kept_fact fact = fact_of(s);
    const struct head n = {l->events, l->waits};
    uint8_t *data = malloc(bytes_of(&n)), *to = data;
    if (!data)
        return; /* it is found out again */
    memcpy(to, &n, sizeof n);
    to = kept_put_list(to + sizeof n, l->event, n.events, sizeof *l->event);
    to = kept_put_list(to, l->wait, n.waits, sizeof *l->wait);
    kept_put(s, &fact, data, (size_t)(to - data));
    free(data);
}
