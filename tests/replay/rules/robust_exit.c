/* robust_exit.c - threads that end with a robust mutex held, in three ways: the list is walked, the
 * tid in the futex word is replaced, the waiter learns of it. */
#include "rule.h"

static pthread_mutex_t m[3];

static void *owner(void *arg)
{
    long how = (long)arg;
    pthread_mutex_lock(&m[how]);
    say("thread %d holds mutex %ld, word %x\n", gettid(), how, (unsigned)m[how].__data.__lock);
    sleep_ms(10);
    if (how == 0)
        return NULL;
    if (how == 1)
        pthread_exit(NULL);
    syscall(SYS_exit, 0);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    for (long i = 0; i < 3; i++) {
        pthread_mutex_init(&m[i], &a);
        pthread_t t = start(owner, (void *)i);
        sleep_ms(i == 0 ? 0 : 5);
        if (i == 0)
            pthread_join(t, NULL);
        int r = pthread_mutex_lock(&m[i]);
        say("lock %ld: %s, word %x\n", i,
            r == EOWNERDEAD ? "owner died"
            : r             ? "FAIL"
                            : "free",
            (unsigned)m[i].__data.__lock);
        check(i > 0 || r == EOWNERDEAD);
        if (r == EOWNERDEAD)
            pthread_mutex_consistent(&m[i]);
        pthread_mutex_unlock(&m[i]);
        if (i > 0)
            pthread_join(t, NULL);
        say("word %x\n", (unsigned)m[i].__data.__lock);
    }
    return 0;
}
