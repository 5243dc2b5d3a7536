/* tiny.c - a few instructions without a library, for what goes by single steps.
 * SPDX-License-Identifier: MIT */
int a, b;

static long call(long number, long x)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(x) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noinline)) static int twice(int n)
{
    a = n; /* TINY WRITE */
    b = a + n;
    return b;
}

__attribute__((noinline)) int tiny(void)
{
    int local = 0;
    for (int i = 1; i <= 5; i++)
        local += twice(i);
    return local; /* TINY END */
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
    int local = tiny();
    call(39, 0); /* getpid */
    call(231, local);
    __builtin_unreachable();
}
