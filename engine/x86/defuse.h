/* defuse.h - which locations an instruction defines and which it uses.
 *
 * SPDX-License-Identifier: MIT
 *
 * The decoder's operand list is the start, a table of corrections does the rest (defuse.def);
 * insn.defuse compares the sets with what the CPU does. For tools outside a target only (drd_x86).
 *
 * A set is about the instruction as a whole: any definition may depend on any use of kind VALUE or
 * ADDRESS. Where a definition is conditional or its old bytes may stay (cmov, shifts by cl, merging
 * masks, flags that the manual calls undefined), the location is also used with kind KEPT. The kept
 * bytes matter to that location alone. Walking backwards,
 *
 *     wanted = (wanted - defs) + (wanted & KEPT) + VALUE + ADDRESS
 *
 * Not tracked: exception flags that arithmetic sets in MXCSR and the x87 status word (they are
 * sticky, everything would hang together), x87 instruction pointers, segment selectors, PKRU,
 * bound and tile registers, control registers. Exceptions are taken to be masked.
 *
 * The x87 stack is resolved to physical registers with the TOP that the caller knows. TOP and the
 * tags are then like the stack pointer: without DEFUSE_STACK_POINTER they are no uses (but fxam
 * uses a tag), and pushes and pops do not define TOP.
 */
#ifndef ENGINE_X86_DEFUSE_H
#define ENGINE_X86_DEFUSE_H

#include "engine/x86/accesses.h"
#include "engine/x86/loc.h"

enum defuse_kind {
    DEFUSE_VALUE,
    DEFUSE_ADDRESS, /* only says where memory is: base, index, FS and GS base, rsi, rdi, rcx of
                       string instructions. A register that is also a value has both. */
    DEFUSE_KEPT,    /* stays in the location, perhaps in part */
};

/* The stack pointer carries no dependence unless asked for: push, pop, call, ret, leave, enter and
 * adding constants neither define nor use rsp, and it is no ADDRESS. mov rsp, X; pop rsp;
 * sub rsp, reg; and rsp, imm are real definitions; mov rbp, rsp and lea rax, [rsp + 8] real uses.
 */
enum defuse_flag {
    DEFUSE_STACK_POINTER = 1 << 0, /* rsp, TOP and tags as the hardware has them */
    DEFUSE_FRAME = 1 << 1, /* rbp is a frame pointer and treated likewise: push rbp, pop rbp, leave,
                              moves between rbp and rsp, plus constants */
};

#define DEFUSE_ANY_COUNT UINT64_MAX
#define DEFUSE_ANY_STATE UINT64_MAX

/* What the bytes do not tell. Start from DEFUSE_HOW. */
struct defuse_how {
    unsigned flags;      /* enum defuse_flag */
    unsigned top;        /* x87 TOP before, 0 to 7; looked at where defuse_needs_top() says so */
    uint64_t count;      /* rep: iterations done, or DEFUSE_ANY_COUNT */
    uint64_t components; /* xsave and xrstor family: bits of XCR0 that are saved or restored, or
                            DEFUSE_ANY_STATE */
};
#define DEFUSE_HOW ((struct defuse_how){0, 0, DEFUSE_ANY_COUNT, DEFUSE_ANY_STATE})

/* As accesses_of() lists it, but `read` is false where the value does not matter (and [m], 0). */
struct defuse_access {
    struct mem_access at;
    bool may; /* written only in part or perhaps not at all: what was there is used, too */
};

enum { DEFUSE_MOST_DEFS = 38, DEFUSE_MOST_USES = 44 };

/* Spans of a kind are sorted, disjoint and not adjacent. */
struct defuse {
    uint8_t defs, uses, accesses;
    struct defuse_access access[ACCESSES_MOST];
    struct loc_span def[DEFUSE_MOST_DEFS];
    struct loc_span use[DEFUSE_MOST_USES]; /* first all VALUE, then ADDRESS, then KEPT */
};
_Static_assert(sizeof(struct defuse) < 400, "kept for each instruction");

/* `ops` are its operands. An instruction that does not decode has empty sets. Not in the list of
 * accesses, though memory changes: clzero (64 bytes at rax, rounded down), the frames that
 * enter imm, 1.. copies. */
void defuse_of(const struct insn *in, const struct insn_operands *ops, const struct defuse_how *how,
               struct defuse *out);

/* Do the sets depend on TOP? */
bool defuse_needs_top(const struct insn_operands *ops);

/* TOP behind it, given TOP before; -1 if values decide (fldenv, frstor, fxrstor, xrstor; fptan and
 * fsincos, which do not push when their operand is out of range). */
int defuse_top_after(const struct insn_operands *ops, unsigned top);

#endif
