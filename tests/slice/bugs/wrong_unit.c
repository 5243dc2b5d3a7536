/* wrong_unit.c - a constant at the top is in another unit than its user far away thinks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
static const long default_timeout = 2000;
#else
static const long default_timeout = 2; /* ROOT CAUSE */
#endif

struct option {
    const char *name;
    long value;
};

struct connection {
    int id, state;
    long opened, deadline;
};

static struct option options[] = {{"retries", 3}, {"timeout", 0}, {"window", 8}};
static struct connection pool[8];
static long now;

static long *option(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i].value;
    abort();
}

static void set_defaults(void)
{
    *option("timeout") = default_timeout; /* ROOT CAUSE */
}

static void open_connection(int id)
{
    pool[id] = (struct connection){id, 1, now, now + *option("timeout")};
}

static void tick(void)
{
    now++;
    for (int i = 0; i < 8; i++)
        if (pool[i].state == 1 && pool[i].deadline < now)
            pool[i].state = 2;
}

static int answer(int id)
{
    if (pool[id].state != 1)
        return -1;
    pool[id].state = 3;
    return 0;
}

int main(void)
{
    int late = 0;
    set_defaults();
    for (int i = 0; i < 8; i++) {
        open_connection(i);
        for (int k = 0; k < (i == 5 ? 7 : 2); k++)
            tick();
        late += answer(i) != 0;
    }
    printf("%d late of 8\n", late);
    assert(late == 0);
    return 0;
}
