/* late.S - registers that are saved late in a function, where only call frame information says so.
 *
 * SPDX-License-Identifier: MIT
 *
 * With -DDEBUG_FRAME the information is in .debug_frame, with -DNO_FRAMES there is none. */
        .intel_syntax noprefix
#if defined NO_FRAMES
        .macro FRAME what:vararg
        .endm
#else
        .macro FRAME what:vararg
        .cfi_\what
        .endm
#ifdef DEBUG_FRAME
        .cfi_sections .debug_frame
#endif
#endif
        /* More stores of registers than MaxSave. */
        .macro SPILL at
        .rept 12
        mov [rsp + \at], rax
        inc rax
        .endr
        .endm

        .globl _start
        .text
_start:
        mov rbx, [rsp]
        lea rbp, [rbx + 2]
        mov r12, 5
        mov r13, 6
        call pushed
        call stored
        call twice
        call unnamed
        call elsewhere
        lea rdi, [rbx + rbp]
        add rdi, r12
        add rdi, r13
        mov eax, 231
        syscall

/* By push, behind a call. */
pushed:
        FRAME startproc
        sub rsp, 24
        FRAME def_cfa_offset 32
        SPILL 8
        call leaf
        push rbx
        FRAME def_cfa_offset 40
        FRAME offset rbx, -40
        mov rbx, rax
        imul rbx, rbx
        pop rbx
        FRAME def_cfa_offset 32
        FRAME restore rbx
        add rsp, 24
        FRAME def_cfa_offset 8
        ret
        FRAME endproc

/* By mov, all named at the end of what saves them, as clang does. The last rule is one of the other kinds. */
stored:
        FRAME startproc
        sub rsp, 40
        FRAME def_cfa_offset 48
        SPILL 0
        mov [rsp + 16], r12
        mov [rsp + 24], r13
        FRAME offset r12, -32
        FRAME offset r13, -24
        mov r12, rax
        lea r13, [r12 + 1]
        mov r13, [rsp + 24]
        mov r12, [rsp + 16]
        FRAME restore r12
        FRAME restore r13
        FRAME register rdx, rcx
        add rsp, 40
        FRAME def_cfa_offset 8
        ret
        FRAME endproc

/* Two places for one register, the first written over before it is restored. */
twice:
        FRAME startproc
        push rbp
        FRAME def_cfa_offset 16
        FRAME offset rbp, -16
        mov rbp, rsp
        FRAME def_cfa_register rbp
        sub rsp, 32
        SPILL 0
        mov [rbp - 16], rbx
        FRAME offset rbx, -32
        mov [rbp - 24], rbx
        FRAME offset rbx, -40
        mov rbx, rax
        mov [rbp - 16], rax
        mov rcx, [rbp - 16]
        mov rbx, [rbp - 24]
        leave
        FRAME def_cfa rsp, 8
        FRAME restore rbx
        ret
        FRAME endproc

/* Saved and restored late, but nobody says so: the value goes through memory. */
unnamed:
        FRAME startproc
        sub rsp, 24
        FRAME def_cfa_offset 32
        SPILL 8
        mov [rsp], r12
        mov r12, rax
        mov r12, [rsp]
        add rsp, 24
        FRAME def_cfa_offset 8
        ret
        FRAME endproc

/* Another place than the one that is named. */
elsewhere:
        FRAME startproc
        sub rsp, 24
        FRAME def_cfa_offset 32
        SPILL 8
        mov [rsp], r13
        FRAME offset r13, -24
        mov r13, rax
        mov r13, [rsp]
        add rsp, 24
        FRAME def_cfa_offset 8
        ret
        FRAME endproc

leaf:
        lea rax, [rax + 3]
        ret
        .section .note.GNU-stack, "", @progbits
