/* noreturn.c - calls that would not have come back, had they been made. SPDX-License-Identifier:
 * MIT
 *
 * Where such a call is known not to return, what follows depends on the branch around it; else both
 * ways of the branch would seem to meet behind the call. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf home;

__attribute__((noinline, noreturn)) static void give_up(int status)
{
    fprintf(stderr, "giving up\n");
    exit(status);
}

__attribute__((noinline)) static int by_exit(int n)
{
    if (n > 100) /* EXIT */
        exit(n);
    return n + 1;
}

__attribute__((noinline)) static int by_own(int n)
{
    if (n > 100) /* OWN */
        give_up(n);
    return n + 2;
}

__attribute__((noinline)) static int by_jump(int n)
{
    if (n > 100) /* JUMP */
        longjmp(home, n);
    return n + 3;
}

__attribute__((noinline)) static int by_print(int n)
{
    if (n > 100) /* PRINT */
        puts("it comes back");
    return n + 4;
}

int main(int argc, char **argv)
{
    if (setjmp(home))
        return 1;
    int a = by_exit(argc), b = by_own(argc), c = by_jump(argc), d = by_print(argc);
    return a + b + c + d == 0; /* END */
}
