/* inlined.c - inlined and recursive calls, values that only the caller still has.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

struct pair {
    long left, right;
};
static volatile int sink;
static int global = 7;

static inline __attribute__((always_inline)) int clamp(int v, int low, int high)
{
    int result = v < low ? low : v;
    if (result > high)
        result = high; /* LOOK 1 */
    return result;
}

__attribute__((noinline)) static void consume(int a, int b)
{
    sink += a * b;
}

__attribute__((noinline)) static int keeps_nothing(int first, long second, const char *name,
                                                   struct pair p)
{
    consume(first, (int)second);
    sink += (int)p.left + (name != NULL);
    consume(2, 3); /* LOOK 2 */
    return sink;
}

__attribute__((noinline)) static long fact(long n, int depth)
{
    if (n <= 1)
        return 1; /* LOOK 3 */
    long below = fact(n - 1, depth + 1);
    sink += depth;
    return n * below; /* LOOK 4 */
}

__attribute__((noinline)) static long walk(const long *list, int count)
{
    long total = 0;
    for (int i = 0; i < count; i++) {
        long item = list[i];
        total += clamp((int)item, -5, 5 + i); /* LOOK 5 */
        if (item & 1)
            sink++; /* LOOK 6 */
    }
    return total;
}

int main(int argc, char *argv[])
{
    static const long list[] = {1, -20, 3, 44, 5, 6, -7};
    long total = 0;
    for (int i = 0; i < 4; i++) {
        struct pair p = {i, total};
        total += keeps_nothing(i, total + 3, i & 1 ? "odd" : "even", p); /* LOOK 7 */
        total += keeps_nothing(10, 20, "constant", (struct pair){1, 2});
        global += clamp(i * 3, 1, 6); /* LOOK 8 */
    }
    total += fact(6, 0) + walk(list, 7);
    printf("%ld %d\n", total, argc); /* LOOK 9 */
    return argv[0] == NULL;
}
