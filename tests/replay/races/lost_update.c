/* lost_update.c - two threads add to one counter without a lock. Ends by abort() if an update was
 * lost. */
#include "race.h"

static volatile long total;
static volatile int here;

static void *add(void *arg)
{
    here = 1;
    for (int i = 0; i < 400000; i++) {
        long t = total;
        work(2);
        total = t + 1; /* ROOT CAUSE */
    }
    return arg;
}

int main(void)
{
    pthread_t a = start(add, NULL);
    while (!here)
        ;
    pthread_t b = start(add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    say("total %ld\n", total);
    if (total != 800000) {
        dprintf(STDERR_FILENO, "lost %ld updates\n", 800000 - total);
        abort();
    }
    return 0;
}
