/* state_loop.S - holds a pattern in all registers until told to stop.
 *
 * long state_loop(volatile long *stop, long seed) gives 0, or the number of a broken register. The
 * pattern is in every register, xmm0-15 (with YMM: ymm0-15), the x87 stack and the red zone, and is
 * compared with what it should be until *stop: a signal or a thread switch must not be seen.
 */
        .globl  state_loop
        .type   state_loop, @function
        .text
        .macro  pattern n, reg
        lea     \n*0x1111(%rsi), %\reg
        .endm
        .macro  expect n, reg
        lea     \n*0x1111(%rsi), %rax
        cmp     %rax, %\reg
        mov     $\n, %eax
        jne     fail
        .endm
        .macro  flags set, jump_bad, code
        \set
        jmp     1f
        ud2
1:      \jump_bad fail_flags
        .endm

state_loop:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        pattern \n, rax
        mov     %rax, -8*\n(%rsp)
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        lea     0x2222*\n(%rsi), %rax
        movq    %rax, %xmm\n
        pshufd  $0x44, %xmm\n, %xmm\n
        .endr
#ifdef YMM
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vinserti128 $1, %xmm\n, %ymm\n, %ymm\n
        .endr
#endif
        fninit
        fildq   -8(%rsp)
        fildq   -16(%rsp)
        fildq   -24(%rsp)
        pattern 31, rbx
        pattern 32, rcx
        pattern 33, rdx
        pattern 34, rbp
        pattern 35, r8
        pattern 36, r9
        pattern 37, r10
        pattern 38, r11
        pattern 39, r12
        pattern 40, r13
        pattern 41, r14
        pattern 42, r15
again:  expect  31, rbx
        expect  32, rcx
        expect  33, rdx
        expect  34, rbp
        expect  35, r8
        expect  36, r9
        expect  37, r10
        expect  38, r11
        expect  39, r12
        expect  40, r13
        expect  41, r14
        expect  42, r15
        flags   stc, jnc
        flags   clc, jc
        xor     %eax, %eax
        jmp     1f
1:      jnz     fail_flags
        jns     1f
        ud2
1:      jpe     1f
        ud2
1:      mov     $0x7fffffff, %eax
        inc     %eax
        jmp     1f
1:      jno     fail_flags
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        pattern \n, rax
        cmp     %rax, -8*\n(%rsp)
        mov     $50+\n, %eax
        jne     fail
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        lea     0x2222*\n(%rsi), %rax
        movq    %xmm\n, %rbx
        cmp     %rax, %rbx
        mov     $70+\n, %eax
        jne     fail
        psrldq  $8, %xmm\n
        movq    %xmm\n, %rax
        cmp     %rax, %rbx
        mov     $90+\n, %eax
        jne     fail
        pshufd  $0x44, %xmm\n, %xmm\n
        .endr
#ifdef YMM
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        lea     0x2222*\n(%rsi), %rax
        vpermq  $0x4e, %ymm\n, %ymm\n
        movq    %xmm\n, %rbx
        cmp     %rax, %rbx
        mov     $130+\n, %eax
        jne     fail
        .endr
#endif
        pattern 31, rbx
        fxch    %st(2)                  /* six rounds of this pair give the old order back */
        fxch    %st(1)
        fxch    %st(2)
        fxch    %st(1)
        fxch    %st(2)
        fxch    %st(1)
        fxch    %st(2)
        fxch    %st(1)
        fxch    %st(2)
        fxch    %st(1)
        fxch    %st(2)
        fxch    %st(1)
        cmpq    $0, (%rdi)
        je      again
        fistpq  -24(%rsp)
        fistpq  -16(%rsp)
        fistpq  -8(%rsp)
        .irp    n, 1, 2, 3
        pattern \n, rax
        cmp     %rax, -8*\n(%rsp)
        mov     $110+\n, %eax
        jne     fail
        .endr
        xor     %eax, %eax
out:    fninit
#ifdef YMM
        vzeroupper
#endif
        cld
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
fail_flags:
        mov     $120, %eax
fail:   movslq  %eax, %rax
        jmp     out
        .section .note.GNU-stack, "", @progbits
