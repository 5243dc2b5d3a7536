/* saved.c - a function saves and restores the register that e lives in.
 *
 * SPDX-License-Identifier: MIT
 *
 * q() is called only if c is a 't'. It has nothing to do with e: it saves rbx, uses it, and
 * restores it. Without looking through that, e would depend on the call, and so on c.
 */
#include <stdio.h>
#include <stdlib.h>

int result;
int q(int n);

__asm__(".text\n"
        ".globl q\n"
        ".type q, @function\n"
        "q:\n"
        "    push %rbx\n"
        "    mov %edi, %ebx\n"
        "    lea 1(%rbx), %eax\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size q, . - q\n");

int main(int argc, char *argv[])
{
    register long e __asm__("rbx");
    FILE *in = fopen(argv[1], "r");
    int c = in ? fgetc(in) : argc; /* READ */
    e = argv[0] ? 40 : argc;       /* SOURCE */
    __asm__ volatile("" : "+r"(e));
    if (c == 't') /* BRANCH */
        q(c);
    __asm__ volatile("" : "+r"(e));
    long w = e;      /* COPY */
    result = (int)w; /* CRITERION */
    return 0;
}
