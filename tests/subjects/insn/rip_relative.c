/* rip_relative.c - rip-relative operands in many instruction shapes, from data far and near. */
#include "subject.h"

int32_t rr_word = 5;
int64_t rr_quad = 1000;
double rr_double = 2.5;
char rr_bytes[64] = "abcdefghijklmnop";
static int64_t rr_out;

int main(void)
{
    long r = 0;
    __asm__ volatile(
        "add rr_word(%%rip), %k0\n\t"
        "imul $3, rr_word(%%rip), %%ecx\n\tadd %%rcx, %0\n\t"
        "cmpl $5, rr_word(%%rip)\n\tsete %%cl\n\tmovzbl %%cl, %%ecx\n\tadd %%rcx, %0\n\t"
        "movsbq rr_bytes+3(%%rip), %%rcx\n\tadd %%rcx, %0\n\t"
        "lea rr_bytes+7(%%rip), %%rcx\n\tlea rr_bytes(%%rip), %%rdx\n\t"
        "sub %%rdx, %%rcx\n\tadd %%rcx, %0\n\t"
        "shll $2, rr_word(%%rip)\n\tadd rr_word(%%rip), %k0\n\t"
        "sarl %%cl, rr_word(%%rip)\n\tmovl $5, rr_word(%%rip)\n\t"
        "movl $7, rr_word(%%rip)\n\tadd rr_word(%%rip), %k0\n\tmovl $5, rr_word(%%rip)\n\t"
        "push rr_quad(%%rip)\n\tpop %%rcx\n\tadd %%rcx, %0\n\t"
        "mov rr_quad(%%rip), %%rax\n\tmulq rr_quad(%%rip)\n\tadd %%rax, %0\n\t"
        "xor %%edx, %%edx\n\tdivq rr_quad(%%rip)\n\tadd %%rax, %0\n\t"
        "btl $2, rr_word(%%rip)\n\tadc $0, %0\n\t"
        "mov $1000, %%eax\n\tmov $2000, %%ecx\n\t"
        "lock cmpxchg %%rcx, rr_quad(%%rip)\n\tadd rr_quad(%%rip), %0\n\t"
        "movsd rr_double(%%rip), %%xmm0\n\taddsd rr_double(%%rip), %%xmm0\n\t"
        "cvttsd2si %%xmm0, %%rcx\n\tadd %%rcx, %0\n\t"
        "movdqu rr_bytes(%%rip), %%xmm1\n\tpcmpeqb rr_bytes(%%rip), %%xmm1\n\t"
        "pmovmskb %%xmm1, %%ecx\n\tadd %%rcx, %0\n\t"
        "fldl rr_double(%%rip)\n\tfistpll rr_quad(%%rip)\n\tadd rr_quad(%%rip), %0\n\t"
        "movb $'z', rr_bytes+1(%%rip)\n\tmovzbl rr_bytes+1(%%rip), %%ecx\n\t"
        "add %%rcx, %0\n\tnotq rr_quad(%%rip)\n\tnegq rr_quad(%%rip)\n\t"
        "add rr_quad(%%rip), %0\n\t"
        "lea 1f(%%rip), %%rcx\n\tlea 1f-1(%%rip), %%rdx\n1:\tsub %%rdx, %%rcx\n\t"
        "add %%rcx, %0\n\tcrc32b rr_bytes(%%rip), %%ecx\n\tadd %%rcx, %0"
        : "+r"(r)
        :
        : "rax", "rcx", "rdx", "xmm0", "xmm1", "cc", "memory");
    rr_out = r;
    say("sum %ld\n", rr_out);
    return 0;
}
