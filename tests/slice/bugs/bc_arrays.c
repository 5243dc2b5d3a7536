/* bc_arrays.c - one loop of two that look alike has the other one's bound.
 *
 * SPDX-License-Identifier: MIT
 *
 * After GNU bc 1.06: more_arrays() in storage.c clears the new part of its table up to the count of
 * variables, not up to that of arrays.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 8

struct var {
    long value;
    struct var *older;
};

static struct var **variables, **arrays;
static char **names;
static int v_count, a_count, n_count;

static void more_variables(void)
{
    struct var **old = variables;
    int old_count = v_count, i;
    v_count += STEP;
    variables = malloc(sizeof *variables * (size_t)v_count);
    for (i = 0; i < old_count; i++)
        variables[i] = old[i];
    for (; i < v_count; i++)
        variables[i] = NULL;
    free(old);
}

static void more_names(void)
{
    char **old = names;
    int old_count = n_count;
    n_count += STEP;
    names = calloc((size_t)n_count, sizeof *names);
    if (old)
        memcpy(names, old, sizeof *names * (size_t)old_count);
    free(old);
}

static void more_arrays(void)
{
    struct var **old = arrays;
    int old_count = a_count, i;
    a_count += STEP;
    arrays = malloc(sizeof *arrays * (size_t)a_count);
    more_names();
    for (i = 0; i < old_count; i++)
        arrays[i] = old[i];
#ifdef FIXED
    for (; i < a_count; i++)
#else
    for (; i < v_count; i++) /* ROOT CAUSE */
#endif
        arrays[i] = NULL;
    free(old);
}

static void set(struct var ***table, int *count, void (*more)(void), int at, long value)
{
    while (at >= *count)
        more();
    struct var *v = malloc(sizeof *v);
    *v = (struct var){value, (*table)[at]};
    (*table)[at] = v;
}

static void name_array(int at, const char *name)
{
    names[at] = strdup(name);
}

static long sum_variables(void)
{
    long sum = 0;
    for (int i = 0; i < v_count; i++)
        sum += variables[i] ? variables[i]->value : 0;
    return sum;
}

static long run(int steps)
{
    for (int i = 0; i < steps; i++)
        set(&variables, &v_count, more_variables, i, i * 3);
    return sum_variables();
}

int main(void)
{
    long sum = run(26);
    set(&arrays, &a_count, more_arrays, 1, 5);
    name_array(0, "alpha");
    name_array(1, "beta");
    set(&arrays, &a_count, more_arrays, 2, 6);
    for (int i = 0; i < 3; i++)
        set(&variables, &v_count, more_variables, 26 + i, i);
    for (int i = 0; i < a_count; i++)
        sum += arrays[i] ? arrays[i]->value : 0;
    printf("%ld\n", sum);
    assert(sum_variables() == 978);
    return 0;
}
