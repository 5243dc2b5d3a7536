/* coroutines.c - 500 coroutines with small stacks, which go on in whatever thread takes them next.
 */
#include "subject.h"
#include <pthread.h>

enum { COROUTINES = 500, THREADS = 4, STEPS = 40, STACK = 32768 };

struct coroutine {
    ucontext_t context;
    ucontext_t *back; /* into the thread that runs it */
    unsigned long value;
    int steps;
};

static struct coroutine all[COROUTINES];
static int queue[COROUTINES * (STEPS + 2)];
static int head, tail, live = COROUTINES;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void body(int me)
{
    struct coroutine *c = &all[me];
    volatile unsigned long local = (unsigned long)me;
    while (c->steps < STEPS) {
        local = local * 31 + (unsigned long)c->steps++;
        swapcontext(&c->context, c->back);
    }
    c->value = local;
    c->steps++;
    swapcontext(&c->context, c->back); /* never comes back */
}

static int take(void)
{
    pthread_mutex_lock(&lock);
    int n = head < tail ? queue[head++] : live ? -1 : -2;
    pthread_mutex_unlock(&lock);
    return n;
}

static void give_back(int n)
{
    pthread_mutex_lock(&lock);
    if (all[n].steps > STEPS)
        live--;
    else
        queue[tail++] = n;
    pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
    ucontext_t here;
    (void)unused;
    for (int n; (n = take()) != -2;) {
        if (n == -1) {
            sched_yield();
            continue;
        }
        all[n].back = &here;
        swapcontext(&here, &all[n].context);
        give_back(n);
    }
    return NULL;
}

static void start(int n)
{
    struct coroutine *c = &all[n];
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = map_anon(STACK, PROT_READ | PROT_WRITE);
    c->context.uc_stack.ss_size = STACK;
    makecontext(&c->context, (void (*)(void))body, 1, n);
    queue[tail++] = n;
}

int main(void)
{
    pthread_t thread[THREADS];
    unsigned long sum = 0;
    for (int i = 0; i < COROUTINES; i++)
        start(i);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < COROUTINES; i++)
        sum = sum * 31 + all[i].value;
    say("%016lx\n", sum);
    return 0;
}
