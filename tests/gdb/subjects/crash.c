/* crash.c - a bad pointer in a callee: SIGSEGV; with an argument, abort(). SPDX-License-Identifier:
 * MIT */
#include <stdio.h>
#include <stdlib.h>

int value = 1;
int *pointer = &value;

__attribute__((noinline)) static int use(int *p)
{
    return *p; /* CRASH */
}

int main(int argc, char **argv)
{
    (void)argv;
    puts("before");
    fflush(stdout);
    value = use(pointer);
    pointer = NULL; /* ROOT CAUSE */
    if (argc > 1)
        abort();         /* ABORTS */
    return use(pointer); /* USES NULL */
}
