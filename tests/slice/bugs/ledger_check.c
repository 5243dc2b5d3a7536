/* ledger_check.c - a balance is checked under the lock, and changed under it, but not in one go.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    unsigned changes;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};

static int has(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    int yes = a->balance >= amount; /* ROOT CAUSE */
    pthread_mutex_unlock(&a->lock);
    return yes;
}

static void authorise(long amount)
{
    (void)amount;
    usleep(20000);
}

static int withdraw(struct account *a, long amount)
{
#ifdef FIXED
    authorise(amount);
    pthread_mutex_lock(&a->lock);
    int yes = a->balance >= amount;
    if (yes) {
        a->balance -= amount;
        a->changes++;
    }
    pthread_mutex_unlock(&a->lock);
    return yes;
#else
    if (!has(a, amount))
        return 0;
    authorise(amount);
    pthread_mutex_lock(&a->lock);
    a->balance -= amount; /* ROOT CAUSE */
    a->changes++;
    pthread_mutex_unlock(&a->lock);
    return 1;
#endif
}

static void *customer(void *arg)
{
    long paid = 0;
    for (int i = 0; i < 4; i++)
        paid += withdraw(&account, 30) * 30;
    return (void *)(paid + (arg != NULL));
}

static int audit(const struct account *a, long paid)
{
    return a->balance >= 0 && a->balance + paid == 100;
}

int main(void)
{
    pthread_t a, b;
    void *first, *second;
    pthread_create(&a, NULL, customer, NULL);
    pthread_create(&b, NULL, customer, NULL);
    pthread_join(a, &first);
    pthread_join(b, &second);
    printf("%ld after %u changes\n", account.balance, account.changes);
    (void)has;
    assert(audit(&account, (long)first + (long)second));
    return 0;
}
