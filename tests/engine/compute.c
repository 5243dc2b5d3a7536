/* compute.c - a deterministic program with the constructs of ordinary C: calls, tables, recursion,
 * longjmp, qsort, strings, floating point. SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 400 };

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint32_t ackermann(uint32_t m, uint32_t n)
{
    if (!m)
        return n + 1;
    return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static uint32_t add(uint32_t a, uint32_t b)
{
    return a + b;
}

static uint32_t mix(uint32_t a, uint32_t b)
{
    return a * 31 ^ b;
}

static uint32_t turn(uint32_t a, uint32_t b)
{
    return a << (b & 7) | a >> 25;
}

/* A bytecode machine: a switch that compiles to a table, and calls through pointers. */
static uint32_t interpret(const uint32_t *code, int n)
{
    static uint32_t (*volatile const call[])(uint32_t, uint32_t) = {add, mix, turn};
    uint32_t acc = 1;
    for (int i = 0; i < n; i++) {
        uint32_t v = code[i];
        switch (v % 9) {
        case 0:
            acc += v;
            break;
        case 1:
            acc ^= v >> 3;
            break;
        case 2:
            acc *= 5;
            break;
        case 3:
            acc = acc % 7 ? acc - v : acc + 3;
            break;
        case 4:
            i += v & 1;
            break;
        case 5:
            acc = ~acc;
            break;
        default:
            acc = call[v % 3](acc, v);
        }
    }
    return acc;
}

static int leave_by_jump(int depth, jmp_buf env)
{
    if (!depth)
        longjmp(env, 7);
    return depth > NUMBERS ? 0 : leave_by_jump(depth - 1, env) + 1;
}

static int jumps(int n)
{
    jmp_buf env;
    volatile int sum = 0;
    for (volatile int i = 0; i < n; i++) {
        int r = setjmp(env);
        if (r)
            sum += r;
        else
            leave_by_jump(i % 10, env);
    }
    return sum;
}

static size_t strings(void)
{
    char text[2000] = "";
    size_t n = 0;
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d:%x:%s;", i, next(), &"word"[i % 4]);
    for (char *at = text; (at = strchr(at, ';')); at++)
        n += strspn(at + 1, "0123456789") + (strstr(at, "ord;") != NULL) + (memcmp(at, "a", 1) > 0);
    return n;
}

static double floats(void)
{
    double sum = 0;
    for (int i = 1; i < 300; i++)
        sum += sin(i) * sqrt(i) / (i % 3 ? exp(-i / 100.0) : pow(i, 0.25));
    return sum;
}

int main(void)
{
    uint32_t number[NUMBERS];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < NUMBERS; i++)
            number[i] = next();
        printf("%u ", interpret(number, NUMBERS));
        qsort(number, NUMBERS, sizeof *number, compare);
        printf("%u %u %d %zu %.9g\n", number[NUMBERS / 2], ackermann(2, 12), jumps(40), strings(),
               floats());
    }
    return 0;
}
