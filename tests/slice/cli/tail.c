/* tail.c - a line that ends with a jump to another function.
 *
 * SPDX-License-Identifier: MIT
 */
volatile int other = 3, sink;

__attribute__((noinline)) int last(int n)
{
    volatile int local = n * 3; /* CALLEE */
    volatile int other = n + local;
    return sink + other;
}

__attribute__((noinline)) int first(int n)
{
    volatile int local = n + 7; /* CALLER */
    sink = local;
    return last(n + sink); /* TAIL */
}

int main(int argc, char **argv)
{
    (void)argv;
    other = argc; /* OTHER */
    return first(argc) == 0;
}
