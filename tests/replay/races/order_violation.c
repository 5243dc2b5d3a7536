/* order_violation.c - a thread uses what its maker has not set yet. */
#include "race.h"

static int *volatile table;

static void *user(void *arg)
{
    work(3000);
    say("user: table is %s\n", table ? "there" : "missing");
    say("user: %d\n", table[3]); /* the symptom */
    return arg;
}

int main(void)
{
    pthread_t t = start(user, NULL); /* ROOT CAUSE */
    work(3000);
    int *fresh = malloc(10 * sizeof *fresh);
    for (int i = 0; i < 10; i++)
        fresh[i] = i * i;
    table = fresh;
    pthread_join(t, NULL);
    return 5;
}
