/* layout.h - fixed addresses of the instruction tester's sandbox.
 *
 * Everything a random sequence can see lives at addresses chosen here, so that two runs of the
 * tester print the same words whatever ASLR does. No region starts near a power of two, a value
 * that registers often have. Shared by C and assembly: only #defines.
 *
 *   CTL    control block: state to load, state stored at exit, exit vector
 *   A, B   data: [guard][2 pages rw][1 page ro][guard]; A below 4 GiB, B far away
 *   STK    stack: [guard][3 pages rw][guard]
 *   code   areas of slots; a slot is [data page][2 code pages][data page], for rip-relative
 * operands
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef INSN_LAYOUT_H
#define INSN_LAYOUT_H

#define CTL_BASE        0x2b6d0000
#define CTL_ENTRY       (CTL_BASE + 0x00)
#define CTL_EXIT        (CTL_BASE + 0x08)
#define CTL_HOST_RSP    (CTL_BASE + 0x10)
#define CTL_IN          (CTL_BASE + 0x1000)
#define CTL_OUT         (CTL_BASE + 0x2000)
#define CTL_SCRATCH_TOP (CTL_BASE + 0x4000)
#define CTL_SIZE        0x4000

/* Offsets in struct machine (sandbox.h). */
#define M_GPR   0
#define M_FLAGS 128
#define M_K     144
#define M_FX    256
#define M_ZMM   768

#define PAGE         0x1000
#define A_BASE       0x31570000
#define B_BASE       0x2f4567890000
#define DATA_RW      PAGE /* offset of the writable pages in A and B */
#define DATA_RW_SIZE (2 * PAGE)
#define DATA_RO      (3 * PAGE)
#define DATA_SIZE    (5 * PAGE)

#define STK_BASE    0x38ca0000
#define STK_RW      PAGE
#define STK_RW_SIZE (3 * PAGE)
#define STK_SIZE    (5 * PAGE)

#define SLOT_SIZE      (4 * PAGE)
#define SLOT_CODE      PAGE
#define SLOT_CODE_SIZE (2 * PAGE)
#define SLOT_DATA2     (3 * PAGE)
#define SLOTS          64

#define CODE_LOW   0x46a80000
#define CODE_FAR   0x1234521b0000
#define CODE_ALIAS 0x1234583d0000
#define CODE_RWX   0x1234615f0000

/* The end of a slot's first data page belongs to the generator: jump tables and loop fuel. Random
 * operands stay below it. */
#define TABLE_OFF      0xe00
#define TABLE_EXIT     0x00
#define TABLE_FUEL     0x08
#define TABLE_STEP     0x10 /* a byte: which turn this is, 0 to 15 */
#define TABLE_NEXT     0x18 /* 16 bytes: which one follows */
#define TABLE_PICK     0x28 /* 16 bytes: which of four labels a turn takes */
#define TABLE_LABELS   0x40 /* 24 code addresses */
#define TABLE_NLABELS  24
#define TABLE_INDICES  0x100 /* 64 bytes of small vector indices, twice */
#define TABLE_POINTERS 0x180 /* 16 data addresses, bad ones among them */

#endif
