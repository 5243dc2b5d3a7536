/* asm_switch.c - coroutines by hand-written stack switching: pushed registers, xchg of rsp, ret. */
#include "subject.h"

__asm__(".text\n"
        "switch_to:\n\t"
        "push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
        "mov %rsp, (%rdi)\n\tmov (%rsi), %rsp\n\t"
        "pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n"
        "switch_jump:\n\t"
        "pop %rax\n\tpush %rbx\n\tpush %rbp\n\tpush %rax\n\t"
        "mov %rsp, (%rdi)\n\tmov (%rsi), %rsp\n\t"
        "pop %rax\n\tpop %rbp\n\tpop %rbx\n\tjmp *%rax\n");
extern void switch_to(uint64_t **save, uint64_t **load);
extern void switch_jump(uint64_t **save, uint64_t **load);

enum { N = 16 };
static uint64_t *sp[N + 1];
static unsigned long sum;
static int rounds;

static void coroutine(void)
{
    for (int me = 0;; me++) {
        int k = rounds % N;
        sum = sum * 17 + (unsigned long)(k * me + 1);
        switch_to(&sp[k], &sp[N]);
    }
}

static uint64_t *a_sp, *b_sp;

static void other_side(void)
{
    for (int i = 0;; i++) {
        sum += (unsigned long)i;
        switch_jump(&b_sp, &a_sp);
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        uint8_t *stack = map_anon(16384, PROT_READ | PROT_WRITE);
        sp[i] = (uint64_t *)(stack + 16384 - 8) - 7;
        sp[i][6] = (uintptr_t)coroutine;
    }
    for (rounds = 0; rounds < 200 * N; rounds++)
        switch_to(&sp[N], &sp[rounds % N]);
    say("sum %lx\n", sum);
    b_sp = (uint64_t *)(map_anon(16384, PROT_READ | PROT_WRITE) + 16384 - 8) - 3;
    b_sp[0] = (uintptr_t)other_side;
    for (int i = 0; i < 3000; i++)
        switch_jump(&a_sp, &b_sp);
    say("sum %lx\n", sum);
    return 0;
}
