/* hello.c - nothing but start-up and exit.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

int main(void)
{
    puts("hello, world");
    return 0;
}
