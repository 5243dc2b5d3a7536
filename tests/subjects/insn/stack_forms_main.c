/* stack_forms_main.c - runs stack_forms.S twice and prints what it stored. */
#include "subject.h"

extern int stack_forms(long *out);

int main(void)
{
    static long out[64];
    for (int round = 0; round < 2; round++) {
        int n = stack_forms(out);
        for (int i = 0; i < n; i++)
            say("%d: %lx\n", i, out[i]);
    }
    return 0;
}
