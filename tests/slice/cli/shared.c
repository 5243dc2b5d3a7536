/* shared.c - optimised code in which statements of several lines begin at one address, and a line
 * whose only statement was put before the function. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
    char name[16];
};

static struct node *head;

static struct node *make(int key)
{
    struct node *n = malloc(sizeof *n); /* MADE */
    n->key = key;                       /* KEY */
    n->next = NULL;
    snprintf(n->name, sizeof n->name, "n%d", key);
    return n;
}

static void add(int key)
{
    struct node *n = make(key);
    n->next = head;
    head = n; /* HEAD */
}

int main(void)
{
    int total = 0;
    for (int i = 0; i < 10; i++)
        add(i); /* ADD */
    for (struct node *n = head; n; n = n->next)
        total += n->key; /* SUM */
    if (total != 46)
        abort(); /* COLD */
    return 0;
}
