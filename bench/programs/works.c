/* works.c - threads that do the same work; none of it is waiting for the others.
 * SPDX-License-Identifier: MIT
 *
 * works KIND [THREADS [TIMES]]; every kind reads memory in a loop, most of them without a store. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, WORDS = BYTES / 8, TURNS = 1500, MOST = 64 };

static char text[BYTES];
static double left[WORDS], right[WORDS];
static unsigned long table[WORDS];
static struct node {
    struct node *next;
    long value;
} node[4096];

static long by_strlen(int i)
{
    const char *volatile at = text + i % 8;
    const char *p = at;
    while (*p)
        p++;
    return p - at;
}

static long by_libc_strlen(int i)
{
    return (long)strlen(text + i % 8);
}

static long by_memchr(int i)
{
    const char *found = memchr(text + i % 8, 0, BYTES);
    return found - text;
}

static long by_probe(int i)
{
    unsigned long key = (unsigned long)i % 64 + WORDS, at = key * 7;
    while (table[at % WORDS] != key && table[at % WORDS])
        at++;
    return (long)(at % WORDS);
}

static long by_dot(int i)
{
    double sum = i;
    for (int k = 0; k < WORDS; k++)
        sum += left[k] * right[k];
    return (long)sum;
}

static long by_list(int i)
{
    long sum = i;
    for (const struct node *n = node; n; n = n->next)
        sum += n->value;
    return sum;
}

static long by_copy(int i)
{
    static __thread char to[BYTES];
    const volatile char *from = text + i % 8;
    for (int k = 0; k < BYTES / 2; k++)
        to[k] = from[k];
    return to[i];
}

/* The constants of a computation are in memory that cannot be written. */
static long by_series(int i)
{
    double x = i + 2.0, sum = 0;
    for (int k = 0; k < WORDS; k++) {
        sum += 1.0 / x;
        x = x * 1.0009765625 + 0.7071067811865476;
    }
    return (long)(1e9 * sum);
}

static const struct {
    const char *name;
    long (*run)(int i);
    int turns;
} kind[] = {{"strlen", by_strlen, TURNS},      {"libc_strlen", by_libc_strlen, 20 * TURNS},
            {"memchr", by_memchr, 20 * TURNS}, {"probe", by_probe, 40 * TURNS},
            {"dot", by_dot, 3 * TURNS},        {"list", by_list, 3 * TURNS},
            {"copy", by_copy, TURNS},          {"series", by_series, TURNS}};

static int times = 1;

static void *work(void *arg)
{
    size_t k = (size_t)arg;
    unsigned long sum = 0;
    for (int n = 0; n < times; n++)
        for (int i = 0; i < kind[k].turns; i++)
            sum = sum * 31 + (unsigned long)kind[k].run(i);
    return (void *)sum;
}

static void prepare(void)
{
    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < WORDS; i++) {
        left[i] = (double)i;
        right[i] = 1.0 / (double)(i + 1);
        table[i] = i % 1000 == 999 ? 0 : i + 3 * WORDS;
    }
    for (size_t i = 0; i + 1 < sizeof node / sizeof *node; i++)
        node[i] = (struct node){&node[i + 1], (long)i};
}

int main(int argc, char *argv[])
{
    pthread_t other[MOST];
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    size_t k = 0;
    while (k < sizeof kind / sizeof *kind && (argc < 2 || strcmp(argv[1], kind[k].name)))
        k++;
    if (k == sizeof kind / sizeof *kind || threads < 1 || threads > MOST)
        return 2;
    times = argc > 3 ? atoi(argv[3]) : 1;
    prepare();
    for (int i = 1; i < threads; i++)
        if (pthread_create(&other[i], NULL, work, (void *)k))
            return 1;
    const void *mine = work((void *)k);
    int same = 1;
    for (int i = 1; i < threads; i++) {
        void *theirs;
        pthread_join(other[i], &theirs);
        same &= mine == theirs;
    }
    printf("%s %s\n", kind[k].name, same ? "same" : "differs");
    return 0;
}
