/* touched.c - memory that is touched in many ways. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct pair {
    int left;
    long right;
};

volatile int counter;
volatile double real;
char text[32];
struct pair pairs[4];
volatile unsigned char flags;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        counter += (int)(long)arg;
        real = real * 2 + i;
        pthread_mutex_unlock(&lock);
        __atomic_fetch_or(&flags, (unsigned char)(1 << i % 8), __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* By the kernel, by string instructions, by vectors. */
static void fill(void)
{
    int ends[2];
    if (pipe(ends) || write(ends[1], "from the kernel", 15) != 15 || read(ends[0], text, 15) != 15)
        return;
    memmove(text + 2, text, 20);
    memset(text + 5, 'x', 4);
    for (int i = 0; i < 4; i++)
        pairs[i] = (struct pair){i, 10L * i};
    pairs[1] = pairs[3];
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    fill();
    counter = counter;
    printf("%d %g %d %s %ld\n", counter, real, flags, text, pairs[1].right);
    return 0;
}
