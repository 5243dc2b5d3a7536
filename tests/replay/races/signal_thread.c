/* signal_thread.c - a handler and its thread change the same list; a signal in the middle of an
 * insertion leaves it broken. */
#include "race.h"

static struct node {
    struct node *next;
    int value;
} pool[100000], *volatile head;

static volatile int used, inserted, by_handler, stop;
static pthread_t victim;

static void insert(int value)
{
    struct node *n = &pool[used];
    used = used + 1;
    n->value = value;
    n->next = head;
    work(30);
    head = n; /* ROOT CAUSE */
    inserted++;
}

static void on_usr(int sig)
{
    if (by_handler < 1000) {
        by_handler++;
        insert(-sig);
    }
}

static void *fill_list(void *arg)
{
    for (int i = 0; i < 90000 && by_handler < 20; i++)
        insert(i);
    stop = 1;
    return arg;
}

int main(void)
{
    signal(SIGUSR1, on_usr);
    victim = start(fill_list, NULL);
    while (!used)
        ;
    while (!stop) {
        pthread_kill(victim, SIGUSR1);
        work(1000);
    }
    pthread_join(victim, NULL);
    int length = 0;
    long sum = 0;
    for (struct node *n = head; n && length < 100000; n = n->next, length++)
        sum = sum * 31 + n->value;
    say("%d inserted, %d by the handler, %d in the list, sum %lx\n", inserted, by_handler, length,
        (unsigned long)sum);
    if (length != inserted)
        raise(SIGTRAP);
    return 0;
}
