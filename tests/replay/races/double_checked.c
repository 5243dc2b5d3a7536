/* double_checked.c - double-checked locking that publishes the object before it is filled. */
#include "race.h"

struct object {
    volatile int filled[8];
};

static struct object *volatile instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct object *get(void)
{
    if (!instance) {
        pthread_mutex_lock(&lock);
        if (!instance) {
            struct object *fresh = calloc(1, sizeof *fresh);
            instance = fresh; /* ROOT CAUSE */
            for (int i = 0; i < 8; i++) {
                work(50);
                fresh->filled[i] = 1;
            }
        }
        pthread_mutex_unlock(&lock);
    }
    return instance;
}

static void *user(void *arg)
{
    int sum = 0;
    struct object *o = get();
    for (int i = 0; i < 8; i++)
        sum += o->filled[i];
    *(int *)arg = sum;
    return NULL;
}

int main(void)
{
    int bad = 0;
    for (int round = 0; round < 60; round++) {
        int sums[3];
        pthread_t t[3];
        instance = NULL;
        for (int i = 0; i < 3; i++)
            t[i] = start(user, &sums[i]);
        for (int i = 0; i < 3; i++) {
            pthread_join(t[i], NULL);
            if (sums[i] != 8)
                say("round %d: user %d saw %d of 8\n", round, i, sums[i]);
            bad += sums[i] != 8;
        }
    }
    say("%d half-filled objects\n", bad);
    return bad > 100 ? 100 : bad;
}
