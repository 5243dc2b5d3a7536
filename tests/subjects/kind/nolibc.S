/* nolibc.S - what the kernel gives a new program: zero registers, stack layout, FPU state. */
        .globl  _start
        .text
_start:
        pushfq
        cmpq    $0x202, (%rsp)
        jne     fail
        popfq
        .irp    reg, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
        or      %\reg, %rax
        .endr
        jnz     fail
        test    $15, %esp
        jnz     fail
        cmpq    $3, (%rsp)              /* argc */
        jne     fail
        mov     16(%rsp), %rsi          /* argv[1] */
        cmpw    $0x62, (%rsi)           /* "b" */
        jne     fail
        cmpq    $0, 32(%rsp)            /* argv[argc] */
        jne     fail
        stmxcsr -8(%rsp)
        cmpl    $0x1f80, -8(%rsp)
        jne     fail
        fnstcw  -8(%rsp)
        cmpw    $0x37f, -8(%rsp)
        jne     fail
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movq    %xmm\n, %rax
        test    %rax, %rax
        jnz     fail
        .endr
        lea     good(%rip), %rsi
        mov     $5, %ebx
        jmp     end
fail:   lea     bad(%rip), %rsi
        mov     $1, %ebx
end:    mov     $1, %eax
        mov     $1, %edi
        mov     $5, %edx
        syscall
        mov     %ebx, %edi
        mov     $231, %eax
        syscall
        hlt
        .section .rodata
good:   .ascii  "good\n"
bad:    .ascii  "FAIL\n"
        .section .note.GNU-stack, "", @progbits
