/* execs.c - becomes the program that its first argument names. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

int before_exec = 1;

__attribute__((noinline)) static void prepare(void)
{
    before_exec = 2; /* PREPARES */
}

int main(int argc, char **argv)
{
    prepare(); /* MAIN */
    puts("before exec");
    fflush(stdout);
    if (argc > 1)
        execv(argv[1], argv + 1); /* EXECS */
    return 1;
}
