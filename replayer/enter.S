/* enter.S - the last steps of a new process on its way into the runtime.
 *
 * SPDX-License-Identifier: MIT
 *
 * Runs as a copy in a page of its own, because it puts the runtime where this program itself may
 * lie. Needs no stack. The words at the end are filled in by replay.c.
 */
    .section .rodata
    .globl enter_code, enter_words, enter_end
enter_code:
    mov $25, %eax /* mremap(image, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base) */
    mov enter_words + 0x00(%rip), %rdi
    mov enter_words + 0x08(%rip), %rsi
    mov %rsi, %rdx
    mov $3, %r10d
    mov enter_words + 0x10(%rip), %r8
    syscall
    cmp enter_words + 0x10(%rip), %rax
    jne 1f
    mov $9, %eax /* mmap(box, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) */
    mov enter_words + 0x18(%rip), %rdi
    mov enter_words + 0x20(%rip), %rsi
    mov $3, %edx
    mov $0x11, %r10d
    mov enter_words + 0x28(%rip), %r8
    xor %r9d, %r9d
    syscall
    cmp enter_words + 0x18(%rip), %rax
    jne 1f
    mov enter_words + 0x30(%rip), %rsp
    xor %ebp, %ebp
    jmp *enter_words + 0x38(%rip)
1:  mov $231, %eax
    mov $1, %edi
    syscall
    .balign 8
enter_words:
    .zero 8 * 8
enter_end:
    .section .note.GNU-stack, "", @progbits
