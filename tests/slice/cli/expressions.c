/* expressions.c - variables of all kinds, for criteria that are C expressions.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum color { RED, GREEN, BLUE };

struct flags {
    unsigned low : 3;
    int middle : 7;
    unsigned high : 12;
};

struct node {
    int key;
    struct node *next;
    struct flags flags;
    union {
        long number;
        char letters[8];
    };
    enum color color;
    double weight;
};

static struct node nodes[4];
struct node *list;
int matrix[3][4];
int which = 1;
__thread int mine;
__thread struct node ours;
static long total;

__attribute__((noinline)) static int count(void)
{
    static int total; /* another one */
    total += 2;       /* STATIC */
    return total;
}

__attribute__((noinline)) static int look(struct node *p, int i, int n)
{
    int grid[n][i + 1];
    volatile int local = i;
    memset(grid, 0, sizeof grid);
    grid[n - 1][i] = p->next->key; /* GRID */
    which = i;                     /* WHICH */
    local += grid[n - 1][i];       /* LOCAL */
    return local;
}

int main(void)
{
    int i, at = 2;
    for (i = 0; i < 4; i++) {
        nodes[i].key = 10 * i;                /* KEY */
        nodes[i].next = &nodes[(i + 1) % 4];  /* NEXT */
        nodes[i].color = (enum color)(i % 3); /* COLOR */
        nodes[i].weight = i / 2.0;            /* WEIGHT */
        matrix[i % 3][i] = i + 1;             /* MATRIX */
    }
    nodes[1].flags.middle = -5; /* MIDDLE */
    nodes[1].flags.high = 99;   /* HIGH */
    nodes[2].number = 77;       /* NUMBER */
    list = &nodes[1];           /* LIST */
    mine = 5;                   /* MINE */
    ours.key = 6;               /* OURS */
    total = count();            /* TOTAL */
    total += look(list, at, 3); /* LOOKED */
    return total == 0;          /* END */
}
