/* wrong.c - each case does one thing wrong with memory, on the line that says so; with RIGHT, none
 * does.
 *
 * A line with `WRONG: kind` is where that kind of error is to be told. SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef RIGHT
#define IF_RIGHT(x) x
#define IF_WRONG(x)
#else
#define IF_RIGHT(x)
#define IF_WRONG(x) x
#endif

#define CASE __attribute__((noinline, noclone)) static void

struct item {
    struct item *next;
    int value, spare;
    char name[16];
};

static volatile int sink;
static volatile size_t fourteen = 14, four = 4, ten = 10, hundred = 100;
static int some[4] = {1, 2, 3, 4};
static volatile char cases_name[] = "some worlds";

static struct item *item_new(int value)
{
    struct item *i = malloc(sizeof *i);
    i->next = NULL;
    i->value = value;
    return i;
}

CASE read_freed(void)
{
    struct item *i = item_new(7);
    IF_WRONG(free(i);)
    sink = i->value; /* WRONG: use after free */
    IF_RIGHT(free(i);)
}

CASE write_freed(void)
{
    int *p = malloc(40);
    IF_WRONG(free(p);)
    *(volatile int *)&p[5] = 1; /* WRONG: use after free */
    IF_RIGHT(free(p);)
}

/* The memory has another owner when it is used through the old pointer. */
CASE read_reused(void)
{
    struct item *volatile old = item_new(1);
    struct item *keep = old;
    IF_WRONG(free(keep);)
    struct item *new = item_new(2);
    sink = old->value; /* WRONG: use after free */
    free(new);
    IF_RIGHT(free(keep);)
}

CASE copy_freed(void)
{
    char *p = malloc(200), to[200];
    memset(p, 'x', 200);
    IF_WRONG(free(p);)
    memcpy(to, p, 100 + hundred); /* WRONG: use after free */
    sink = to[20];
    IF_RIGHT(free(p);)
}

CASE measure_freed(void)
{
    char *p = malloc(50), *volatile old = p;
    strcpy(p, "some words");
    IF_WRONG(free(p);)
    sink = (int)strlen(old); /* WRONG: use after free */
    IF_RIGHT(free(p);)
}

CASE compare_freed(void)
{
    char *p = malloc(50), *volatile old = p;
    strcpy(p, "some words");
    IF_WRONG(free(p);)
    sink = strcmp(old, (const char *)cases_name) == 0; /* WRONG: use after free */
    IF_RIGHT(free(p);)
}

CASE print_freed(void)
{
    char *p = malloc(50), *volatile old = p;
    char to[64];
    strcpy(p, "some words");
    IF_WRONG(free(p);)
    snprintf(to, sizeof to, "<%s>", old); /* WRONG: use after free */
    sink = to[1];
    IF_RIGHT(free(p);)
}

static void *other(void *arg)
{
    free(arg);
    return NULL;
}

CASE read_freed_by_another(void)
{
    int *p = malloc(sizeof *p);
    pthread_t t;
    *p = 5;
    IF_RIGHT(sink = *p;)
    pthread_create(&t, NULL, other, p);
    pthread_join(t, NULL);
    IF_WRONG(sink = *(volatile int *)p;) /* WRONG: use after free */
}

CASE realloc_moved(void)
{
    int *p = malloc(16);
    p[0] = 1;
    int *volatile fence = malloc(16), *volatile old = p;
    p = realloc(p, 4096);
    sink = (IF_WRONG(old) IF_RIGHT(p))[0]; /* WRONG: use after free */
    free(p);
    free(fence);
}

CASE free_twice(void)
{
    char *p = malloc(100), *volatile again = p;
    char *q = malloc(100);
    free(p);
    free(q);
    IF_WRONG(free(again);) /* WRONG: double free */
    sink = again != NULL;
}

CASE free_inside(void)
{
    char *volatile p = malloc(64);
    free(p IF_WRONG(+16)); /* WRONG: wrong free */
}

CASE free_static(void)
{
    void *volatile p = IF_WRONG(some) IF_RIGHT(malloc(4));
    free(p); /* WRONG: wrong free */
}

CASE free_stack(void)
{
    int local[4] = {0};
    void *volatile p = IF_WRONG(local) IF_RIGHT(malloc(4));
    sink = local[fourteen - 14];
    free(p); /* WRONG: wrong free */
}

CASE write_behind(void)
{
    volatile char *p = malloc(14), *q = malloc(14);
    p[fourteen IF_RIGHT(-1)] = 1; /* WRONG: overflow */
    free((void *)q);
    free((void *)p);
}

CASE read_before(void)
{
    int *p = calloc(8, sizeof *p), *q = calloc(8, sizeof *q);
    sink = q[(int)four - 4 IF_WRONG(-1)]; /* WRONG: overflow */
    free(p);
    free(q);
}

CASE write_next(void)
{
    int *p = calloc(10, sizeof *p), *q = calloc(10, sizeof *q);
    for (size_t i = 0; i <= ten IF_WRONG(+2) - 1; i++)
        p[i] = (int)i; /* WRONG: overflow */
    sink = q[0];
    free(p);
    free(q);
}

CASE fill_too_much(void)
{
    char *p = malloc(100), *q = malloc(10);
    memset(p, 1, hundred IF_WRONG(+8)); /* WRONG: overflow */
    sink = p[3];
    free(p);
    free(q);
}

CASE copy_too_much(void)
{
    char *p = malloc(32), *q = malloc(32), *from = malloc(200);
    memset(from, 'y', 200);
    memcpy(p, from, 32 IF_WRONG(+hundred - 95)); /* WRONG: overflow */
    sink = p[1];
    free(p);
    free(q);
    free(from);
}

CASE branch_on_block(void)
{
    struct item *i = item_new(1);
    IF_RIGHT(i->spare = 3;)
    if (i->spare == 3) /* WRONG: undefined branch */
        sink = 1;
    free(i);
}

__attribute__((noinline, noclone)) static int dirty_stack(void)
{
    volatile int local[256];
    for (int i = 0; i < 256; i++)
        local[i] = i;
    return local[7];
}

__attribute__((noinline, noclone)) static int *hand_back(volatile int *p)
{
    return (int *)p;
}

CASE branch_on_stack(void)
{
    int local[150];
    IF_RIGHT(memset(local, 0, sizeof local);)
    int *p = hand_back(local);
    if (p[20] > 5) /* WRONG: undefined branch */
        sink = 2;
}

CASE index_with_it(void)
{
    size_t *p = malloc(32);
    p[0] = 1;
    IF_RIGHT(p[1] = 1;)
    sink = some[p[1] & 3]; /* WRONG: undefined address */
    free(p);
}

CASE write_it(void)
{
    char *p = malloc(24);
    memset(p, 'a', 12);
    IF_RIGHT(memset(p, 'b', 24);)
    if (write(2, p, 24) != 24) /* WRONG: undefined data */
        sink = 9;
    free(p);
}

CASE copy_of_it(void)
{
    struct item *a = item_new(1), b;
    IF_RIGHT(memset(a, 0, sizeof *a);)
    memcpy(&b, a, sizeof b);
    struct item *c = item_new(2);
    *c = b;
    if (hand_back(&c->spare)[0] & 4) /* WRONG: undefined branch */
        sink = 1;
    free(a);
    free(c);
}

CASE branch_on_sum(void)
{
    volatile double *p = malloc(2 * sizeof *p);
    p[0] = 1;
    IF_RIGHT(p[1] = 1;)
    if (p[0] + p[1] > 3) /* WRONG: undefined branch */
        sink = 1;
    free((void *)p);
}

__attribute__((noinline, noclone)) static int sum_of_40(const int *p)
{
    int total = 0;
    for (int i = 0; i < 40; i++)
        total += p[i];
    return total;
}

/* GCC adds four at a time. */
CASE branch_on_total(void)
{
    int *p = malloc(40 * sizeof *p);
    memset(p, 0, 39 * sizeof *p);
    IF_RIGHT(p[39] = 1;)
    if (sum_of_40(hand_back(p)) > 3) /* WRONG: undefined branch */
        sink = 1;
    free(p);
}

/* An element whose sum nobody looks at. */
CASE branch_on_half(void)
{
    short *volatile p = malloc(16 * sizeof *p);
    short out[8];
    memset(p, 0, 8 * sizeof *p);
    p[8] = 3;
    for (int i = 0; i < 8; i++)
        out[i] = p[i] + p[i + 8];
    if (out[0] == 3)
        sink = 1;
    free(p);
}

struct bits {
    unsigned a : 3, b : 5, c : 9;
    char name[5];
};

/* Nothing is wrong here: only parts of words are undefined, and others decide. */
CASE parts_of_words(void)
{
    struct bits *volatile list = malloc(20 * sizeof *list);
    for (int i = 0; i < 20; i++) {
        list[i].b = (unsigned)i;
        list[i].c = (unsigned)i * 3;
        strcpy(list[i].name, i & 1 ? "ab" : "abc");
    }
    for (int i = 0; i < 20; i++) {
        struct bits copy = list[i];
        sink += copy.b == 3 || (copy.c & 4) || strcmp(copy.name, "abc") == 0;
    }
    free(list);
}

static void *churn(void *arg)
{
    char *p[8];
    for (int i = 0; i < 8; i++)
        memset(p[i] = malloc(65536), i, 65536);
    for (int i = 8; i-- > 0;)
        free(p[i]);
    return arg;
}

/* Nor here: the allocator asks the kernel to move large blocks, and to take memory back. */
CASE move_large(void)
{
    pthread_t t;
    char *p = malloc(300000);
    memset(p, 1, 300000);
    p = realloc(p, 900000);
    sink = p[hundred];
    free(p);
    pthread_create(&t, NULL, churn, NULL);
    pthread_join(t, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define ROW(name) {#name, name},
    ROW(read_freed) ROW(write_freed) ROW(read_reused) ROW(copy_freed) ROW(measure_freed)
        ROW(compare_freed) ROW(print_freed) ROW(read_freed_by_another) ROW(realloc_moved)
            ROW(free_twice) ROW(free_inside) ROW(free_static) ROW(free_stack) ROW(write_behind)
                ROW(read_before) ROW(write_next) ROW(fill_too_much) ROW(copy_too_much)
                    ROW(branch_on_block) ROW(branch_on_stack) ROW(index_with_it) ROW(write_it)
                        ROW(copy_of_it) ROW(branch_on_sum) ROW(branch_on_total) ROW(branch_on_half)
                            ROW(parts_of_words) ROW(move_large)};

/* The cases that are named, or all; without words, their names. */
int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2)
            puts(cases[i].name);
        for (int k = 1; k < argc; k++)
            if (strcmp(argv[k], cases[i].name) == 0 || strcmp(argv[k], "all") == 0) {
                sink = dirty_stack();
                cases[i].run();
            }
    }
    return 0;
}
