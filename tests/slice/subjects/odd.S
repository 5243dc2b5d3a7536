/* odd.S - saves and calls at the edges of the rules. SPDX-License-Identifier: MIT
 *
 * Without a C library: every instruction counts. Exits with a status that depends on all of it. */
        .intel_syntax noprefix
        .globl _start
        .text
_start:
        mov rbx, [rsp]                  /* argc */
        lea r12, [rbx + 41]
        lea r13, [rbx + 42]
        lea r14, [rbx + 43]
        lea r15, [rbx + 44]
        lea rbp, [rbx + 45]
        call plain_saves
        add rbx, rax
        call overwritten
        add rbx, rax
        call other_register
        add rbx, rax
        call many_saves
        add rbx, rax
        call deep
        add rbx, rax
        call odd_returns
        add rbx, rax
        call jumps
        add rbx, rax
        call loops
        add rbx, rax
        call flags
        add rbx, rax
        call far_stack
        add rbx, rax
        mov edi, ebx
        add edi, r12d
        add edi, r13d
        add edi, r14d
        add edi, r15d
        add edi, ebp
        and edi, 127
        mov eax, 231
        syscall

/* By push and by mov, restored in another order and twice. */
plain_saves:
        push r12
        push r13
        sub rsp, 32
        mov [rsp + 8], r14
        mov r12, 5
        mov r13, r12
        mov r14, r13
        lea rax, [r12 + r14]
        mov r14, [rsp + 8]
        mov r14d, 3
        add rax, r14
        mov r14, [rsp + 8]
        add rsp, 32
        pop r13
        pop r12
        ret

/* The place of a save is written, in part, then saved again. */
overwritten:
        push r12
        push r13
        mov byte ptr [rsp + 3], 0
        mov r13, 1
        pop r13
        push r13
        mov r13, 2
        mov r12, 3
        pop r13
        mov eax, r13d
        mov rcx, [rsp]
        mov [rsp], rcx
        pop r12
        ret

/* What was saved comes back elsewhere. */
other_register:
        push r12
        push r13
        mov r12, 6
        mov r13, 7
        pop rax
        pop rcx
        mov r12, rcx
        mov r13, rax
        and eax, 7
        ret

/* More than ten, in a loop: those behind the tenth are none. */
many_saves:
        push r14
        mov ecx, 6
1:      push r15
        mov r15, rcx
        push rcx
        call leaf
        pop rcx
        pop r15
        dec ecx
        jnz 1b
        push r15
        mov r15, 9
        add eax, r15d
        pop r15
        pop r14
        ret
leaf:
        push r15
        mov r15, 1
        lea rax, [rax + r15]
        pop r15
        ret

/* Recursion with a frame pointer; leave. */
deep:
        mov edi, 4
1:      push rbp
        mov rbp, rsp
        push rbx
        mov ebx, edi
        mov eax, 1
        test edi, edi
        jz 2f
        dec edi
        call 1b
        add eax, ebx
2:      mov rbx, [rbp - 8]
        leave
        ret

/* ret as a jump, a return address that is changed, a call for the pc. */
odd_returns:
        lea rax, [rip + 1f]
        push rax
        xor eax, eax
        ret
1:      call 2f
2:      pop rcx
        call skips
        ud2
        lea rcx, [rip + leaf]
        lea rdx, [rip + 3f]
        push rdx
        push rcx
        ret
3:      add eax, 4
        push r12
        call unbalanced
        pop r12
        ret
skips:
        add qword ptr [rsp], 2
        add eax, 5
        ret
unbalanced:
        pop rdx
        mov r12, 11
        add eax, r12d
        jmp rdx

/* Tail calls by jcc, into the middle, by falling through; jumps to the own entry. */
jumps:
        mov ecx, 3
        call counter
        mov ecx, 2
        call counter_inner
        mov ecx, 1
        jrcxz 1f
        test ecx, ecx
        jnz falls
1:      ud2
counter:
        add eax, 1
        loop counter
        mov ecx, 2
        jmp counter_inner
falls:
        add eax, 7
        jz falls
counter_inner:
        add eax, 2
        dec ecx
        jg counter_inner
        ret

/* Nested loops with two ends, an indirect jump, repeated instructions with no count. */
loops:
        push rbx
        xor eax, eax
        mov ebx, 4
1:      mov ecx, ebx
2:      add eax, ecx
        cmp eax, 60
        ja 4f
        loop 2b
        lea rdx, [rip + 3f]
        test ebx, 1
        jz 5f
        lea rdx, [rip + 6f]
5:      jmp rdx
6:      add eax, 2
3:      inc eax
        dec ebx
        jnz 1b
4:      xor ecx, ecx
        lea rsi, [rip + words]
        lea rdi, [rip + room]
        rep movsq
        mov ecx, 2
        rep movsq
        std
        mov ecx, 3
        sub rsi, 8
        lea rdi, [rip + room + 40]
        rep movsd
        cld
        add eax, [rip + room + 32]
        add eax, [rip + room + 8]
        lea rdi, [rip + words]
        mov ecx, 0
        repe scasb
        pop rbx
        ret

/* Flags that some instructions keep; parts of registers; may-writes. */
flags:
        stc
        mov ecx, ebx
        and ecx, 1
        shl r12, cl
        rcr r12, cl
        setc al
        movzx eax, al
        mov ah, 3
        mov al, 7
        inc al
        adc ah, 0
        cmovc r13, r14
        lea rdx, [rip + room]
        mov esi, 9
        lock cmpxchg [rdx], esi
        sete cl
        xadd [rdx + 8], ecx
        xchg [rdx + 4], ecx
        add eax, [rdx]
        bts [rdx], ecx
        adc eax, 0
        xor esi, esi
        bsf esi, esi
        cmovz eax, eax
        and eax, 0xff
        ret

/* rsp is elsewhere for a while, and calls are made there. */
far_stack:
        push r12
        push r15
        mov r15, rsp
        lea rsp, [rip + other_end]
        push r12
        mov r12, 8
        call leaf
        add eax, r12d
        pop r12
        mov rsp, r15
        pop r15
        mov r12, 1
        pop r12
        ret

        .data
words:  .quad 1, 2, 3, 4
room:   .skip 64
        .skip 1024
other_end:
        .quad 0
        .section .note.GNU-stack, "", @progbits
