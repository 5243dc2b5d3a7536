/* facts.c - a subject for source_test.py: variables of all kinds, and calls that are inlined.
 *
 * SPDX-License-Identifier: MIT
 *
 * Lines that the test looks for end in a marker.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    int x, y;
};

struct node {
    struct node *next;
    struct point at[3];
    char tag;
    short grid[2][4];
    unsigned low : 3, high : 13;
    struct {
        long inner;
    };
};

struct counted {
    long before;
    _Atomic int count;
    long after;
};

struct node table[4];
static long total = 5;
int plain;
_Atomic int flag;
struct counted counted[2];
__thread int mine = 7;
static __thread struct point spot;
volatile int sink;

static inline __attribute__((always_inline)) int twice(int value)
{
    int doubled = value * 2; /* TWICE */
    sink = doubled;          /* SINK */
    return doubled;
}

static inline __attribute__((always_inline)) int fourfold(int value)
{
    return twice(twice(value)); /* NESTED */
}

__attribute__((noinline, noreturn)) void give_up(int why)
{
    fprintf(stderr, "%d\n", why); /* GIVE UP */
    exit(why);
}

__attribute__((noinline)) void look(const void *a, const void *b)
{
    static int looks;

    looks += a != b; /* LOOK */
}

__attribute__((noinline)) long work(int count, const char *word)
{
    struct node local = {.tag = 'x'};
    int list[5] = {1, 2, 3, 4, count};
    long sum = 0;

    look(&local, list); /* WORK */
    for (int i = 0; i < count; i++) {
        int square = i * i; /* LOOP */
        look(&square, &sum);
        sum += square + list[i % 5]; /* SUM */
    }
    {
        char text[16];
        strncpy(text, word, sizeof text - 1); /* COPY */
        text[15] = 0;
        look(text, &count); /* TEXT */
        sum += text[0];
    }
    sum += fourfold(count); /* CALL */
    if (sum < 0)
        give_up(3);
    return sum + local.tag; /* RETURN */
}

int main(int argc, char **argv)
{
    table[3].next = &table[1];
    table[2].at[1].y = argc;
    flag = argc;
    counted[1].count++;
    spot.y = mine;
    look(&mine, &spot);               /* TLS */
    total += work(argc + 3, argv[0]); /* MAIN */
    plain = (int)total;
    look(&total, table); /* END */
    return 0;
}
