/* fairness.c - with 16 busy threads and one that sleeps 1 ms at a time, the sleeper gets its turns.
 */
#include "subject.h"
#include <pthread.h>

static volatile int stop;
static volatile unsigned long ran[16];

static void *busy(void *arg)
{
    while (!stop)
        ran[(long)arg]++;
    return NULL;
}

int main(void)
{
    pthread_t t[16];
    for (long i = 0; i < 16; i++)
        pthread_create(&t[i], NULL, busy, (void *)i);
    for (int i = 0; i < 5; i++)
        sleep_ms(1);
    for (int i = 0; i < 16; i++)
        while (ran[i] < 1000)
            sleep_ms(1);
    stop = 1;
    for (int i = 0; i < 16; i++)
        pthread_join(t[i], NULL);
    say("all ran\n");
    return 0;
}
