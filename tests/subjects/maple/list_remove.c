/* list_remove.c - two threads take neighbours out of a list, without a lock around it.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

struct node {
    struct node *next;
};
static struct node d, c = {&d}, b = {&c}, a = {&b};
static struct node *head = &a;
FIX(static pthread_mutex_t m = MUTEX;)

static void take_out(struct node *what)
{
    struct node **from = &head;
    FIX(LOCK(m);)
    while (GET(*from) != what)
        from = &GET(*from)->next;
    struct node *next = GET(what->next);
    SET(*from, next); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
}

static void *work(void *arg)
{
    take_out(arg ? &c : &b);
    return arg;
}

int main(void)
{
    RUN(2, work);
    CHECK(a.next == &d);
    return 0;
}
