/* philosophers.c - each takes the fork to the left first; argument: how many.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

static pthread_mutex_t fork_at[MOST];
static int n;

static void *dine(void *arg)
{
    int i = (int)(long)arg, left = i, right = (i + 1) % n;
    FIX(if (left > right) {
        int t = left;
        left = right;
        right = t;
    })
    LOCK(fork_at[left]);
    LOCK(fork_at[right]); /* ROOT CAUSE */
    UNLOCK(fork_at[right]);
    UNLOCK(fork_at[left]);
    return arg;
}

int main(int argc, char *argv[])
{
    n = argument(argc, argv, 3);
    for (int i = 0; i < n; i++)
        pthread_mutex_init(&fork_at[i], NULL);
    RUN(n, dine);
    return 0;
}
