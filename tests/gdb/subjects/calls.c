/* calls.c - calls, recursion, loops, writes of equal values, vector registers.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct item {
    int key;
    double weight;
    char name[16];
};

int counter = 5;
int written;
int table[8];
struct item item = {7, 2.5, "seven"};
static const char *word = "first";
double vector[4] = {1.5, 2.5, 3.5, 4.5};

__attribute__((noinline)) int factorial(int n)
{
    if (n < 2)
        return 1; /* DEEPEST */
    return n * factorial(n - 1);
}

__attribute__((noinline)) int add(int a, int b)
{
    int sum = a + b;
    counter = counter + 1;
    return sum; /* ADD RETURNS */
}

__attribute__((noinline)) int length(const char *text)
{
    return (int)strlen(text);
}

__attribute__((noinline)) void vectors(void)
{
    __asm__ volatile(
        "vmovupd %0, %%ymm1\n\tvaddpd %%ymm1, %%ymm1, %%ymm2\n\tnop\n\t.globl vectors_loaded\n"
        "vectors_loaded:\n\tnop\n\tvzeroupper"
        :
        : "m"(vector)
        : "xmm1", "xmm2");
}

__attribute__((noinline)) void plain_vectors(void)
{
    __asm__ volatile("movupd %0, %%xmm3\n\tnop\n\t.globl plain_vectors_loaded\n"
                     "plain_vectors_loaded:\n\tnop"
                     :
                     : "m"(vector)
                     : "xmm3");
}

static void write_some(void)
{
    written = 1;        /* WRITE 1 */
    written = 1;        /* WRITE 1 AGAIN */
    written = 2;        /* WRITE 2 */
    written = 2;        /* WRITE 2 AGAIN */
    table[0] = written; /* READ */
    written = 3;        /* WRITE 3 */
}

int main(int argc, char **argv)
{
    int total = 0; /* MAIN BEGINS */
    printf("begin %d\n", argc);
    fflush(stdout);
    for (int i = 0; i < 8; i++) {
        table[i] = i * i; /* LOOP BODY */
        total += table[i];
    }
    total += factorial(5); /* RECURSES */
    printf("total %d\n", total);
    fflush(stdout);
    for (int i = 0; i < 20; i++)
        total = add(total, i); /* ADDS */
    write_some();              /* WRITES */
    if (argc > 1 && __builtin_cpu_supports("avx"))
        vectors();
    plain_vectors();
    word = "second"; /* SECOND WORD */
    getppid();       /* SYSTEM CALL */
    total += length(word);
    item.key = total;
    printf("end %d %s\n", total, argv[0] ? word : "");
    fflush(stdout);
    return 3; /* MAIN ENDS */
}
