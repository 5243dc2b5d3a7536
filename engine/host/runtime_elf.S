/* runtime_elf.S - the runtime, as bytes of this program. SPDX-License-Identifier: MIT */
    .section .rodata
    .globl runtime_elf, runtime_elf_end
    .balign 4096
runtime_elf:
    .incbin RUNTIME_PATH
runtime_elf_end:
    .section .note.GNU-stack, "", @progbits
