/* syscall_edge.S - without libc: registers around syscall, error values, exit status. */
        .globl  _start
        .text
_start:
        mov     $1000, %r12d
again:  .irp    n, 8, 9, 10, 13, 14, 15
        mov     $\n*0x111, %r\n
        .endr
        mov     $0x55, %ebx
        mov     $0x66, %ebp
        mov     $0x77, %edx
        mov     $39, %eax               /* getpid */
        syscall
        cmp     $0, %eax
        jle     fail
        .irp    n, 8, 9, 10, 13, 14, 15
        cmp     $\n*0x111, %r\n
        jne     fail
        .endr
        cmp     $0x55, %rbx
        jne     fail
        cmp     $0x66, %rbp
        jne     fail
        cmp     $0x77, %rdx
        jne     fail
        mov     $9999, %eax
        syscall
        cmp     $-38, %rax              /* ENOSYS */
        jne     fail
        mov     $1, %eax                /* write to a closed descriptor */
        mov     $77, %edi
        xor     %esi, %esi
        syscall
        cmp     $-9, %rax
        jne     fail
        movabs  $0x100000027, %rax      /* the kernel looks at eax only */
        syscall
        test    %rax, %rax
        jle     fail
        dec     %r12d
        jnz     again
        mov     $1, %eax
        mov     $1, %edi
        lea     text(%rip), %rsi
        mov     $3, %edx
        syscall
        cmp     $3, %rax
        jne     fail
        mov     $60, %eax
        mov     $33, %edi
        syscall
fail:   mov     $60, %eax
        mov     $1, %edi
        syscall
        hlt
        .section .rodata
text:   .ascii  "ok\n"
        .section .note.GNU-stack, "", @progbits
