/* places_late.c - a library with a function and a probe, for places.c. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A probe that is passed by while nobody listens, as python3 and postgres have them. */
__attribute__((section(".probes"))) volatile unsigned short listened;

static void tell(int i)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "heard %d\n", i);
    if (write(1, text, (size_t)n) != n)
        abort();
    __asm__ volatile("990: nop\n"
                     ".pushsection .note.stapsdt, \"\", @note\n .balign 4\n"
                     ".long 8, 993f - 992f, 3\n .asciz \"stapsdt\"\n"
                     "992: .quad 990b, 0, listened\n"
                     ".asciz \"places\"\n .asciz \"heard\"\n .asciz \"-4@%[i]\"\n"
                     "993: .balign 4\n .popsection\n" ::[i] "r"(i));
}

void late_step(int i)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "late %d\n", i); /* LATE */
    if (write(1, text, (size_t)n) != n)
        abort();
    if (listened)
        tell(i);
}
