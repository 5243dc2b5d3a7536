/* debug_script.S - gdb/drdebug.py, as bytes of this program. SPDX-License-Identifier: MIT */
    .section .rodata
    .globl debug_script, debug_script_end
debug_script:
    .incbin SCRIPT_PATH
debug_script_end:
    .section .note.GNU-stack, "", @progbits
