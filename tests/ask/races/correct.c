/* correct.c - programs without races, as like those of racing.c as can be.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../slice/race/cases.h"

enum { TIMES = 20, MANY = 8, ROUNDS = 50 };

static volatile int total, shared;
static atomic_int counted, stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static char bytes[8];
static __thread int own;

static int two(void *(*a)(void *), void *(*b)(void *), void *arg)
{
    pthread_t one, next;
    pthread_create(&one, NULL, a, arg);
    pthread_create(&next, NULL, b, arg);
    pthread_join(one, NULL);
    pthread_join(next, NULL);
    return total + shared;
}

static void *add(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&mutex);
        int before = total;
        usleep(10);
        total = before + 1;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static int counter(void)
{
    return two(add, add, NULL);
}

static void *count(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        counted++;
    return arg;
}

static int atomics(void)
{
    return two(count, count, NULL) + counted;
}

static void *post(void *arg)
{
    shared = 5;
    sem_post(&sem);
    return arg;
}

static void *wait_for_it(void *arg)
{
    sem_wait(&sem);
    total = shared;
    return arg;
}

static int semaphore(void)
{
    sem_init(&sem, 0, 0);
    return two(post, wait_for_it, NULL);
}

static void *wait_for_stop(void *arg)
{
    while (!atomic_load_explicit(&stop, memory_order_acquire))
        usleep(100);
    total = shared;
    return arg;
}

static void *order_stop(void *arg)
{
    usleep(3000);
    shared = 4;
    atomic_store_explicit(&stop, 1, memory_order_release);
    return arg;
}

static int polled(void)
{
    return two(wait_for_stop, order_stop, NULL);
}

/* Neighbours in one word. */
static void *write_byte(void *arg)
{
    static atomic_int next;
    volatile char *mine = &bytes[next++];
    for (int i = 0; i < TIMES; i++)
        *mine = (char)i;
    return arg;
}

static int neighbours(void)
{
    return two(write_byte, write_byte, NULL);
}

static void *use_own(void *arg)
{
    for (int i = 0; i < TIMES; i++)
        own += i;
    fprintf(stderr, "%d\n", own);
    return arg;
}

static int thread_local_ones(void)
{
    return two(use_own, use_own, NULL);
}

/* ---- memory that goes from hand to hand ---- */

struct message {
    struct message *next;
    int number;
    char text[100];
};
static struct message *queue;

static void *produce(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct message *m = malloc(sizeof *m);
        m->number = i;
        snprintf(m->text, sizeof m->text, "message %d", i);
        pthread_mutex_lock(&mutex);
        m->next = queue;
        queue = m;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
        if (i % 10 == 0)
            usleep(10);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (!queue)
            pthread_cond_wait(&cond, &mutex);
        struct message *m = queue;
        queue = m->next;
        pthread_mutex_unlock(&mutex);
        shared += m->number + (int)strlen(m->text);
        free(m);
    }
    return arg;
}

static int messages(void)
{
    return two(produce, consume, NULL);
}

static void *churn(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *p[MANY];
        for (int k = 0; k < MANY; k++) {
            p[k] = malloc((size_t)(100 + 300 * k));
            memset(p[k], i, (size_t)(100 + 300 * k));
        }
        for (int k = 0; k < MANY; k++)
            free(p[k]);
    }
    return arg;
}

/* A thread's stack and blocks become another one's. */
static int one_after_another(void)
{
    for (int i = 0; i < MANY; i++) {
        pthread_t t;
        pthread_create(&t, NULL, churn, NULL);
        if (i % 2)
            pthread_join(t, NULL);
        else
            pthread_detach(t);
        usleep(3000);
    }
    return 0;
}

static int allocated(void)
{
    return two(churn, churn, NULL);
}

static int part[2];

static void *phases(void *arg)
{
    static atomic_int next;
    int me = next++;
    part[me] = me + 3;
    pthread_barrier_wait(&barrier);
    int got = part[!me];
    pthread_barrier_wait(&barrier);
    part[me] = got;
    return arg;
}

static int barriers(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    return two(phases, phases, NULL) + part[0];
}

static int ends[2];

static void *send_byte(void *arg)
{
    shared = 6;
    return write(ends[1], "", 1) == 1 ? arg : NULL;
}

static void *receive_byte(void *arg)
{
    char c;
    if (read(ends[0], &c, 1) == 1)
        total = shared;
    return arg;
}

static int pipes(void)
{
    return pipe(ends) ? 0 : two(send_byte, receive_byte, NULL);
}

static volatile int length;
static const char *volatile words;

static void *measure_words(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&mutex);
        int n = length;
        usleep(20);
        const char *w = words;
        pthread_mutex_unlock(&mutex);
        shared += w ? w[n] : 0;
    }
    return arg;
}

static void *change_words(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&mutex);
        length = i % 5;
        words = "apple";
        pthread_mutex_unlock(&mutex);
        usleep(20);
    }
    return arg;
}

static int together(void)
{
    return two(measure_words, change_words, NULL);
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {{"counter", counter},
                                           {"atomics", atomics},
                                           {"semaphore", semaphore},
                                           {"polled", polled},
                                           {"neighbours", neighbours},
                                           {"thread_local_ones", thread_local_ones},
                                           {"messages", messages},
                                           {"one_after_another", one_after_another},
                                           {"allocated", allocated},
                                           {"barriers", barriers},
                                           {"pipes", pipes},
                                           {"together", together},
                                           {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
