/* exit_last.c - main leaves by pthread_exit, the last thread to return ends the process with 0. */
#include "subject.h"
#include <pthread.h>

static void *late(void *arg)
{
    pthread_t *main_thread = arg;
    pthread_join(*main_thread, NULL);
    sleep_ms(30);
    say("last\n");
    return NULL;
}

int main(void)
{
    static pthread_t me;
    pthread_t t;
    me = pthread_self();
    pthread_create(&t, NULL, late, &me);
    say("main leaves\n");
    pthread_exit((void *)55);
}
