/* forgotten_unlock.c - a function that takes a lock returns early, for one input of many, without
 * giving it back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNTS 8

struct account {
    long balance;
    int frozen;
};

struct bank {
    pthread_mutex_t lock;
    struct account account[ACCOUNTS];
    long refused;
};

struct job {
    struct bank *bank;
    const int (*transfer)[3];
    int count;
};

static int withdraw(struct bank *b, int from, long sum)
{
    pthread_mutex_lock(&b->lock); /* ROOT CAUSE */
    if (b->account[from].frozen) {
#ifdef FIXED
        b->refused++;
        pthread_mutex_unlock(&b->lock);
#else
        b->refused++; /* ROOT CAUSE */
#endif
        return -1;
    }
    b->account[from].balance -= sum;
    pthread_mutex_unlock(&b->lock);
    return 0;
}

static void deposit(struct bank *b, int to, long sum)
{
    pthread_mutex_lock(&b->lock);
    b->account[to].balance += sum;
    pthread_mutex_unlock(&b->lock);
}

static void *clerk(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < j->count; i++)
        if (withdraw(j->bank, j->transfer[i][0], j->transfer[i][2]) == 0)
            deposit(j->bank, j->transfer[i][1], j->transfer[i][2]);
    return NULL;
}

static long audit(struct bank *b)
{
    long sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < ACCOUNTS; i++) {
            pthread_mutex_lock(&b->lock);
            sum += b->account[i].balance;
            pthread_mutex_unlock(&b->lock);
        }
    return sum / 3;
}

int main(void)
{
    static const int morning[][3] = {{0, 1, 5}, {2, 3, 7}, {1, 0, 3}};
    static const int noon[][3] = {{4, 5, 1}, {6, 7, 2}, {5, 4, 9}, {5, 6, 3}, {6, 4, 8}};
    static struct bank bank = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct job first = {&bank, morning, 3}, second = {&bank, noon, 4};
    pthread_t a, b;
    for (int i = 0; i < ACCOUNTS; i++)
        bank.account[i] = (struct account){100, i == 5};
    bank.account[5].frozen = 0;
    pthread_create(&a, NULL, clerk, &first);
    pthread_join(a, NULL);
    bank.account[5].frozen = audit(&bank) == 100 * ACCOUNTS;
    second.count = 3;
    pthread_create(&b, NULL, clerk, &second);
    pthread_join(b, NULL);
    printf("%ld, %ld refused\n", audit(&bank), bank.refused);
    return 0;
}
