/* overflow.c - the overflow UBSan is to report; the program goes on. */
#include <limits.h>
#include <stdio.h>

int main(void)
{
    volatile int x = INT_MAX;
    x = x + 1; /* ROOT CAUSE */
    printf("%d\n", x == INT_MIN);
    return 0;
}
