/* known.S - a program whose slice is known. SPDX-License-Identifier: MIT
 *
 * What edi holds at the end depends on the instructions marked IN and on no others. The mark is a prefix
 * that does nothing: 3e, ds. */
        .macro IN insn:vararg
        .byte 0x3e
        \insn
        .endm
        .intel_syntax noprefix
        .globl _start
        .text
_start:
        IN mov eax, [rsp]               /* argc */
        mov ebx, eax
        IN lea ecx, [rax + 4]
        lea edx, [rax + 5]
        imul ebx, edx
        IN call adds
        imul edx, ebx
        IN mov [rip + kept], eax
        IN call sums
        IN add eax, [rip + kept]
        IN mov r12d, eax
        mov eax, 77
        call saves
        IN call copies
        IN lea r12d, [r12 + rax]
        IN call chooses
        IN add r12d, eax
        IN call repeats
        IN add r12d, eax
        call wastes
        IN mov edi, r12d
        mov eax, 231
        syscall

/* By value, through a register that only looks used. */
adds:
        IN mov eax, ecx
        xor edx, edx
        mov r11d, edx
        ret

/* A loop: its counter decides. */
sums:
        IN mov ecx, 3
        IN xor eax, eax
1:      IN add eax, ecx
        mov r8d, eax
        IN dec ecx
        IN jnz 1b
        mov r9d, 1
        ret

/* r12 passes through; neither push nor pop matters, nor what is done in between. */
saves:
        push r12
        push rbx
        mov r12d, 5
        mov ebx, r12d
        mov [rip + other], ebx
        pop rbx
        pop r12
        ret

/* Of the words copied one is wanted. */
copies:
        mov dword ptr [rip + words], 11
        IN mov dword ptr [rip + words + 4], 12
        mov dword ptr [rip + words + 8], 13
        IN lea rsi, [rip + words]
        IN lea rdi, [rip + room]
        IN mov ecx, 3
        IN rep movsd
        IN mov eax, [rip + room + 4]
        ret

/* Copies that read what they have written. */
repeats:
        IN mov byte ptr [rip + ribbon], 1
        mov byte ptr [rip + ribbon + 1], 2
        mov byte ptr [rip + ribbon + 9], 3      /* it is written over before it is read */
        mov byte ptr [rip + ribbon + 10], 4
        IN lea rsi, [rip + ribbon]
        IN lea rdi, [rip + ribbon + 1]
        IN mov ecx, 16
        IN rep movsb
        IN movzx eax, byte ptr [rip + ribbon + 10]
        /* By less than an element: the byte before it is of the element before, as that was read. */
        mov byte ptr [rip + belt], 5
        IN mov byte ptr [rip + belt + 3], 6
        mov byte ptr [rip + belt + 4], 7
        IN lea rsi, [rip + belt]
        IN lea rdi, [rip + belt + 1]
        IN mov ecx, 3
        IN rep movsd
        IN movzx r8d, byte ptr [rip + belt + 5]
        IN add eax, r8d
        /* Downwards by three. */
        mov byte ptr [rip + braid + 5], 8
        IN mov byte ptr [rip + braid + 11], 9
        mov byte ptr [rip + braid + 12], 10
        IN lea rsi, [rip + braid + 12]
        IN lea rdi, [rip + braid + 9]
        IN mov ecx, 9
        IN std
        IN rep movsb
        cld
        IN movzx r8d, byte ptr [rip + braid + 2]
        IN add eax, r8d
        ret

/* The way that was taken; what both ways do alike depends on neither. */
chooses:
        IN test r12d, 1
        IN jz 1f
        IN mov eax, 4
        jmp 2f
1:      mov eax, 5                      /* not executed */
2:      mov r10d, eax
        cmp r10d, 4
        jne 3f
        mov r9d, 6
3:      ret

wastes:
        mov eax, r12d
        mov [rip + other], eax
        ret

        .data
kept:   .long 0
other:  .long 0
words:  .long 1, 2, 3
room:   .long 4, 5, 6
ribbon: .zero 32
belt:   .zero 32
braid:  .zero 32
        .section .note.GNU-stack, "", @progbits
