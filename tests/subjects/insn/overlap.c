/* overlap.c - jumps into the middle of instructions, prefixes on branches, 32-bit addresses, nops.
 */
#include "subject.h"

int main(void)
{
    long a, b, c, d;
    __asm__ volatile("xor %%eax, %%eax\n\t"
                     "jmp 1f\n\t.byte 0xb8\n1:\t.byte 0x83, 0xc0, 0x05, 0x90, 0x90\n\t"
                     "mov %%rax, %0"
                     : "=r"(a)::"rax", "cc");
    /* eb ff c0: the jump lands on its own second byte, which starts "inc %eax" (ff c0). */
    __asm__ volatile("mov $41, %%eax\n\t.byte 0xeb, 0xff, 0xc0\n\tmov %%rax, %0"
                     : "=r"(b)::"rax", "cc");
    __asm__ volatile("lea 2f(%%rip), %%rdx\n\txor %%eax, %%eax\n\t.byte 0xf2\n\tjmp 1f\n\tud2\n"
                     "1:\t.byte 0x3e\n\tjmp *%%rdx\n\tud2\n"
                     "2:\tmov $3, %%eax\n\tmov %%rax, %0"
                     : "=r"(c)::"rax", "rdx");
    __asm__ volatile(
        "movabs $0x100000000, %%rcx\n\t.byte 0x67\n\tjrcxz 1f\n\tmov $1, %%eax\n\tjmp 2f\n"
        "1:\tmov $2, %%eax\n2:\tmov %%rax, %0"
        : "=r"(d)::"rax", "rcx");
    say("%ld %ld %ld %ld\n", a, b, c, d);
    uint32_t *low =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    low[5] = 55;
    __asm__ volatile(
        "movabs $0xabcdef0000000000, %%rcx\n\tadd %1, %%rcx\n\taddr32 mov 20(%%ecx), %k0"
        : "=r"(a)
        : "r"((uintptr_t)low)
        : "rcx", "cc");
    say("addr32 %ld\n", a & 0xffffffff);
    __asm__ volatile(
        "endbr64\n\tnopw 0x0(%%rax,%%rax,1)\n\t.byte 0x66,0x66,0x90\n\tpause\n\tlfence\n\t"
        "mfence\n\tsfence\n\tprefetcht0 (%%rsp)\n\tmov %%rsp, %0"
        : "=r"(a)::"memory");
    static char table[256];
    table[200] = 77;
    __asm__ volatile("mov $200, %%al\n\txlat" : "=a"(a) : "b"(table));
    say("xlat %ld\n", a & 255);
    static uint32_t bits[64];
    __asm__ volatile("btsl %1, %0" : "+m"(bits[32]) : "r"(-70) : "cc", "memory");
    __asm__ volatile("btsl %1, %0" : "+m"(bits[32]) : "r"(70) : "cc", "memory");
    say("bts %x %x\n", bits[29], bits[34]);
    return 0;
}
