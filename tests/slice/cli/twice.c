/* twice.c - a pointer is given back twice. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

static char *name, *other;

static void forget(void)
{
    free(name); /* ROOT CAUSE */
}

int main(void)
{
    name = malloc(24);   /* MADE */
    other = malloc(400); /* UNRELATED */
    forget();
    free(other);
    free(name); /* CRASH */
    return 0;
}
