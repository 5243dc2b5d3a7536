/* int80.c - the 32-bit system call gate from 64-bit code: getpid answers as the 64-bit one. */
#include "subject.h"

int main(void)
{
    long r;
    __asm__ volatile("int $0x80" : "=a"(r) : "0"(20) : "memory", "r8", "r9", "r10", "r11");
    check(r == getpid() || r == -ENOSYS);
    return 0;
}
