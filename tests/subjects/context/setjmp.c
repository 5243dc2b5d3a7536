/* setjmp.c - setjmp and longjmp over many frames, in loops, values 0 and others, generators. */
#include "subject.h"
#include <setjmp.h>

static jmp_buf top;

__attribute__((noinline)) static void down(int n, int value)
{
    volatile char pad[100];
    pad[0] = (char)n;
    if (n == 0)
        longjmp(top, value);
    down(n - 1, value);
    pad[1] = pad[0];
}

static unsigned mix(unsigned h, unsigned v)
{
    return (h ^ v) * 16777619u;
}

int main(void)
{
    volatile unsigned h = 2166136261u;
    for (volatile int i = 0; i < 5000; i++) {
        int r = setjmp(top);
        if (r == 0)
            down(i % 40, i);
        h = mix(h, (unsigned)r);
    }
    say("hash %x\n", h);
    volatile int count = 0;
    int r = _setjmp(top);
    if (count++ < 10)
        _longjmp(top, 0);
    say("longjmp(0) gives %d after %d\n", r, count);
    jmp_buf inner;
    volatile int crossed = 0;
    if (setjmp(inner) == 0) {
        if (setjmp(top) == 0)
            down(10, 1);
        crossed++;
        longjmp(inner, 2);
    }
    say("crossed %d\n", crossed);
    return 0;
}
