/* use_after_free.c - the bug AddressSanitizer is to report, with its native report and status. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int *p = malloc(40);
    p[3] = 5;
    free(p);
    puts("freed");
    fflush(stdout);
    return p[3]; /* ROOT CAUSE */
}
