/* double_checked.c - a pointer is published before what it points to is filled.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

struct config {
    int ready;
};
static struct config *config, memory;
static pthread_mutex_t m = MUTEX;

static struct config *get(void)
{
    if (GET(config))
        return GET(config);
    LOCK(m);
    if (!GET(config)) {
        FIX(SET(memory.ready, 1);)
        SET(config, &memory); /* ROOT CAUSE */
        BUG(SET(memory.ready, 1);)
    }
    UNLOCK(m);
    return &memory;
}

static void *use(void *arg)
{
    CHECK(GET(get()->ready));
    return arg;
}

int main(void)
{
    RUN(2, use);
    return 0;
}
