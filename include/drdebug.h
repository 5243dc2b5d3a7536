/* drdebug.h - marks in a program, for its recordings.
 *
 * SPDX-License-Identifier: MIT
 *
 *     DRDEBUG_MARK("index loaded");        this place has a name
 *     DRDEBUG_REGION_BEGIN("checkout");    the part of a run that is worth recording begins ...
 *     DRDEBUG_REGION_END("checkout");      ... and ends
 *
 * There is nothing to link. A mark is one nop of 7 bytes and costs nothing without drdebug. A
 * recording has the moment of each mark: `drdebug info`, `drdebug ask events mark` and `pin events
 * mark` list them. Each mark is also a SystemTap probe (provider drdebug_mark, drdebug_begin or
 * drdebug_end, with the text as its name), which GDB, perf and bpftrace can use.
 *
 * The text is a string literal, of which 256 bytes are shown. In C or C++, for x86-64 with ELF;
 * elsewhere, and with DRDEBUG_NO_MARKS, the macros are empty.
 */
#ifndef DRDEBUG_H
#define DRDEBUG_H

#define DRDEBUG_MARK(text)         DRDEBUG_MARK_AT_("drdebug_mark", "1", text)
#define DRDEBUG_REGION_BEGIN(text) DRDEBUG_MARK_AT_("drdebug_begin", "2", text)
#define DRDEBUG_REGION_END(text)   DRDEBUG_MARK_AT_("drdebug_end", "3", text)

#if defined __x86_64__ && defined __ELF__ && !defined DRDEBUG_NO_MARKS

#define DRDEBUG_MARK_AT_(provider, kind, text)                                                     \
    do {                                                                                           \
        __asm__ __volatile__("" ::: "memory");                                                     \
        __asm__ __volatile__(DRDEBUG_NOP_ DRDEBUG_TEXT_(kind, text) DRDEBUG_NOTE_(provider, text)  \
                                 DRDEBUG_BASE_);                                                   \
        __asm__ __volatile__("" ::: "memory");                                                     \
    } while (0)

#define DRDEBUG_QUOTE_(text)      DRDEBUG_QUOTE_AGAIN_(text)
#define DRDEBUG_QUOTE_AGAIN_(...) #__VA_ARGS__

/* nopl 991f(%rip), in bytes: assemblers have two dialects. */
#define DRDEBUG_NOP_ "990: .byte 0x0f, 0x1f, 0x05\n .long 991f - . - 4\n"

/* What the nop points to: drdebug reads it when the program comes there. */
#define DRDEBUG_TEXT_(kind, text)                                                                  \
    ".pushsection .rodata.drdebug, \"a\", @progbits\n"                                             \
    "991: .ascii \"drdebug\"\n .byte " kind "\n .ascii " DRDEBUG_QUOTE_(text) "\n .byte 0\n"       \
                                                                              ".popsection\n"

/* A note of SystemTap's kind 3: place, base, no semaphore; provider, name, no arguments. The
 * section is one of the code's group, which a linker may drop. */
#define DRDEBUG_NOTE_(provider, text)                                                              \
    ".pushsection .note.stapsdt, \"?\", @note\n .balign 4\n"                                       \
    ".long 8, 993f - 992f, 3\n .ascii \"stapsdt\"\n .byte 0\n"                                     \
    "992: .quad 990b, _.stapsdt.base, 0\n"                                                         \
    ".ascii \"" provider                                                                           \
    "\"\n .byte 0\n .ascii " DRDEBUG_QUOTE_(text) "\n .byte 0, 0\n"                                \
                                                  "993: .balign 4\n .popsection\n"

/* Tools compare its address with the note's: they differ in a file that was moved by a prelinker.
 */
#define DRDEBUG_BASE_                                                                              \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n"                       \
    ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n"                                              \
    "_.stapsdt.base: .byte 0\n .size _.stapsdt.base, 1\n"                                          \
    ".popsection\n .endif\n"

#else

#define DRDEBUG_MARK_AT_(provider, kind, text) ((void)0)

#endif

#endif
