/* differs.c - two of its runs differ in one value that matters and in some that do not.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    int price;
    struct item *next;
};

static int limit = 100;

static struct item *add(struct item *list, int price)
{
    struct item *i = malloc(sizeof *i);
    i->price = price;
    i->next = list;
    return i;
}

static int total(const struct item *list, int discount)
{
    int sum = 0;
    for (; list; list = list->next)
        sum += list->price;
    if (sum > limit) /* the failing run goes on here */
        sum -= discount;
    return sum;
}

int main(int argc, char **argv)
{
    struct item *list = NULL;
    int noise = argc > 1 ? atoi(argv[1]) : 0, discount = argc > 2 ? atoi(argv[2]) : 0;
    char *name = strdup(argc > 1 ? argv[1] : "");
    for (int i = 1; i <= 5; i++)
        list = add(list, 30 * i);
    if (noise % 2)
        puts("odd"); /* does not matter */
    int sum = total(list, discount);
    if (sum < 0) {
        fprintf(stderr, "%s: %d\n", name, sum);
        abort(); /* FAILS */
    }
    return 0;
}
