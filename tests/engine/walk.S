/* walk.S - every kind of transfer, fault and signal that the rules of positions name.
 *
 * SPDX-License-Identifier: MIT
 *
 * Without libc, arguments or anything that differs from run to run, so that two runs can be compared
 * register by register. Each part is called three times; the code cache is warm for two of them.
 */
#include <asm/unistd.h>

#define PAGE     4096
#define SA_FLAGS 0x4c000004 /* SA_SIGINFO, SA_RESTORER, SA_ONSTACK; SA_NODEFER for the tracer */
#define UC_RSP   160        /* offsets in a ucontext */
#define UC_RIP   168

.macro call_kernel nr
    mov $\nr, %eax
    syscall
.endm

    .text
    .globl _start
_start:
    xor %ebp, %ebp
    call set_handlers
    mov $3, %r15d
round:
    call loops
    call transfers
    call far_transfers
    call strings
    call flags
    call operands
    call straight
    call faults
    call code_faults
    call signals
    call patched
    dec %r15d
    jnz round
    lea text(%rip), %rsi
    mov $text_end - text, %edx
    mov $1, %edi
    call_kernel __NR_write
    xor %edi, %edi
    call_kernel __NR_exit_group

/* ---- loops ---- */
loops:
    mov $300, %ecx
    xor %eax, %eax
1:  lea 7(%rax, %rcx, 2), %rax
    dec %ecx
    jnz 1b
    mov $50, %ecx
2:  loop 2b /* to itself */
    mov $20, %ecx
3:  cmp %ecx, %ecx
    loope 3b
    mov $20, %ecx
4:  cmp $5, %ecx
    loopne 4b
    mov $6, %ecx
5:  jrcxz 6f
    dec %ecx
    jmp 5b
6:  mov $1, %ecx
    shl $32, %rcx
    jrcxz 7f
    jecxz 8f
7:  ud2
9:  jmp 10f
8:  xor %ecx, %ecx
    jrcxz 9b /* backward, taken */
10: mov $3, %edx
11: mov $4, %ecx
12: add %rdx, %rax
    loop 12b
    dec %edx
    jz 13f
    jmp 11b
13: jz 14f /* to the next */
14: jnz 14b
    ret

/* ---- calls, returns, indirect jumps ---- */
fib:
    cmp $2, %edi
    jb 1f
    push %rdi
    dec %edi
    call fib
    pop %rdi
    push %rax
    sub $2, %edi
    call fib
    pop %rcx
    add %rcx, %rax
    ret
1:  mov %edi, %eax
    ret

add_one:
    add $1, %rax
    ret
add_two:
    add $2, %rax
    ret $16

transfers:
    mov $12, %edi
    call fib
    lea add_one(%rip), %rdx
    call *%rdx
    mov %rdx, slot(%rip)
    call *slot(%rip)
    lea slot - 8(%rip), %rdx
    mov $1, %ecx
    call *(%rdx, %rcx, 8)
    push %rax
    push %rax
    call add_two
    lea 1f(%rip), %rdx
    push %rdx
    ret /* as a jump */
1:  call 2f /* to the next */
2:  pop %rdx
    lea 3f(%rip), %rdx
    jmp *%rdx /* to the next */
3:  mov $64, %ecx
    xor %edi, %edi
switch:
    mov %ecx, %edx
    and $3, %edx
    lea cases(%rip), %rsi
    movslq (%rsi, %rdx, 4), %rdx
    add %rsi, %rdx
    jmp *%rdx
case0:
    add $1, %edi
    jmp switch_end
case1:
    imul $3, %edi, %edi
    jmp switch_end
case2:
    xor $0x55, %edi
case3:
    rol $1, %edi
switch_end:
    dec %ecx
    jnz switch
    .byte 0xeb, 0xff, 0xc0 /* jmp into itself: then ff c0, inc %eax */
    ret

far_transfers:
    mov %cs, %eax
    push %rax
    lea 1f(%rip), %rdx
    push %rdx
    lretq
1:  mov %rsp, %rcx
    mov %ss, %eax
    push %rax
    push %rcx
    pushfq
    mov %cs, %eax
    push %rax
    lea 2f(%rip), %rdx
    push %rdx
    iretq
2:  ret

/* ---- string instructions ---- */
strings:
    lea buffer(%rip), %rdi
    mov $0x1122334455667788, %rax
    mov $100, %ecx
    rep stosq
    lea buffer(%rip), %rsi
    lea buffer + 801(%rip), %rdi
    mov $333, %ecx
    rep movsb
    movb $9, buffer + 20(%rip)
    lea buffer(%rip), %rsi
    lea buffer + 8(%rip), %rdi
    mov $200, %ecx
    repe cmpsb
    lea buffer(%rip), %rdi
    mov $9, %eax
    mov $200, %ecx
    repne scasb
    xor %ecx, %ecx
    rep movsb
    repe cmpsb
    std
    mov $40, %ecx
    lea buffer + 200(%rip), %rsi
    lea buffer + 208(%rip), %rdi
    rep movsb
    lodsq
    stosw
    cld
    ret

/* ---- flags that live across transfers ---- */
carry:
    ret
flags:
    xor %eax, %eax
    lea words(%rip), %rsi
    mov $8, %ecx
    stc
1:  adc (%rsi), %rax
    lea 8(%rsi), %rsi
    dec %ecx
    jnz 1b
    stc
    call carry
    adc $0, %rax
    cmp $3, %rax
    lea 2f(%rip), %rdx
    jmp *%rdx
2:  setb %dl
    seto %dh
    std
    jmp 4f
3:  pushfq
    popq %rdi
    cld
    pushq $0xcd5
    popfq
    lahf
    jmp 5f
4:  cmp %rax, %rsi
    jmp 3b
5:  mov $1000, %eax
    stc
    syscall /* r11 gets the flags */
    cmc
    sbb %rdi, %rdi
    mov $9, %ecx
    neg %ecx
6:  sar $1, %edi
    rcl $1, %r8
    inc %ecx
    js 6b
    mov $0x80000000, %eax
    add %eax, %eax
    jo 7f
    ud2
7:  jnc 8f
    jz 9f
8:  ud2
9:  mov $5, %ecx
10: cmp $3, %ecx
    cmove %ecx, %r9d
    loopne 10b
    ret

/* ---- operands that the translator rewrites ---- */
operands:
    incq counter(%rip)
    mov counter(%rip), %rbx
    lea counter(%rip), %rax
    mov %gs:(%rax), %rcx
    add %gs:8(%rax, %rbp, 4), %rcx
    mov %fs:(%rax), %rdx
    xchg %rcx, counter + 8(%rip)
    cmpq $5, %gs:counter(%rip)
    cvtsi2sd %rbx, %xmm0
    mulsd half(%rip), %xmm0
    cvtsd2si %xmm0, %rdx
    movq %xmm0, %r8
    push counter(%rip)
    pop counter + 8(%rip)
    enter $32, $0
    leave
    ret

/* ---- more than a block, and across a page end ---- */
    .balign PAGE
    .skip PAGE - 701
straight:
    mov $3, %ecx
1:  .rept 70
    lea 3(%rax, %rax, 4), %rax
    ror $7, %rax
    xor %rcx, %rax
    .endr
    dec %ecx
    jnz 1b
    ret

/* ---- faults ---- */

/* The fault that comes goes on at label 99 with the stack as it is now. */
.macro expect_fault
    lea 99f(%rip), %rax
    mov %rax, resume_rip(%rip)
    mov %rsp, resume_rsp(%rip)
.endm

/* Sets the page's protection. */
guard_set:
    lea guard(%rip), %rdi
    mov $PAGE, %esi
    call_kernel __NR_mprotect
    ret

on_fault: /* (signal, siginfo, ucontext) */
    mov resume_rip(%rip), %rax
    test %rax, %rax
    jz 1f
    mov %rax, UC_RIP(%rdx)
    mov resume_rsp(%rip), %rax
    mov %rax, UC_RSP(%rdx)
    movq $0, resume_rip(%rip)
    ret
1:  mov $3, %edx /* open the page, try again */
    call guard_set
    ret

faults:
    xor %edx, %edx
    call guard_set
    expect_fault
    mov guard(%rip), %rbx
99: expect_fault
    movq $1, guard + 64(%rip)
99: expect_fault /* a call whose push faults */
    lea guard + 128(%rip), %rsp
    call add_one
99: expect_fault
    lea guard + 128(%rip), %rsp
    lea add_one(%rip), %rdx
    call *%rdx
99: expect_fault
    lea guard + 128(%rip), %rsp
    ret
99: expect_fault
    call *guard(%rip)
99: expect_fault
    jmp *guard(%rip)
99: expect_fault
    mov $0x8000000000000000, %rdx
    push %rdx
    ret /* to an address that cannot be */
99: expect_fault
    mov $0x8000000000000000, %rdx
    call *%rdx
99: expect_fault
    jmp *%rdx
99: expect_fault
    xor %ecx, %ecx
    xor %edx, %edx
    mov $1, %eax
    div %ecx
99: expect_fault
    ud2
99: expect_fault
    int3
99: expect_fault
    hlt
99: mov guard + 8(%rip), %rbx /* opened by the handler */
    xor %edx, %edx
    call guard_set
    pushq guard + 16(%rip)
    pop %rbx
    lea guard - 100(%rip), %rdi /* faults in the middle */
    mov $200, %ecx
    mov $7, %eax
    xor %edx, %edx
    push %rdi
    push %rcx
    push %rax
    call guard_set
    pop %rax
    pop %rcx
    pop %rdi
    rep stosb
    lea 1f(%rip), %rdx
    mov %rdx, guard + 32(%rip)
    mov %rsp, %rbx
    xor %edx, %edx
    call guard_set
    lea guard + 32(%rip), %rsp
    ret /* faults, then happens */
1:  mov %rbx, %rsp
    mov $3, %edx
    call guard_set
    ret

/* ---- the transfer happens, then there is no code ---- */
code_faults:
    lea guard(%rip), %rdx
    expect_fault
    jmp *%rdx
99: expect_fault
    call *%rdx
99: expect_fault
    push %rdx
    ret
99: expect_fault
    mov $3, %ecx
    call guard /* direct */
99: expect_fault
    xor %eax, %eax
    jz guard
99: expect_fault
    mov $0x10, %edx /* unmapped */
    call *%rdx
99: ret

/* ---- signals that the kernel sends at a system call ---- */
on_pipe:
    incq counter(%rip)
    call add_one
    ret

signals:
    lea pipes(%rip), %rdi
    call_kernel __NR_pipe
    mov pipes(%rip), %edi
    call_kernel __NR_close
    call 1f
    xor %edi, %edi /* block it: delivered when unblocked */
    call 2f
    call 1f
    incq counter(%rip)
    mov $1, %edi
    call 2f
    mov pipes + 4(%rip), %edi
    call_kernel __NR_close
    ret
1:  mov pipes + 4(%rip), %edi
    lea text(%rip), %rsi
    mov $1, %edx
    call_kernel __NR_write
    ret
2:  lea pipe_mask(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    call_kernel __NR_rt_sigprocmask
    ret

/* ---- code that changes ---- */
patched:
    lea code(%rip), %rdi
    mov $PAGE, %esi
    mov $7, %edx
    call_kernel __NR_mprotect
    lea code(%rip), %rbx
    mov $5, %ebp
1:  movb $0xb8, (%rbx) /* mov $imm32, %eax; ret */
    mov %ebp, 1(%rbx)
    movb $0xc3, 5(%rbx)
    call *%rbx
    add %rax, %r12
    dec %ebp
    jnz 1b
    ret

/* ---- setting up ---- */
restorer:
    mov $__NR_rt_sigreturn, %eax
    syscall

set_handlers:
    lea altstack(%rip), %rax
    mov %rax, sigstack(%rip)
    lea sigstack(%rip), %rdi
    xor %esi, %esi
    call_kernel __NR_sigaltstack
    lea restorer(%rip), %rax
    mov %rax, action + 16(%rip)
    lea on_fault(%rip), %rax
    mov %rax, action(%rip)
    mov $11, %edi /* SEGV, FPE, BUS, TRAP, ILL; PIPE */
    call 1f
    mov $8, %edi
    call 1f
    mov $7, %edi
    call 1f
    mov $5, %edi
    call 1f
    mov $4, %edi
    call 1f
    lea on_pipe(%rip), %rax
    mov %rax, action(%rip)
    mov $13, %edi
1:  lea action(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    call_kernel __NR_rt_sigaction
    ret

    .section .rodata
cases:
    .long case0 - cases, case1 - cases, case2 - cases, case3 - cases
half:
    .double 0.5
words:
    .quad -1, 1, 0x7fffffffffffffff, 5, -7, 0x123456789abcdef, 3, -1
pipe_mask:
    .quad 1 << 12
text:
    .ascii "walked\n"
text_end:

    .data
    .balign 8
action:
    .quad 0, SA_FLAGS, 0, 0
sigstack:
    .quad 0, 0, 65536

    .bss
    .balign PAGE
    .skip PAGE
guard:
    .skip PAGE
code:
    .skip PAGE
buffer:
    .skip PAGE
altstack:
    .skip 65536
slot:
    .skip 8
counter:
    .skip 16
resume_rip:
    .skip 8
resume_rsp:
    .skip 8
pipes:
    .skip 8

    .section .note.GNU-stack, "", @progbits
