/* entry.S - the doors between translated code, the runtime's C code and the kernel.
 *
 * SPDX-License-Identifier: MIT
 *
 * Translated code leaves through engine_exit with all of the target's registers live; the exit site is
 * named in gs:T_EXIT. A failed indirect lookup leaves through engine_indirect with rax, rcx and flags
 * spilled and the wanted pc in rcx. engine_dispatch() (core/dispatch.c) answers with the cache address
 * to go on at.
 *
 * Windows: code ranges in which an asynchronous signal needs care. The host signal handler
 * (os/hostsig.c) compares the interrupted pc with the labels below.
 *  [engine_enter, engine_enter_end)   counts as translated code: the handler makes the next tick expire
 *  [engine_syscall_check, engine_syscall_insn]   the call has not happened: it is made not to happen
 *  [engine_copy_quick, engine_copy_slow)   a fault makes the copy start anew at engine_copy_slow
 *  engine_copy_insn, engine_cas_insn  a fault makes the copy end early
 */
#include "engine/core/layout.h"

#define G(n) (T_GPR + 8 * (n))
#define FLAGS_USUAL 0x8d5 /* the arithmetic ones; all others are clear in the runtime */

/* From (nr, args[6]) in rdi, rsi to the kernel's registers. */
    .macro LOAD_CALL
    mov %rdi, %rax
    mov %rsi, %r11
    mov 0x00(%r11), %rdi
    mov 0x08(%r11), %rsi
    mov 0x10(%r11), %rdx
    mov 0x18(%r11), %r10
    mov 0x20(%r11), %r8
    mov 0x28(%r11), %r9
    .endm

    .text
    .globl engine_indirect, engine_exit, engine_enter, engine_enter_end, engine_start, engine_faulted
    .hidden engine_indirect, engine_exit, engine_enter, engine_enter_end, engine_start, engine_faulted

engine_indirect:
    mov %rcx, %gs:T_RIP
    mov %gs:T_SPILL_FLAGS, %rax
    add $127, %al
    sahf
    mov %gs:T_SPILL_RAX, %rax
    mov %gs:T_SPILL_RCX, %rcx
engine_exit:
    mov %rax, %gs:G(0)
    mov %rcx, %gs:G(1)
    mov %rdx, %gs:G(2)
    mov %rbx, %gs:G(3)
    mov %rsp, %gs:G(4)
    mov %rbp, %gs:G(5)
    mov %rsi, %gs:G(6)
    mov %rdi, %gs:G(7)
    mov %r8, %gs:G(8)
    mov %r9, %gs:G(9)
    mov %r10, %gs:G(10)
    mov %r11, %gs:G(11)
    mov %r12, %gs:G(12)
    mov %r13, %gs:G(13)
    mov %r14, %gs:G(14)
    mov %r15, %gs:G(15)
    mov %gs:T_HOST_SP, %rsp
    pushfq
    popq %gs:T_RFLAGS
    testl $~(FLAGS_USUAL | 0x202), %gs:T_RFLAGS
    jz engine_start
    pushq $0x202 /* direction, alignment checks, ... are the target's, not ours */
    popfq
engine_start: /* the registers are in gs:T_GPR, rsp is the thread's host stack */
    mov %gs:T_SELF, %rdi
    mov %gs:T_EXIT, %rsi
    call engine_dispatch
engine_enter:
    cmpl $0, %gs:T_PENDING
    je 1f
    mov %gs:T_LEFT, %rcx
    sub %rcx, %gs:T_LIMIT
    movq $0, %gs:T_LEFT
1:  mov %rax, %gs:T_JUMP
    mov %gs:T_RFLAGS, %rcx
    test $~(FLAGS_USUAL | 0x202), %ecx
    jnz 2f
    mov %ecx, %eax /* popfq takes longer than this */
    shr $11, %eax
    and $1, %al
    mov %cl, %ah
    add $127, %al
    sahf
    jmp 3f
2:  push %rcx
    popfq
3:  mov %gs:G(0), %rax
    mov %gs:G(1), %rcx
    mov %gs:G(2), %rdx
    mov %gs:G(3), %rbx
    mov %gs:G(5), %rbp
    mov %gs:G(6), %rsi
    mov %gs:G(7), %rdi
    mov %gs:G(8), %r8
    mov %gs:G(9), %r9
    mov %gs:G(10), %r10
    mov %gs:G(11), %r11
    mov %gs:G(12), %r12
    mov %gs:G(13), %r13
    mov %gs:G(14), %r14
    mov %gs:G(15), %r15
    mov %gs:G(4), %rsp
    jmp *%gs:T_JUMP
engine_enter_end:

/* The host signal handler resumes here after a fault in translated code; registers are saved. */
engine_faulted:
    mov %gs:T_SELF, %rdi
    call engine_dispatch_fault
    jmp engine_enter

/* Leave the engine for ever: void engine_native(const struct cpu_state *): used to let the target die
 * at its own pc with its own registers. */
    .globl engine_native
    .hidden engine_native
engine_native:
    mov %rdi, %rsp
    push 0x88(%rdi)
    popfq
    mov 0x80(%rsp), %rax
    mov %rax, %gs:T_JUMP
    mov 0x00(%rsp), %rax
    mov 0x08(%rsp), %rcx
    mov 0x10(%rsp), %rdx
    mov 0x18(%rsp), %rbx
    mov 0x28(%rsp), %rbp
    mov 0x30(%rsp), %rsi
    mov 0x38(%rsp), %rdi
    mov 0x40(%rsp), %r8
    mov 0x48(%rsp), %r9
    mov 0x50(%rsp), %r10
    mov 0x58(%rsp), %r11
    mov 0x60(%rsp), %r12
    mov 0x68(%rsp), %r13
    mov 0x70(%rsp), %r14
    mov 0x78(%rsp), %r15
    mov 0x20(%rsp), %rsp
    jmp *%gs:T_JUMP

/* long engine_syscall(long nr, const long args[6]): a system call of the target. */
    .globl engine_syscall, engine_syscall_check, engine_syscall_insn, engine_syscall_abort
    .hidden engine_syscall, engine_syscall_check, engine_syscall_insn, engine_syscall_abort
engine_syscall:
    LOAD_CALL
engine_syscall_check:
    cmpl $0, %gs:T_PENDING
    jne engine_syscall_abort
engine_syscall_insn:
    syscall
    pop %rcx /* not ret: the kernel has used up the CPU's memory of return addresses */
    jmp *%rcx
engine_syscall_abort:
    mov $SYSCALL_ABORTED, %rax
    ret

/* long engine_clone(long nr, const long args[6], struct thread *child): with a child, the new kernel
 * thread starts in threads_child_start(child) on the child's host stack; without one both return. */
    .globl engine_clone
    .hidden engine_clone
engine_clone:
    push %rbx
    mov %rdx, %rbx
    LOAD_CALL
    syscall
    test %rax, %rax
    jnz 1f
    test %rbx, %rbx
    jz 1f
    mov T_HOST_SP(%rbx), %rsp
    xor %ebp, %ebp
    mov %rbx, %rdi
    call threads_child_start
    ud2
1:  pop %rbx
    ret

/* long engine_clone_vm(long flags, void *stack, void (*fn)(void *), void *arg): a kernel thread of the
 * runtime's own, for the exec helper. The child ends when fn returns. */
    .globl engine_clone_vm
    .hidden engine_clone_vm
engine_clone_vm:
    mov %rdx, %r8
    mov %rcx, %r9
    mov $56, %eax
    xor %edx, %edx
    xor %r10d, %r10d
    syscall
    test %rax, %rax
    jnz 1f
    xor %ebp, %ebp
    mov %r9, %rdi
    call *%r8
    xor %edi, %edi
    mov $60, %eax
    syscall
1:  ret

/* size_t engine_copy(void *dst, const void *src, size_t n): bytes not copied because of a fault. From 8
 * to 16, instructions and times, go quicker. */
    .globl engine_copy, engine_copy_quick, engine_copy_slow, engine_copy_insn, engine_copy_fault
    .hidden engine_copy, engine_copy_quick, engine_copy_slow, engine_copy_insn, engine_copy_fault
engine_copy:
    lea -8(%rdx), %rcx
    cmp $8, %rcx
    ja engine_copy_slow
engine_copy_quick:
    mov (%rsi), %rax
    mov -8(%rsi,%rdx), %rcx
    mov %rax, (%rdi)
    mov %rcx, -8(%rdi,%rdx)
    xor %eax, %eax
    ret
engine_copy_slow:
    mov %rdx, %rcx
engine_copy_insn:
    rep movsb
engine_copy_fault:
    mov %rcx, %rax
    ret

/* size_t engine_cas(void *word, uint32_t *old, uint32_t new): not 0 because of a fault. Else *old is what
 * was found; new took its place if that is what *old had been. */
    .globl engine_cas, engine_cas_insn
    .hidden engine_cas, engine_cas_insn
engine_cas:
    mov $1, %ecx
    mov (%rsi), %eax
engine_cas_insn:
    lock cmpxchg %edx, (%rdi)
    mov %eax, (%rsi)
    xor %ecx, %ecx
    jmp engine_copy_fault

    .globl engine_restorer
    .hidden engine_restorer
engine_restorer:
    mov $15, %eax
    syscall

/* The decoder library uses xmm registers: void engine_save_xmm(void), engine_load_xmm(void). */
    .globl engine_save_xmm, engine_load_xmm
    .hidden engine_save_xmm, engine_load_xmm
engine_save_xmm:
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    movups %xmm\n, %gs:T_XMM + 16 * \n
    .endr
    ret
engine_load_xmm:
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    movups %gs:T_XMM + 16 * \n, %xmm\n
    .endr
    ret

    .section .note.GNU-stack, "", @progbits
