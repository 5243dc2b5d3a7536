/* quicksort.c - two threads sort halves; segments that are to be sorted come from a list of free
 * ones, whose head is read and moved in two steps. SPDX-License-Identifier: MIT */
#include "subject.h"

enum { N = 16, SEGMENTS = 64 };
static struct segment {
    int low, high, next;
} segment[SEGMENTS];
static int unused, data[2 * N];
static pthread_mutex_t m = MUTEX;

static int take(void)
{
    (void)m;
    FIX(LOCK(m);)
    int s = GET(unused);
    SET(unused, segment[s].next); /* ROOT CAUSE */
    FIX(UNLOCK(m);)
    return s;
}

static void give(int s)
{
    FIX(LOCK(m);)
    SET(segment[s].next, GET(unused));
    SET(unused, s);
    FIX(UNLOCK(m);)
}

static int divide(int low, int high)
{
    int p = data[high], at = low;
    for (int i = low; i < high; i++)
        if (data[i] < p) {
            int t = data[i];
            data[i] = data[at];
            data[at++] = t;
        }
    data[high] = data[at];
    data[at] = p;
    return at;
}

static void sort(int low, int high)
{
    if (low >= high)
        return;
    int s = take();
    SET(segment[s].low, low);
    SET(segment[s].high, high);
    int at = divide(low, high);
    sort(GET(segment[s].low), at - 1);
    sort(at + 1, GET(segment[s].high));
    give(s);
}

static void *half(void *arg)
{
    int i = (int)(long)arg;
    sort(i * N, i * N + N - 1);
    return arg;
}

int main(void)
{
    for (int i = 0; i < SEGMENTS; i++)
        segment[i].next = (i + 1) % SEGMENTS;
    for (int i = 0; i < 2 * N; i++)
        data[i] = i * 7 % 31;
    RUN(2, half);
    for (int i = 1; i < 2 * N; i++)
        CHECK(i == N || data[i - 1] <= data[i]);
    return 0;
}
