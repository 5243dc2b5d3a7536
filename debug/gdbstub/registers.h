/* registers.h - a thread's registers as GDB numbers and encodes them.
 *
 * SPDX-License-Identifier: MIT
 *
 * The numbers are those of the description that target.xml holds: GDB's own for x86-64 GNU/Linux
 * (gdb/features/i386/64bit-*.xml), in which each feature's registers follow the last one's. AVX and
 * AVX-512 are described if the saved state has room for them. Where their parts lie in it is the
 * CPU's choice (Intel SDM volume 1, section 13.4.3; cpuid leaf 0xd).
 */
#ifndef DEBUG_GDBSTUB_REGISTERS_H
#define DEBUG_GDBSTUB_REGISTERS_H

#include "debug/gdbstub/reply.h"
#include "debug/program.h"

enum registers_number {
    REG_RAX = 0,
    REG_RDI = 5,
    REG_RBP = 6,
    REG_RSP = 7,
    REG_RIP = 16,
    REG_EFLAGS = 17,
    REG_CS = 18, /* ss, ds, es, fs, gs */
    REG_ST0 = 24,
    REG_FCTRL = 32, /* fstat, ftag, fiseg, fioff, foseg, fooff, fop */
    REG_XMM0 = 40,
    REG_MXCSR = 56,
    REG_ORIG_RAX = 57,
    REG_FS_BASE = 58,
    REG_GS_BASE = 59,
    REG_YMM0H = 60,
    REG_XMM16 = 76,
    REG_YMM16H = 92,
    REG_K0 = 108,
    REG_ZMM0H = 116,
    REG_COUNT = 148,
};

enum { REG_MAX_BYTES = 32 };

/* Offsets of components in the saved state; 0: not there. */
struct registers_layout {
    uint32_t avx, opmask, zmm_high, high16;
};

/* A thread as GDB sees it. */
struct registers {
    struct registers_layout layout;
    struct program_registers r;
    uint64_t orig_rax; /* the system call that it is in; -1: none */
};

/* How this CPU lays out a state of so many bytes. */
void registers_layout(struct registers_layout *layout, size_t xsave_bytes);

/* To be called when r and layout are set: parts that the saved state leaves out, since they have
 * their first values, are given those. */
void registers_complete(struct registers *registers);

/* How many there are, numbered from 0; the size of one. */
int registers_count(const struct registers_layout *layout);
size_t registers_bytes(int number);
/* registers_bytes(number) bytes of a register that is there. */
void registers_get(const struct registers *registers, int number, uint8_t *out);
void registers_set(struct registers *registers, int number, const uint8_t *value);
bool registers_is_control(int number); /* fctrl ... fop */

/* The document that describes them. */
void registers_xml(const struct registers_layout *layout, struct reply *out);

bool registers_same(const struct registers *a, const struct registers *b);

#endif
