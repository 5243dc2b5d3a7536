/* atomicity.c - check and act are two critical sections: an account goes below zero. Every transfer
 * is printed, so the order of all threads is on standard output, and each refusal on standard
 * error. */
#include "race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 500;

static int can_pay(int amount)
{
    pthread_mutex_lock(&lock);
    int enough = balance >= amount;
    pthread_mutex_unlock(&lock);
    return enough; /* ROOT CAUSE */
}

static void *spend(void *arg)
{
    long who = (long)arg;
    for (int i = 0; i < 60; i++) {
        int amount = 3 + (i * 7 + (int)who) % 9;
        if (!can_pay(amount)) {
            dprintf(STDERR_FILENO, "%ld is refused %d\n", who, amount);
            continue;
        }
        work(100);
        pthread_mutex_lock(&lock);
        balance -= amount;
        say("%ld spends %d, %d left\n", who, amount, balance);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++)
        t[i] = start(spend, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    say("balance %d\n", balance);
    return balance < 0 ? 1 : 0;
}
