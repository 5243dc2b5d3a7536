/* leaks.c - blocks that can be reached at the end, in every way, and blocks that cannot.
 *
 * A line with `LEAK: how blocks bytes` is where a leaked block was allocated.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory") /* nothing is left out */

struct node {
    struct node *next;
    char *text;
};

static struct node *list;       /* reached: by data */
static void *zeroed[100];       /* reached: by zeroed data */
static _Thread_local void *own; /* reached: by memory of the thread */
static char *interior;          /* reached: by a pointer into the block */

__attribute__((noinline)) static struct node *node_new(struct node *next)
{
    struct node *n = malloc(sizeof *n);
    n->next = next;
    n->text = strdup("text of a node");
    return n;
}

__attribute__((noinline)) static void lose(void)
{
    for (int i = 0; i < 3; i++) {
        struct node *n = malloc(sizeof *n); /* LEAK: direct 3 48 */
        n->next = NULL;
        n->text = malloc(100); /* LEAK: indirect 3 300 */
        KEEP(n);
    }
}

__attribute__((noinline)) static void lose_ring(void)
{
    struct node *a = malloc(sizeof *a); /* LEAK: indirect 1 16 */
    struct node *b = malloc(sizeof *b); /* LEAK: indirect 1 16 */
    *a = (struct node){b, NULL};
    *b = (struct node){a, NULL};
    KEEP(a);
}

/* malloc's own pointer to the free memory behind it is one into its last bytes. */
__attribute__((noinline)) static void lose_last(void)
{
    char *p = malloc(100); /* LEAK: direct 1 100 */
    p[0] = 1;
    KEEP(p);
}

__attribute__((noinline)) static void clean(void)
{
    volatile char stack[4096]; /* no stale pointers below */
    memset((char *)stack, 0, sizeof stack);
}

static void *thread(void *arg)
{
    own = malloc(33);
    KEEP(&own);
    pthread_barrier_wait(arg);
    pthread_barrier_wait(arg); /* it lives when the program ends */
    return NULL;
}

int main(void)
{
    pthread_barrier_t both;
    pthread_t t;
    for (int i = 0; i < 10; i++)
        list = node_new(list);
    for (int i = 0; i < 100; i++)
        zeroed[i] = malloc((size_t)i + 1);
    own = malloc(20);
    interior = malloc(64);
    interior += 40;
    KEEP(&interior);
    uintptr_t *on_stack = malloc(24);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t, NULL, thread, &both);
    pthread_barrier_wait(&both);
    lose();
    lose_ring();
    clean();
    on_stack[0] = (uintptr_t)malloc(12);
    printf("%p\n", (void *)on_stack);
    lose_last();
    clean();
    exit(on_stack == NULL);
}
