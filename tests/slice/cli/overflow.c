/* overflow.c - a buffer on the heap is too short by a few bytes. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *buffer, *neighbour;

static void fill(char *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = 'x'; /* ROOT CAUSE */
}

int main(void)
{
    buffer = malloc(24);
    neighbour = malloc(24);
    fill(buffer, 48);
    printf("filled\n"); /* UNRELATED */
    free(neighbour);    /* CRASH */
    free(buffer);
    return 0;
}
