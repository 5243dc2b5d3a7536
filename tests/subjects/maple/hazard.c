/* hazard.c - a reader says by a hazard pointer what it uses, and does not look whether that is
 * still what it was. SPDX-License-Identifier: MIT */
#include "subject.h"

struct thing {
    int alive;
};
static struct thing old = {1}, new = {1};
static struct thing *shared = &old, *hazard;

static void *look(void *arg)
{
    struct thing *t = GET(shared); /* ROOT CAUSE */
    SET(hazard, t);                /* ROOT CAUSE */
    __sync_synchronize();
    FIX(while (GET(shared) != t) {
        t = GET(shared);
        SET(hazard, t);
        __sync_synchronize();
    })
    CHECK(GET(t->alive));
    SET(hazard, NULL);
    return arg;
}

static void *replace(void *arg)
{
    struct thing *was = GET(shared);
    SET(shared, &new);
    __sync_synchronize();
    if (GET(hazard) != was) /* ROOT CAUSE */
        SET(was->alive, 0);
    return arg;
}

int main(void)
{
    RUN(2, look, replace);
    return 0;
}
