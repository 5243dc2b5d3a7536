/* child.S - threads whose first act is a ret: nothing looks at what the call that made them returned.
 * SPDX-License-Identifier: MIT */
        .intel_syntax noprefix
        .globl _start
        .text
_start:
        mov rbx, [rsp]                  /* argc */
        lea r12, [rbx + 3]
        mov r13d, 2
again:
        lea r14, [r12 + r13]
        cvtsi2sd xmm3, r14
        mov edx, r13d
        shl edx, 10
        lea rsi, [rip + stacks]
        add rsi, rdx
        lea rax, [rip + child]
        mov [rsi], rax
        lea r8, [rip + local]           /* FS base */
        mov edi, 0x90f00                /* VM, FS, FILES, SIGHAND, THREAD, SETTLS */
        mov eax, 56
        call make
        mov r15, rax
        dec r13d
        jnz again
wait:
        mov eax, 24
        syscall
        cmp dword ptr [rip + done], 2
        jl wait
        mov edi, [rip + result]
        add edi, [rip + result + 4]
        and edi, 127
        mov eax, 231
        syscall
make:
        syscall
        ret

child:
        mov [rip + seen], rax
        mov ecx, fs:[0]
        cvttsd2si eax, xmm3
        add eax, ecx
        add eax, r14d
        lea rdx, [rip + result]
        mov [rdx + 4 * r13 - 4], eax
        lock inc dword ptr [rip + done]
        xor edi, edi
        mov eax, 60
        syscall

        .data
local:  .quad 6
done:   .long 0
result: .long 0, 0
seen:   .quad 0
stacks: .skip 4096
        .section .note.GNU-stack, "", @progbits
