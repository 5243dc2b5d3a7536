/* loop.h - a hot loop whose registers can be judged at any of its instructions.
 *
 * SPDX-License-Identifier: MIT
 *
 * Calls, returns, indirect transfers and flags that live across them: what a trace predicts and
 * delays. loop_run(turns, load, step) reads *load and adds `step` to load on every turn. While it
 * runs, rbx counts turns and
 *   rcx - rbx is LOOP_RCX, r12 - 3 * rbx is 0, each up to one turn late;
 *   at loop_carry the carry flag is set.
 */
#ifndef HOT_LOOP_H
#define HOT_LOOP_H

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define LOOP_RCX 0x123456789abcull

uint64_t loop_run(uint64_t turns, const volatile uint8_t *load, uint64_t step);
extern const char loop_run_end[], loop_head[], loop_carry[], loop_load[], loop_next[], loop_trap[],
    loop_illegal[];

__asm__(".text\n"
        ".globl loop_run, loop_run_end, loop_head, loop_carry, loop_load, loop_next, loop_trap, "
        "loop_illegal\n"
        "loop_run:\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    mov %rdx, %r13\n"
        "    xor %ebx, %ebx\n"
        "    xor %r12d, %r12d\n"
        "    movabs $0x123456789abc, %rcx\n"
        "    lea 3f(%rip), %rdx\n"
        "loop_head:\n"
        "    lea 1(%rbx), %rbx\n"
        "    lea 3(%r12), %r12\n"
        "    lea 1(%rcx), %rcx\n"
        "    call 2f\n"
        "    lea -8(%rsp), %rsp\n"
        "    call *%rdx\n"
        "    lea 4f(%rip), %rax\n"
        "    jmp *%rax\n"
        "2:  ret\n"
        "3:  ret $8\n"
        "4:  stc\n"
        "    call loop_carry\n"
        "    jnc 6f\n"
        "    lea (%rsi, %r13), %rsi\n"
        "    cmp $1, %rbx\n" /* dead flags, for a fault to show */
        "loop_load:\n"
        "    movzbl (%rsi), %eax\n"
        "loop_next:\n"
        "    test $0x3ff, %ebx\n"
        "    jz 7f\n"
        "5:  cmp %rdi, %rbx\n"
        "    jb loop_head\n"
        "6:  mov %rbx, %rax\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    ret\n"
        "7:  test $0x400, %ebx\n"
        "    jz loop_illegal\n"
        "loop_trap:\n"
        "    int3\n"
        "    jmp 5b\n"
        "loop_illegal:\n"
        "    ud2\n"
        "loop_carry:\n"
        "    ret\n"
        "loop_run_end:\n");

/* What handlers saw. */
static struct {
    uint64_t digest, wrong;
    unsigned hits;
} seen;

static inline void loop_note(uint64_t word)
{
    seen.digest = (seen.digest ^ word) * 0x9e3779b97f4a7c15ull;
    seen.digest ^= seen.digest >> 29;
}

/* A frame: every register counts; inside the loop they are judged, too. */
static inline void loop_look(int sig, const ucontext_t *uc)
{
    const greg_t *g = uc->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)g[REG_RIP], n = (uint64_t)g[REG_RBX];
    seen.hits++;
    loop_note((uint64_t)sig);
    for (int i = REG_R8; i <= REG_RIP; i++)
        loop_note((uint64_t)g[i]);
    loop_note((uint64_t)g[REG_EFL]);
    if (pc < (uint64_t)loop_head || pc >= (uint64_t)loop_run_end)
        return;
    if (pc >= (uint64_t)loop_next && pc < (uint64_t)loop_illegal && !(n | (uint64_t)g[REG_R12]))
        return; /* popped already */
    uint64_t rcx = n + LOOP_RCX - (uint64_t)g[REG_RCX], r12 = 3 * n - (uint64_t)g[REG_R12];
    int late = rcx <= 1 && (r12 == 0 || r12 == 3);
    int carry = pc != (uint64_t)loop_carry || (g[REG_EFL] & 1);
    if (late && carry)
        return;
    if (!seen.wrong++)
        printf("FAIL: signal %d at loop_head+%ld: rbx %lx rcx %lx r12 %lx flags %lx\n", sig,
               (long)(pc - (uint64_t)loop_head), n, (uint64_t)g[REG_RCX], (uint64_t)g[REG_R12],
               (uint64_t)g[REG_EFL]);
}

#endif
