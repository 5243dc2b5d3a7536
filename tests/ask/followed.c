/* followed.c - pointers and indices that change while what they lead to changes, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
    long key;
    struct node *next;
    char name[12];
};

struct list {
    struct node *head;
    unsigned length : 7;
};

struct list *list;
int table[8];
volatile unsigned at;
double *cursor;
double reals[4];
static __thread struct node *mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void push(long key)
{
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->next = list->head;
    snprintf(n->name, sizeof n->name, "n%ld", key);
    list->head = n;
    list->length++;
    n->key += 100; /* now it is the head's */
}

static void pop(void)
{
    struct node *n = list->head;
    list->head = n->next;
    n->key = -1; /* it is not the head's any more */
    list->length--;
    free(n);
}

static void *work(void *arg)
{
    struct node own = {.key = (long)arg};
    for (int i = 0; i < 6; i++) {
        pthread_mutex_lock(&lock);
        mine = i % 2 ? &own : list->head;
        push(own.key * 10 + i);
        at = (at + 3) % 8;
        table[at] += i;
        table[(at + 1) % 8] = i;
        mine->key++;
        if (i % 3 == 2)
            pop();
        pthread_mutex_unlock(&lock);
    }
    mine = NULL;
    return NULL;
}

/* Locals that are in memory as long as the call lasts. */
__attribute__((noinline)) static long walk(struct node *volatile *from, volatile int *volatile step)
{
    struct node *volatile here = *from;
    volatile int box[3] = {1, 2, 3};
    step = box;
    long sum = 0;
    while (here) {
        sum += here->key + *step;
        *step += 10;
        step = step == box + 2 ? box : step + 1;
        here->key = here->key; /* idempotent */
        here = here->next;     /* NULL in the end */
    }
    return sum;
}

static void reals_change(void)
{
    int ends[2];
    for (int i = 0; i < 4; i++) {
        cursor = &reals[i];
        *cursor = i * 1.5;
        reals[(i + 1) % 4] = 7;
    }
    if (pipe(ends) || write(ends[1], "\0\0\0\0\0\0\4@", 8) != 8 || read(ends[0], cursor, 8) != 8)
        exit(2);
    memset(&cursor, 0, sizeof cursor);
    cursor = reals;
    memmove(reals, reals + 1, sizeof reals - sizeof *reals);
}

int main(void)
{
    pthread_t t[2];
    list = calloc(1, sizeof *list);
    push(1);
    push(2);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    reals_change();
    struct node *volatile first = list->head;
    long sum = walk(&first, NULL);
    struct list *old = list;
    list = calloc(1, sizeof *list);
    push(3);
    pop();
    list = old;
    printf("%ld %d %g %u\n", sum, table[at], *cursor, list->length);
    while (list->head)
        pop();
    return 0;
}
