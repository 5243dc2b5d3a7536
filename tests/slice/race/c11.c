/* c11.c - threads and atomics of C11. SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

#include "cases.h"

enum { TIMES = 20 };

static int data, total;
static atomic_int ready;
static mtx_t mutex;
static once_flag once = ONCE_FLAG_INIT;

struct box {
    int data;
    atomic_int ready;
};
static struct {
    char before;
    struct box list[2];
} boxes;

struct item {
    struct item *next;
    int value;
};
static _Atomic(struct item *) top;

static int two(thrd_start_t a, thrd_start_t b, void *arg)
{
    thrd_t one, other;
    int x, y;
    thrd_create(&one, a, arg);
    thrd_create(&other, b, arg);
    thrd_join(one, &x);
    thrd_join(other, &y);
    return x + y;
}

static int raise_flag(void *arg)
{
    struct box *b = arg;
    if (!b) {
        data = 42;
        atomic_store_explicit(&ready, 1, memory_order_release);
    } else {
        b->data = 43;
        atomic_store_explicit(&b->ready, 1, memory_order_release);
    }
    return 0;
}

static int await_flag(void *arg)
{
    struct box *b = arg;
    int seen;
    while (!(seen = atomic_load_explicit(b ? &b->ready : &ready, memory_order_acquire)))
        sched_yield();
    int got = b ? *(volatile int *)&b->data : *(volatile int *)&data;
    return got + seen;
}

/* No instruction here tells that it is atomic. */
static int flag(void) /* MARKS data: none, ready: none BARE data: race?, ready: race? */
{
    return two(raise_flag, await_flag, NULL);
}

static int member(void) /* MARKS boxes: none BARE boxes: race? */
{
    return two(raise_flag, await_flag, &boxes.list[1]);
}

/* Nor does debug information, of the heap. */
static int heap(void) /* MARKS memory: race? */
{
    return two(raise_flag, await_flag, calloc(1, sizeof(struct box)));
}

static int push(void *arg)
{
    for (int i = 1; i <= TIMES; i++) {
        struct item *n = malloc(sizeof *n);
        n->value = i;
        n->next = atomic_load(&top);
        while (!atomic_compare_exchange_weak(&top, &n->next, n))
            ;
    }
    return arg ? 1 : 0;
}

static int pop(void *arg)
{
    int sum = 0;
    for (int i = 0; i < TIMES;) {
        struct item *n = atomic_load(&top);
        if (n && atomic_compare_exchange_weak(&top, &n, n->next)) {
            sum += *(volatile int *)&n->value;
            i++;
        } else {
            sched_yield();
        }
    }
    return sum + (arg != NULL);
}

static int stack(void) /* MARKS top: none, memory: none */
{
    return two(push, pop, NULL);
}

static int add(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        mtx_lock(&mutex);
        total = total + 3;
        mtx_unlock(&mutex);
    }
    return arg != NULL;
}

static int locked(void) /* MARKS total: none */
{
    mtx_init(&mutex, mtx_plain);
    two(add, add, NULL);
    return total;
}

static void prepare(void)
{
    data = 8;
}

static int use_once(void *arg)
{
    call_once(&once, prepare);
    return *(volatile int *)&data + (arg != NULL);
}

static int called_once(void) /* MARKS data: none */
{
    return two(use_once, use_once, NULL);
}

int main(int argc, char *argv[])
{
    static const struct one_case list[] = {
        {"flag", flag},     {"member", member},           {"heap", heap}, {"stack", stack},
        {"locked", locked}, {"called_once", called_once}, {NULL, NULL}};
    return run_case(list, argc > 1 ? argv[1] : "");
}
