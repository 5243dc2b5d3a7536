/* use_after_free.c - one thread frees what the other still reads; the memory is unmapped, so a late
 * reader dies at its own moment. */
#include "race.h"
#include <sys/mman.h>

struct job {
    volatile long value;
    char rest[200000]; /* malloc maps it, free unmaps it */
};

static struct job *volatile current;

static void *reader(void *arg)
{
    long sum = 0, reads = 0;
    for (struct job *job; (job = current); reads++) {
        work(300);
        sum += job->value;
    }
    say("reader: %ld reads, sum %ld\n", reads, sum);
    return arg;
}

int main(void)
{
    current = calloc(1, sizeof *current);
    current->value = 1;
    pthread_t t = start(reader, NULL);
    for (int i = 0; i < 200; i++) {
        struct job *old = current, *job = calloc(1, sizeof *job);
        job->value = i;
        current = job;
        free(old); /* ROOT CAUSE */
        work(2000);
    }
    current = NULL;
    pthread_join(t, NULL);
    say("survived\n");
    return 0;
}
