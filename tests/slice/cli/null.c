/* null.c - a null pointer that is made far from where it hurts. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

struct item {
    struct item *next;
    int *value;
};

static struct item *push(struct item *list, int value)
{
    struct item *n = malloc(sizeof *n);
    n->next = list;
    n->value = malloc(sizeof *n->value);
    *n->value = value;
    return n;
}

static void drop(struct item *list, int value)
{
    for (; list; list = list->next)
        if (*list->value == value)
            list->value = NULL; /* ROOT CAUSE */
}

static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * 3;
    return sum;
}

int main(void)
{
    struct item *list = NULL;
    int sum = 0;
    for (int i = 0; i < 5; i++)
        list = push(list, i * 2);
    drop(list, 4);
    printf("worked: %d\n", work(1000)); /* UNRELATED */
    for (; list; list = list->next)
        sum += *list->value; /* CRASH */
    return sum;
}
