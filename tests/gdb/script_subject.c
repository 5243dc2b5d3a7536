/* script_subject.c - a few hundred instructions without libc, for script_stub.py to record.
 *
 * SPDX-License-Identifier: MIT
 */
struct item {
    int key : 4;
    unsigned other : 8;
    long weight;
};

int counter;
struct item item = {.weight = 1};
char text[16];

static void put(const char *s, long n)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(1), "D"(1), "S"(s), "d"(n)
                     : "rcx", "r11", "memory");
}

static void work(int n)
{
    register int local __asm__("rbx") = n;
    counter += local; /* WRITE */
    if (counter == 3)
        item.weight = 2;
}

int main(void)
{
    put("begin\n", 6);
    for (int i = 0; i < 5; i++)
        work(i);
    text[0] = 'x';  /* TEXT */
    item.key = -3;  /* KEY */
    item.other = 5; /* OTHER */
    put("end\n", 4);
    return 0;
}

void _start(void)
{
    __asm__ volatile("and $-16, %%rsp; call main; mov $60, %%eax; xor %%edi, %%edi; syscall" ::
                         : "memory");
    __builtin_unreachable();
}
