/* jumps.c - a switch that is a table of jumps, over a character that is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

int result;

int main(int argc, char *argv[])
{
    FILE *in = fopen(argv[argc - 1], "r");
    int w = 0, d = 1, unrelated = 7;
    int c = in ? fgetc(in) % 8 : 0; /* READ */
    switch (c) {                    /* SWITCH */
    case 0:
        w = d + 3;
        break;
    case 1:
        w = d - 4;
        break;
    case 2:
        w = d * 7;
        break;
    case 3:
        w = d / 3;
        break;
    case 4:
        w = d << 3;
        break;
    case 5:
        w = -d;
        break;
    case 6:
        w = d ^ 99;
        break;
    case 7:
        w = d + 1000; /* CASE */
        break;
    default:
        abort();
    }
    unrelated *= 3; /* UNRELATED */
    result = w;     /* CRITERION */
    return unrelated > 9 ? 0 : 1;
}
