/* flags.S - flags stay alive across jumps, calls, returns, indirect jumps and loops.
 *
 * int flags_main(void) returns 0, or the number of the first place where a flag was lost.
 */
        .globl  flags_main
        .type   flags_main, @function
        .text
        .macro  place n
        mov     $\n, %r15d
        .endm

nothing:
        ret
through_ret:
        push    %rdx
        ret

flags_main:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r15
        sub     $8, %rsp
        mov     $2000, %r12d
round:
        place   1                       /* carry across a direct jump */
        stc
        jmp     1f
1:      jnc     bad
        place   2                       /* carry across call and ret */
        stc
        call    nothing
        jnc     bad
        clc
        call    nothing
        jc      bad
        place   3                       /* zero and sign across an indirect jump */
        lea     1f(%rip), %rdx
        mov     $5, %eax
        cmp     $5, %eax
        jmp     *%rdx
1:      jne     bad
        js      bad
        place   4                       /* overflow across an indirect call in memory */
        lea     nothing(%rip), %rdx
        mov     %rdx, target(%rip)
        mov     $0x7fffffff, %eax
        add     $1, %eax
        call    *target(%rip)
        jno     bad
        place   5                       /* parity and adjust across push/ret */
        lea     1f(%rip), %rdx
        mov     $0x0f, %al
        add     $1, %al                 /* 0x10: AF set, PF clear */
        jmp     through_ret
1:      jp      bad
        lahf
        test    $0x10, %ah
        jz      bad
        place   6                       /* all six through lahf, seto, sahf */
        mov     $0xd5, %ah
        sahf
        jmp     1f
1:      jnz     bad
        jnc     bad
        jns     bad
        jnp     bad
        place   7                       /* inc and dec keep the carry */
        stc
        mov     $3, %ecx
1:      dec     %ecx
        jnz     1b
        jnc     bad
        place   8                       /* loop and jrcxz touch no flags */
        stc
        mov     $10, %ecx
1:      loop    1b
        jnc     bad
        jrcxz   1f
        jmp     bad
1:      jnc     bad
        place   9                       /* a 128-bit addition whose carry crosses a block end */
        mov     $-1, %rax
        xor     %ebx, %ebx
        add     $1, %rax
        jmp     1f
1:      adc     $0, %rbx
        cmp     $1, %rbx
        jne     bad
        place   10                      /* a carry chain around a loop made with lea and jrcxz */
        lea     words(%rip), %rsi
        mov     $4, %ecx
        xor     %edx, %edx
        clc
1:      mov     (%rsi,%rdx,8), %rax
        adc     words2-words(%rsi,%rdx,8), %rax
        lea     1(%rdx), %rdx
        lea     -1(%rcx), %rcx
        jrcxz   1f
        jmp     1b
1:      jnc     bad                     /* the sum overflows through all four words */
        place   11                      /* cmov and setcc after a call */
        mov     $1, %eax
        cmp     $2, %eax
        call    nothing
        setb    %bl
        cmovb   %rcx, %rax
        jae     bad
        place   12                      /* loopne and loope leave on the flag */
        mov     $5, %ecx
        xor     %eax, %eax
        loopne  1f
        cmp     $4, %ecx
        jne     bad
        mov     $5, %ecx
        test    %ecx, %ecx
        loope   1f
        jmp     2f
1:      jmp     bad
2:
        place   13                      /* the direction flag across a call */
        std
        call    nothing
        lea     words+8(%rip), %rsi
        lodsq
        lea     words(%rip), %rdx
        cld
        cmp     %rdx, %rsi
        jne     bad
        place   14                      /* pushfq sees what was set, popfq sets it */
        pushq   $0xad7
        popfq
        pushfq
        pop     %rax
        and     $0xcd5, %eax
        cmp     $0x8d5, %eax
        jne     bad
        pushq   $0x202
        popfq
        jz      bad
        place   15                      /* the ID and AC flags can be changed */
        pushfq
        pop     %rax
        mov     %rax, %rdx
        btc     $21, %rax
        push    %rax
        popfq
        pushfq
        pop     %rax
        xor     %rdx, %rax
        bt      $21, %rax
        jnc     bad
        push    %rdx
        popfq
        place   16                      /* flags across a system call */
        stc
        mov     $39, %eax
        syscall
        jnc     bad
        place   17                      /* r11 holds the flags, rcx the next pc after it */
        bt      $0, %r11
        jnc     bad
        mov     $39, %eax
        syscall
1:      lea     1b(%rip), %rdx
        cmp     %rdx, %rcx
        jne     bad
        place   18                      /* shifts by zero keep flags, rotates keep zero */
        xor     %ecx, %ecx
        stc
        shl     %cl, %eax
        jnc     bad
        cmp     %eax, %eax
        rol     $3, %edx
        jnz     bad
        place   19                      /* a jump table in memory */
        lea     table(%rip), %rdx
        mov     %r12d, %eax
        and     $3, %eax
        movslq  (%rdx,%rax,4), %rax
        add     %rdx, %rax
        stc
        jmp     *%rax
t0:     jc      next
        jmp     bad
t1:     jc      next
        jmp     bad
t2:     jc      next
        jmp     bad
t3:     jc      next
        jmp     bad
next:   dec     %r12d
        jnz     round
        xor     %r15d, %r15d
bad:    cld
        mov     %r15d, %eax
        add     $8, %rsp
        pop     %r15
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .section .rodata
table:  .long   t0-table, t1-table, t2-table, t3-table
        .data
words:  .quad   -1, -1, -1, -1
words2: .quad   1, 0, 0, 0
target: .quad   0
        .section .note.GNU-stack, "", @progbits
