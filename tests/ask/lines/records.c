/* records.c - structures, unions, arrays, pointers and strings. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    const char *name;
    struct node *next;
    union {
        int number;
        float real;
        char bytes[4];
    } u;
    struct {
        short left, right;
    };
    char text[12];
    int grid[2][3];
    int (*fn)(int);
    void *any;
};
typedef struct {
    unsigned char key[8];
    char **words;
} anonymous;

static int twice(int x)
{
    return 2 * x;
}
static int zeros[40];
static long counts[300];
static const char *words[] = {"one", "two", "a longer one with \"quotes\" and a \\", NULL};
static char blank[24], lines[] = "first\nsecond\ttab\001\0022";
static anonymous thing = {"\001\002abc", (char **)words};
static struct node table[3];

__attribute__((noinline)) static int visit(struct node *n, const struct node *fixed, int depth,
                                           char *buffer)
{
    struct node copy = *n;
    struct node **link = &n->next;
    unsigned char *raw = (unsigned char *)n->text;
    int *first = &n->grid[1][0];
    counts[depth] += copy.value;
    copy.u.number += depth;
    snprintf(buffer, 64, "%s/%d/%d", n->name ? n->name : "-", copy.value, copy.u.number);
    (void)link, (void)fixed;
    counts[depth] += *raw + *first;
    zeros[3] = depth; /* LOOK 1 */
    return copy.value;
}

int main(void)
{
    struct node *list = NULL;
    char buffer[64] = "";
    static char far[400];
    for (int i = 0; i < 4; i++) {
        struct node *n = calloc(1, sizeof *n);
        n->value = i + 1;
        n->name = i == 2 ? NULL : words[i & 1];
        n->next = list;
        n->u.real = (float)i + 0.5f;
        n->left = (short)-i;
        n->right = (short)(i * 100);
        memset(n->text, 'x', (size_t)i * 3);
        for (int k = 0; k < 6; k++)
            n->grid[k / 3][k % 3] = i * k;
        n->fn = i & 1 ? twice : NULL;
        n->any = i == 3 ? (void *)n : (void *)(long)i;
        list = n;
    }
    memset(far, 'f', sizeof far - 1);
    table[1] = *list;
    int sum = 0, depth = 0;
    for (struct node *n = list; n; n = n->next)
        sum += visit(n, list, depth++, buffer); /* LOOK 2 */
    blank[sum & 7] = lines[sum & 7];
    thing.key[sum & 3]++;
    zeros[sum & 31]++;
    printf("%d %s %s %s %d %s %d\n", sum, buffer, blank, lines, thing.key[2], thing.words[0],
           zeros[sum & 15] + table[1].value);
    return 0;
}
