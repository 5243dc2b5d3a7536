/* pool_task.c - a pool's worker says that a task is done and then looks at it once more; who waited
 * for it has given it back. SPDX-License-Identifier: MIT */
#include "subject.h"

struct task {
    long result[2]; /* where an allocator keeps its list */
    int done, alive;
};
static struct task *queue;
static pthread_mutex_t m = MUTEX;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, over = PTHREAD_COND_INITIALIZER;

static void *serve(void *arg)
{
    LOCK(m);
    while (!queue)
        pthread_cond_wait(&ready, &m);
    struct task *t = queue;
    queue = NULL;
    UNLOCK(m);
    t->result[0] = 42;
    LOCK(m);
    t->done = 1;
    FIX(CHECK(GET(t->alive));)
    pthread_cond_signal(&over);
    UNLOCK(m);
    BUG(CHECK(GET(t->alive));) /* ROOT CAUSE */
    return arg;
}

static void *submit(void *arg)
{
    struct task *t = calloc(1, sizeof *t);
    t->alive = 1;
    LOCK(m);
    queue = t;
    pthread_cond_signal(&ready);
    while (!t->done)
        pthread_cond_wait(&over, &m);
    UNLOCK(m);
    SET(t->alive, 0);
    free(t);
    return arg;
}

int main(void)
{
    RUN(2, serve, submit);
    return 0;
}
