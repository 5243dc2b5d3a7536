/* odd_returns.c - returns that match no call: changed on the stack, push+ret, skipped frames, to
 * data. */
#include "subject.h"

__asm__(".text\n"
        "push_ret:\n\tlea 1f(%rip), %rax\n\tpush %rax\n\tret\n\tud2\n1:\tmov $11, %eax\n\tret\n"
        "retpoline:\n\tlea 3f(%rip), %rdx\n\tcall 2f\n1:\tpause\n\tlfence\n\tjmp 1b\n"
        "2:\tmov %rdx, (%rsp)\n\tret\n3:\tmov $12, %eax\n\tret\n"
        "skip_frame:\n\tcall 1f\n\tmov $99, %eax\n\tret\n1:\tadd $8, %rsp\n\tmov $13, %eax\n\tret\n"
        "ret_twice:\n\tlea 2f(%rip), %rax\n\tpush %rax\n\tlea 1f(%rip), %rax\n\tpush %rax\n\tret\n"
        "1:\tmov $7, %ecx\n\tret\n2:\tlea 7(%rcx), %eax\n\tret\n"
        "adjust:\n\tcall 1f\n\tud2\n\tmov $15, %eax\n\tret\n1:\taddq $2, (%rsp)\n\tret\n"
        "ret_imm:\n\tpush $1\n\tpush $2\n\tpush $3\n\tcall 1f\n\tret\n"
        "1:\tmov 8(%rsp), %rax\n\tadd 16(%rsp), %rax\n\tadd 24(%rsp), %rax\n\tret $24\n"
        "pop_call:\n\tcall 1f\n1:\tpop %rax\n\tlea 1b(%rip), %rdx\n\tcmp %rax, %rdx\n\tsete %al\n\t"
        "movzbl %al, %eax\n\tadd $16, %eax\n\tret\n");
int push_ret(void), retpoline(void), skip_frame(void), ret_twice(void), adjust(void), ret_imm(void),
    pop_call(void);

int main(void)
{
    long sum = 0;
    say("%d %d %d %d %d %d %d\n", push_ret(), retpoline(), skip_frame(), ret_twice(), adjust(),
        ret_imm(), pop_call());
    for (int i = 0; i < 3000; i++)
        sum += push_ret() + retpoline() + skip_frame() + ret_twice() + adjust() + ret_imm() +
               pop_call();
    say("sum %ld\n", sum);
    return 0;
}
