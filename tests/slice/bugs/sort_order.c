/* sort_order.c - a comparison by subtraction overflows, so what is sorted is not found again.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    int value;
    char from[12];
};

static struct reading list[] = {
    {120, "cellar"},         {-2000000000, "broken"}, {2000000000, "sun"}, {15, "hall"},
    {-40, "roof"},           {900, "stove"},          {3, "garden"},       {1500000000, "furnace"},
    {-1999999999, "broken"}, {77, "attic"},
};
enum { COUNT = sizeof list / sizeof *list };

static int compare(const struct reading *a, const struct reading *b)
{
#ifdef FIXED
    return a->value < b->value ? -1 : a->value > b->value;
#else
    return (int)((unsigned)a->value - (unsigned)b->value); /* ROOT CAUSE */
#endif
}

static void sift_down(struct reading *r, int from, int count)
{
    for (int child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && compare(&r[child], &r[child + 1]) < 0)
            child++;
        if (compare(&r[from], &r[child]) >= 0)
            return;
        struct reading swap = r[from];
        r[from] = r[child];
        r[child] = swap;
    }
}

static void sort(struct reading *r, int count)
{
    for (int i = count / 2; i-- > 0;)
        sift_down(r, i, count);
    while (--count > 0) {
        struct reading swap = r[0];
        r[0] = r[count];
        r[count] = swap;
        sift_down(r, 0, count);
    }
}

static const struct reading *find(int value)
{
    int low = 0, high = COUNT - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (list[middle].value == value)
            return &list[middle];
        if (list[middle].value < value)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int wanted = argc > 7 ? atoi(argv[1]) : 1500000000;
    sort(list, COUNT);
    const struct reading *r = find(wanted);
    printf("%d was measured at the %s\n", wanted, r->from);
    return 0;
}
