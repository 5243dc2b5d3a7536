/* two_ways.S - a block in a hot loop that is entered by a jump that ticks and, mostly, without a tick.
 *
 * SPDX-License-Identifier: MIT
 *
 * Made the head of a loop, it must not come to the runtime where there is no tick: such a position is not found
 * again.
 */
#include <asm/unistd.h>

    .text
    .globl _start
_start:
    xor %ebx, %ebx
    xor %edx, %edx
head:
    inc %ebx
    call function
    test $63, %ebx
    jz aside
middle:
    lea 3(%rdx, %rbx), %rdx
    cmp $60000, %ebx
    jb head
    xor %edi, %edi
    mov $__NR_exit_group, %eax
    syscall
aside:
    add $5, %edx
    jmp middle
function:
    ret
