/* floats.c - numbers of unusual sizes. SPDX-License-Identifier: MIT */
#include <stdlib.h>

static _Float16 half;
static __float128 quad;
static int yes, no, sum;

int main(int argc, char **argv)
{
    half = (_Float16)(-0.75f * argc);
    quad = argc * 2.5Q;
    yes = argc;
    no = argc + 1;
    sum = (int)(half * 4) + (int)(quad * 4) + yes + no; /* SUM */
    if (sum)
        abort();
    return 0;
}
