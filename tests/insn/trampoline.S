/* trampoline.S - switch between the tester and a random sequence.
 *
 * insn_enter_* saves the C state, loads everything from CTL_IN and jumps to the sequence; the sequence
 * leaves by jumping to insn_exit_* (its address is at CTL_EXIT), which stores everything to CTL_OUT and
 * returns from insn_enter_*. All addresses are absolute and below 2 GiB, so no register is needed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "layout.h"

.macro gprs op
    .if \op
    movq %rax, CTL_OUT+M_GPR+0
    movq %rcx, CTL_OUT+M_GPR+8
    movq %rdx, CTL_OUT+M_GPR+16
    movq %rbx, CTL_OUT+M_GPR+24
    movq %rsp, CTL_OUT+M_GPR+32
    movq %rbp, CTL_OUT+M_GPR+40
    movq %rsi, CTL_OUT+M_GPR+48
    movq %rdi, CTL_OUT+M_GPR+56
    movq %r8, CTL_OUT+M_GPR+64
    movq %r9, CTL_OUT+M_GPR+72
    movq %r10, CTL_OUT+M_GPR+80
    movq %r11, CTL_OUT+M_GPR+88
    movq %r12, CTL_OUT+M_GPR+96
    movq %r13, CTL_OUT+M_GPR+104
    movq %r14, CTL_OUT+M_GPR+112
    movq %r15, CTL_OUT+M_GPR+120
    .else
    movq CTL_IN+M_GPR+0, %rax
    movq CTL_IN+M_GPR+8, %rcx
    movq CTL_IN+M_GPR+16, %rdx
    movq CTL_IN+M_GPR+24, %rbx
    movq CTL_IN+M_GPR+32, %rsp
    movq CTL_IN+M_GPR+40, %rbp
    movq CTL_IN+M_GPR+48, %rsi
    movq CTL_IN+M_GPR+56, %rdi
    movq CTL_IN+M_GPR+64, %r8
    movq CTL_IN+M_GPR+72, %r9
    movq CTL_IN+M_GPR+80, %r10
    movq CTL_IN+M_GPR+88, %r11
    movq CTL_IN+M_GPR+96, %r12
    movq CTL_IN+M_GPR+104, %r13
    movq CTL_IN+M_GPR+112, %r14
    movq CTL_IN+M_GPR+120, %r15
    .endif
.endm

.macro load_sse
.endm

.macro store_sse
.endm

.macro load_avx
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmovdqu CTL_IN+M_ZMM+64*\n, %ymm\n
    .endr
.endm

.macro store_avx
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmovdqu %ymm\n, CTL_OUT+M_ZMM+64*\n
    .endr
    vzeroupper
.endm

.macro load_avx512
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovdqu64 CTL_IN+M_ZMM+64*\n, %zmm\n
    .endr
    .irp n,0,1,2,3,4,5,6,7
    kmovq CTL_IN+M_K+8*\n, %k\n
    .endr
.endm

.macro store_avx512
    .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmovdqu64 %zmm\n, CTL_OUT+M_ZMM+64*\n
    .endr
    .irp n,0,1,2,3,4,5,6,7
    kmovq %k\n, CTL_OUT+M_K+8*\n
    .endr
    vzeroupper
.endm

.macro trampoline kind
    .globl insn_enter_\kind
    .type insn_enter_\kind, @function
insn_enter_\kind:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, CTL_HOST_RSP
    fxrstor64 CTL_IN+M_FX
    load_\kind
    movl $(CTL_IN+M_FLAGS), %esp
    popfq
    gprs 0
    jmpq *CTL_ENTRY
    .size insn_enter_\kind, . - insn_enter_\kind

    .globl insn_exit_\kind
    .type insn_exit_\kind, @function
insn_exit_\kind:
    gprs 1
    movl $(CTL_OUT+M_FLAGS+8), %esp
    pushfq
    movl $CTL_SCRATCH_TOP, %esp
    pushq $2 /* no alignment check, no direction flag */
    popfq
    fxsave64 CTL_OUT+M_FX
    store_\kind
    fninit
    ldmxcsr default_mxcsr(%rip)
    movq CTL_HOST_RSP, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
    .size insn_exit_\kind, . - insn_exit_\kind
.endm

    .text
    trampoline sse
    trampoline avx
    trampoline avx512

/* The kernel enters a handler with the alignment check flag of the interrupted code: drop it. */
    .globl insn_on_signal
    .type insn_on_signal, @function
insn_on_signal:
    pushfq
    andl $~0x40000, (%rsp)
    popfq
    jmp insn_record_fault
    .size insn_on_signal, . - insn_on_signal

    .section .rodata
    .balign 4
default_mxcsr:
    .long 0x1f80
    .section .note.GNU-stack, "", @progbits
