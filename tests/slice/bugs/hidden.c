/* hidden.c - a heap is damaged, and a library function's own call of the allocator finds it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

char *name, *copy;
static int noise;

static void fill(char *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = 'x'; /* ROOT CAUSE */
}

int main(void)
{
    name = malloc(24);
    fill(name, 40);
    for (int i = 0; i < 20; i++)
        noise ^= i << 3;           /* UNRELATED */
    copy = strdup("another name"); /* CRASH */
    return copy[0] == name[0] || noise;
}
