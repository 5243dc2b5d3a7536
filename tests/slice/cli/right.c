/* right.c - one of three values that are printed is wrong; the others are right.
 * SPDX-License-Identifier: MIT
 *
 * The shape of figure 6.2 of Zhang's dissertation: from the two right values it follows that what
 * made x is right, and the branch; of y and z nothing follows, since many values of z give the same
 * t.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int y = argc + 2;     /* S0 */
    int x = argc * 3 + 5; /* S1 */
    int z = y + 2;        /* S2 */
    int w = 0, t = 0;
    x = x + 1;     /* S3 */
    if (x > y) {   /* S4 */
        x = x - 4; /* S5 */
        t = z % 2; /* S6 */
        w = z * 2; /* S7 */
    }
    printf("x %d\n", x); /* S8 */
    printf("t %d\n", t); /* S9 */
    printf("w %d\n", w); /* S10 */
    fflush(stdout);
    if (w == 14)
        return 0;
    fprintf(stderr, "right: wrong width %d\n", w); /* MESSAGE */
    return argv[0] ? 3 : 4;
}
