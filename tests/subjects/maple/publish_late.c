/* publish_late.c - a server's thread uses the table that its maker allocates in a second step.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static int up, *table;

static void *boot(void *arg)
{
    int *t = malloc(4 * sizeof *t);
    t[0] = 9;
    FIX(SET(table, t);)
    SET(up, 1); /* ROOT CAUSE */
    BUG(SET(table, t);)
    return arg;
}

static void *serve(void *arg)
{
    if (!GET(up))
        return arg;
    int *t = GET(table);
    CHECK(t);
    CHECK(t[0] == 9);
    return arg;
}

int main(void)
{
    RUN(2, boot, serve);
    free(table);
    return 0;
}
