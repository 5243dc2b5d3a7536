/* listener.c - a listener leaves while all are being told: the last one takes its place.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int heard[3];
static int *listener[3] = {&heard[0], &heard[1], &heard[2]};
static int listeners = 3;
FIX(static pthread_mutex_t m = MUTEX;)

static void *tell(void *arg)
{
    FIX(LOCK(m);)
    const int n = GET(listeners); /* ROOT CAUSE */
    for (int i = 0; i < n; i++) {
        int *l = GET(listener[i]); /* ROOT CAUSE */
        CHECK(l);
        SET(*l, 1);
    }
    FIX(UNLOCK(m);)
    return arg;
}

static void *leave(void *arg)
{
    FIX(LOCK(m);)
    const int last = GET(listeners) - 1;
    SET(listener[0], GET(listener[last]));
    SET(listener[last], NULL); /* ROOT CAUSE */
    SET(listeners, last);      /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return arg;
}

int main(void)
{
    RUN(2, tell, leave);
    return 0;
}
