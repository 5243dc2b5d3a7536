/* cache_evict.c - a user of a cache's entry is counted after the cache's lock was given back: it
 * may be thrown out in between. SPDX-License-Identifier: MIT */
#include "subject.h"

struct entry {
    int users, gone;
};
static struct entry only;
static struct entry *slot = &only;
static pthread_mutex_t m = MUTEX;

static void *use(void *arg)
{
    LOCK(m);
    struct entry *e = slot;
    FIX(if (e) e->users++;)
    UNLOCK(m);
    if (!e)
        return arg;
    BUG(__atomic_fetch_add(&e->users, 1, __ATOMIC_RELAXED);) /* ROOT CAUSE */
    CHECK(!GET(e->gone));
    __atomic_fetch_sub(&e->users, 1, __ATOMIC_RELAXED);
    return arg;
}

static void *evict(void *arg)
{
    LOCK(m);
    if (slot && GET(slot->users) == 0) { /* ROOT CAUSE */
        SET(slot->gone, 1);              /* ROOT CAUSE */
        slot = NULL;
    }
    UNLOCK(m);
    return arg;
}

int main(void)
{
    RUN(2, use, evict);
    return 0;
}
