/* spin_stop.c - a thread in a one-instruction loop, and one in straight jumps, see another's store.
 */
#include "subject.h"
#include <pthread.h>

static int stop;
static volatile int started;

static void *cmp_loop(void *arg)
{
    __asm__ volatile("lock incl %1\n1:\tcmpl $0, %0\n\tje 1b"
                     :
                     : "m"(stop), "m"(started)
                     : "memory");
    return arg;
}

static void *jump_chain(void *arg)
{
    __asm__ volatile("lock incl %1\n"
                     "1:\tjmp 2f\n3:\tjmp 4f\n2:\tjmp 3b\n"
                     "4:\tcmpl $0, %0\n\tje 1b"
                     :
                     : "m"(stop), "m"(started)
                     : "memory");
    return arg;
}

static void *indirect_loop(void *arg)
{
    __asm__ volatile("lock incl %1\n\tlea 1f(%%rip), %%rax\n"
                     "1:\tcmpl $0, %0\n\tjne 2f\n\tjmp *%%rax\n2:"
                     :
                     : "m"(stop), "m"(started)
                     : "memory", "rax");
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, cmp_loop, NULL);
    pthread_create(&t[1], NULL, jump_chain, NULL);
    pthread_create(&t[2], NULL, indirect_loop, NULL);
    while (started < 3)
        ;
    sleep_ms(20);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say("all stopped\n");
    return 0;
}
