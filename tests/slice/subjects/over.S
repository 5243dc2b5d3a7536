# over.S - what is wanted waits for long: for a branch, a maker, a save, a write.
#
# SPDX-License-Identifier: MIT
#
# Between a node and what it depends on `busy` is executed, which does nothing to it, so that chunks
# of a trace can be passed over there, wherever they begin.

    .globl _start
_start:
    mov $24, %ebx
again:
    test $1, %bl
    jz even
    call busy
    movl $1, flag(%rip)
    jmp both
even:
    call saver
    mov %ebx, flag(%rip)
both:
    call maker
    dec %ebx
    jnz again
    mov flag(%rip), %edi
    add last(%rip), %edi
    mov $60, %eax
    syscall

# Nodes of its frame wait for the call, or for its own branch.
maker:
    call busy
    cmpl $7, flag(%rip)
    jb small
    call busy
    movl $2, last(%rip)
small:
    call busy
    movl $3, other(%rip)
    ret

# Looked through: rbx is wanted from before the save.
saver:
    push %rbx
    mov $5, %ebx
    call busy
    mov %ebx, other(%rip)
    call busy
    pop %rbx
    ret

busy:
    mov $9, %ecx
turn:
    add %ecx, sink(%rip)
    dec %ecx
    jnz turn
    ret

    .bss
    .balign 64
flag:
    .skip 64
last:
    .skip 64
other:
    .skip 64
sink:
    .skip 64
    .section .note.GNU-stack, "", @progbits
