/* overrun.S - stretches with many ticks whose ends do not tick, one behind the other.
 *
 * SPDX-License-Identifier: MIT
 *
 * A stretch is a path that owes some thirty ticks when it ends at a call of the kernel. First each is entered by
 * jumps that tick, so that it can become a superblock; then all of them run in a row, from call to call. Whoever
 * wants an exact position in there must not wait for the next tick that is looked at.
 */
#include <asm/unistd.h>

.macro stretch
0:  .rept 14
    call 2f
    .pushsection .text.functions, "ax"
2:  ret
    .popsection
    .endr
    jmp 1f
1:  mov $__NR_getuid, %eax
    syscall
    test %r15d, %r15d
    jnz back
    .pushsection .rodata
    .quad 0b
    .popsection
.endm

    .section .rodata
    .balign 8
starts:
    .text
    .globl _start
_start:
    mov $1, %r15d
    mov $300, %ebp
turn:
    xor %ebx, %ebx
each:
    lea starts(%rip), %rax
    jmp *(%rax, %rbx, 8)
back:
    inc %ebx
    cmp $8, %ebx
    jb each
    dec %ebp
    jnz turn
    xor %r15d, %r15d
    mov $40, %ebp
row:
    .rept 8
    stretch
    .endr
    dec %ebp
    jnz row
    xor %edi, %edi
    mov $__NR_exit_group, %eax
    syscall
