/* short_lived.c - 10,000 threads that live for a moment each, eight at a time. */
#include "subject.h"
#include <pthread.h>

enum { ALL = 10000, AT_ONCE = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread long own;
static long total;

static void *body(void *arg)
{
    own += (long)arg;
    pthread_mutex_lock(&lock);
    total += own;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    long back = 0;
    for (long i = 0; i < ALL; i += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++)
            if (pthread_create(&thread[k], NULL, body, (void *)(i + k)))
                return 1;
        for (int k = 0; k < AT_ONCE; k++) {
            void *result;
            pthread_join(thread[k], &result);
            back += (long)result;
        }
    }
    check(total == (long)ALL * (ALL - 1) / 2);
    check(back == total);
    return 0;
}
