/* floats.c - floating point, in registers and in memory. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

struct point {
    double x, y;
};
struct small {
    float a, b;
};
static double total;
static float sizes[4] = {0.5f, 1.5f, -2.25f, 1e10f};

__attribute__((noinline)) static double scale(double factor, float by, struct point p,
                                              struct small s, long double l)
{
    double r = factor * by + p.x - p.y;
    float f = (float)r / 3;
    total += r + f; /* LOOK 1 */
    return r + s.a + s.b + (double)l;
}

__attribute__((noinline)) static double special(double d, float f)
{
    total += 1; /* LOOK 2 */
    return d + f;
}

int main(int argc, char *argv[])
{
    double sum = 0, odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, 5e-324};
    for (int i = 0; i < 6; i++) {
        struct point p = {i, i / 3.0};
        struct small s = {(float)i / 7, -1.0f / (float)(i + 1)};
        sum += scale(i * 1.25, (float)i * 0.3f, p, s, (long double)i / 3); /* LOOK 3 */
    }
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++)
        sum += special(odd[i], (float)odd[i]); /* LOOK 4 */
    sizes[argc] += 1;
    printf("%g %g %g\n", sum, total, (double)sizes[argc & 1]);
    return argv[0] == NULL;
}
