/* gone.c - a variable that is in a register, and nowhere behind its last use.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

int main(int argc, char *argv[])
{
    int n = argc * 7 + argv[0][0]; /* MADE */
    n ^= n << 3;                   /* CHANGED */
    printf("%d\n", n);             /* LAST */
    return 0;
}
