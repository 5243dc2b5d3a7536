/* wrong_count.c - a loop clears as many arrays as there are variables, and what lies behind them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct number {
    int digits;
    int *value;
};

static struct number **arrays, *result;
static int a_count, v_count;
static unsigned noise;

static void more_variables(void)
{
    v_count += 32;
}

static void more_arrays(void)
{
    int old_count = a_count;
    struct number **old = arrays;
    a_count += 8;
    arrays = malloc((size_t)a_count * sizeof *arrays);
    result = malloc(sizeof *result);
    result->digits = 3;
    result->value = &result->digits;
    for (int i = 0; i < old_count; i++)
        arrays[i] = old[i];
    for (int i = old_count; i < v_count; i++)
        arrays[i] = NULL; /* ROOT CAUSE */
    free(old);
}

int main(void)
{
    more_variables();
    printf("%d variables\n", v_count);
    more_arrays();
    for (unsigned i = 0; i < 30; i++)
        noise += i * 3;                       /* UNRELATED */
    return *result->value + (int)(noise & 1); /* CRASH */
}
