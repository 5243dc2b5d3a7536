/* aba_stack.c - a stack by compare and swap; a node that comes back fools a pop.
 * SPDX-License-Identifier: MIT */
#include "subject.h"

struct node {
    struct node *next;
    int taken;
};
static struct node node[3];
static struct node *top;
static pthread_mutex_t m = MUTEX;

static struct node *pop(void)
{
    struct node *n, *next;
    (void)m;
    FIX(LOCK(m);)
    do {
        n = GET(top);
        if (!n)
            break;
        next = GET(n->next); /* ROOT CAUSE */
    } while (!__atomic_compare_exchange_n(&top, &n, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    FIX(UNLOCK(m);)
    if (n)
        CHECK(__atomic_fetch_add(&n->taken, 1, __ATOMIC_RELAXED) == 0);
    return n;
}

static void push(struct node *n)
{
    struct node *t = GET(top);
    SET(n->taken, 0);
    do
        SET(n->next, t);
    while (!__atomic_compare_exchange_n(&top, &t, n, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void *take(void *arg)
{
    pop();
    return arg;
}

static void *exchange(void *arg)
{
    struct node *a = pop();
    struct node *b = pop();
    (void)b;
    if (a)
        push(a);
    return arg;
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        push(&node[i]);
    RUN(3, take, exchange, take);
    return 0;
}
