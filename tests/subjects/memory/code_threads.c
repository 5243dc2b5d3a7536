/* code_threads.c - one thread rewrites code that others run: after a lock hand-over they see the
 * new. */
#include "subject.h"
#include <pthread.h>

static uint8_t *p;
static pthread_barrier_t b;
static int wrong;

static void *runner(void *arg)
{
    for (int i = 0; i < 300; i++) {
        pthread_barrier_wait(&b);
        if (call_at(p) != i)
            __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
        pthread_barrier_wait(&b);
    }
    return arg;
}

static void *until_patched(void *arg)
{
    return (void *)(long)call_at(arg);
}

int main(void)
{
    pthread_t t[3];
    p = map_code(PAGE);
    pthread_barrier_init(&b, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, runner, NULL);
    for (int i = 0; i < 300; i++) {
        put_return(p, i);
        pthread_barrier_wait(&b);
        pthread_barrier_wait(&b);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say("wrong %d\n", wrong);
    /* A jump to itself, replaced by two nops while a thread sits in it. */
    uint8_t *q = p + 512;
    q[0] = 0xeb;
    q[1] = 0xfe;
    put_return(q + 2, 42);
    pthread_create(&t[0], NULL, until_patched, q);
    sleep_ms(20);
    __atomic_store_n((uint16_t *)q, 0x9090, __ATOMIC_SEQ_CST);
    void *r;
    pthread_join(t[0], &r);
    say("patched out of its loop: %ld\n", (long)r);
    return 0;
}
