/* far.c - far returns and iretq within 64-bit code; segment register reads and loads. */
#include "subject.h"

int main(void)
{
    long a, b;
    __asm__ volatile("sub $128, %%rsp\n\tmov %%cs, %%eax\n\tpush %%rax\n\tlea 1f(%%rip), %%rax\n\t"
                     "push %%rax\n\tlretq\n\tud2\n1:\tadd $128, %%rsp\n\tmov $1, %0"
                     : "=r"(a)::"rax", "memory");
    __asm__ volatile(
        "mov %%rsp, %%rdx\n\tsub $128, %%rsp\n\tmov %%ss, %%eax\n\tpush %%rax\n\t"
        "push %%rdx\n\tpushfq\n\tmov %%cs, %%eax\n\tpush %%rax\n\tlea 1f(%%rip), %%rax\n\t"
        "push %%rax\n\tiretq\n\tud2\n1:\tmov $2, %0"
        : "=r"(b)::"rax", "rdx", "memory", "cc");
    say("%ld %ld\n", a, b);
    unsigned cs, ds, es, fs, gs, ss;
    __asm__ volatile(
        "mov %%cs, %0\n\tmov %%ds, %1\n\tmov %%es, %2\n\tmov %%fs, %3\n\tmov %%gs, %4\n\t"
        "mov %%ss, %5"
        : "=r"(cs), "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs), "=r"(ss));
    say("cs %x ds %x es %x fs %x gs %x ss %x\n", cs, ds, es, fs, gs, ss);
    __asm__ volatile("mov %0, %%es" : : "r"(ss));
    __asm__ volatile("mov %%es, %0\n\tmov %1, %%es" : "=&r"(es) : "r"(0));
    say("es %x\n", es);
    return 0;
}
