/* lazy.c - the third argument of the first call of a library's function: the function is looked up
 * in between, and the vector registers with the arguments are saved and restored.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>

double result;

int main(int argc, char *argv[])
{
    volatile double unrelated = argv[0][0]; /* UNRELATED */
    double third = argc * 0.5;              /* ROOT CAUSE */
    double got = fma(2.0, 3.0, third);
    result = got; /* CRITERION */
    printf("%g\n", unrelated);
    return 0;
}
