/* bigbss.c - a program with a gigabyte of .bss and code on both sides of a large jump. */
#include "subject.h"

static char big[1UL << 30];

__attribute__((section(".far_text"), noinline)) static int far_away(int x)
{
    return x * 3 + 1;
}

int main(void)
{
    for (size_t i = 0; i < sizeof big; i += sizeof big / 16)
        big[i] = (char)far_away((int)(i >> 26));
    int sum = 0;
    for (size_t i = 0; i < sizeof big; i += sizeof big / 64)
        sum += big[i];
    say("sum %d\n", sum);
    return 0;
}
