/* nested_function.c - gcc's trampolines on an executable stack, made anew in each call. */
#include "subject.h"

static int apply(int (*fn)(int), int x)
{
    return fn(x);
}

__attribute__((noinline)) static int with_local(int local)
{
    int add(int x)
    {
        return x + local;
    }
    return apply(add, 10);
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += with_local(i);
    say("sum %ld\n", sum);
    return 0;
}
