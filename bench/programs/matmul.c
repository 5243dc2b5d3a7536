/* matmul.c - products of 1024x1024 matrices of doubles: vector arithmetic in long straight loops.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

/* Four rows of b at a time stay in the first-level cache, and rows that are not a power of two
 * apart do not fight for its sets: measured is arithmetic more than memory. */
enum { N = 1024, STRIDE = N + 8, TILE = 4, TURNS = 3 };

static double a[N][STRIDE], b[N][STRIDE], c[N][STRIDE];

static __attribute__((noinline)) void multiply(void)
{
    for (int tile = 0; tile < N; tile += TILE)
        for (int i = 0; i < N; i++)
            for (int k = tile; k < tile + TILE; k++) {
                double x = a[i][k];

                for (int j = 0; j < N; j++)
                    c[i][j] += x * b[k][j];
            }
}

int main(void)
{
    double trace = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i * 7 + j * 3) % 17 - 8;
            b[i][j] = (i * 5 + j * 11) % 13 - 6;
        }
    for (int turn = 0; turn < TURNS; turn++)
        multiply();
    for (int i = 0; i < N; i++)
        trace += c[i][i] + c[i][N - 1 - i];
    printf("%.0f\n", trace);
    return 0;
}
