/* stack_forms.S - push, pop, call, jmp, enter, leave, ret with operands on the stack itself.
 *
 * int stack_forms(long *out) stores results in out[0..] and returns their number.
 */
        .globl  stack_forms
        .type   stack_forms, @function
        .text
        .macro  result reg
        mov     %\reg, (%r12)
        add     $8, %r12
        .endm
stack_forms:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        mov     %rsp, %r14
        mov     %rdi, %r12
        mov     %rdi, %r13

        push    $0x1234                 /* push of memory at rsp, pop to memory at rsp */
        pushq   (%rsp)
        pushq   8(%rsp)
        popq    (%rsp)
        pop     %rax
        result  rax
        pop     %rax
        result  rax
        push    $0x77
        push    $0x88
        popq    8(%rsp)                 /* address is taken after the increment */
        pop     %rax
        result  rax
        mov     %r14, %rsp

        push    %rsp                    /* push rsp stores the old value */
        pop     %rax
        sub     %rsp, %rax
        result  rax
        push    $0x55
        mov     %rsp, %rax
        push    %rax
        pop     %rsp                    /* pop rsp loads, does not add */
        pop     %rax
        result  rax

        lea     1f(%rip), %rax          /* call and jmp through the stack */
        push    %rax
        push    $0x99
        call    *8(%rsp)
2:      jmp     3f
1:      pop     %rax                    /* the return address is 2b */
        lea     2b(%rip), %rdx
        sub     %rdx, %rax
        result  rax
        lea     4f(%rip), %rax
        mov     %rax, (%rsp)
        jmp     *(%rsp)
4:      mov     $0x44, %eax
        result  rax
3:      mov     %r14, %rsp

        lea     5f(%rip), %rax          /* call *(%rsp): target read before the push */
        push    %rax
        call    *(%rsp)
5:      mov     %r14, %rax
        sub     %rsp, %rax
        result  rax
        mov     %r14, %rsp

        mov     $0x66, %ebp             /* enter and leave, with nesting */
        enter   $32, $0
        mov     %r14, %rax
        sub     %rsp, %rax
        result  rax
        leave
        result  rbp
        mov     %rsp, %rbp
        push    $0xa1
        push    $0xa2
        mov     %r14, %rbp
        enter   $16, $2
        mov     %r14, %rax
        sub     %rsp, %rax
        result  rax
        mov     %rbp, %rsp
        mov     %r14, %rsp

        pushw   $0x4321                 /* 16-bit forms */
        popw    %ax
        movzwl  %ax, %eax
        result  rax
        pushw   %fs
        add     $2, %rsp
        push    %fs
        pop     %rax
        result  rax
        lea     jump_slot(%rip), %rbx   /* jmp, call by rip-relative memory */
        lea     6f(%rip), %rax
        mov     %rax, (%rbx)
        jmp     *jump_slot(%rip)
        ud2
6:      lea     7f(%rip), %rax
        xchg    %rax, jump_slot(%rip)
        call    *jump_slot(%rip)
7:      pop     %rdx
        sub     %rax, %rdx
        result  rdx
        lea     scratch+256(%rip), %rax
        xchg    %rax, %rsp              /* another stack for a while, reached by mov, add, lea */
        push    $0x11
        push    $0x22
        add     (%rsp), %rax
        sub     $0x22, %rax
        lea     8(%rsp), %rsp
        pop     %rdx
        result  rdx
        mov     %rax, %rsp
        mov     %r14, %rax
        sub     %rsp, %rax
        result  rax
        xor     %eax, %eax              /* cmpxchg and xadd at rsp */
        push    $0
        mov     $7, %edx
        lock cmpxchg %rdx, (%rsp)
        mov     $3, %edx
        lock xadd %rdx, (%rsp)
        result  rdx
        pop     %rax
        result  rax
        movabs  absolute, %rax          /* a 64-bit absolute address */
        result  rax
        mov     %r12, %rax
        sub     %r13, %rax
        shr     $3, %rax
        mov     %r14, %rsp
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .data
        .globl  absolute
absolute: .quad 0x1122334455667788
jump_slot: .quad 0
        .bss
scratch: .skip  512
        .section .note.GNU-stack, "", @progbits
