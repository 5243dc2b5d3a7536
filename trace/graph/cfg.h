/* cfg.h - control flow graphs of functions, from machine code, with post-dominators.
 *
 * SPDX-License-Identifier: MIT
 *
 * What dynamic control dependence needs to know about code. A graph is put together from the code's
 * bytes and from what the recording has shown: which addresses were called, where indirect jumps
 * went, which calls never came back. The rules:
 *
 * 1. The function of entry e is all instructions that can be reached from e by these edges: to the
 *    next instruction; to the targets of direct jmp, jcc, jcxz and loop; from calls and system
 *    calls to the next instruction, unless the call stays: it was executed and never returned, or
 *    it is a direct call of a function that is known never to; from an indirect jmp to each target
 *    observed. An edge to another entry than e is a tail call: it becomes an edge to the virtual
 *    exit. An edge to e is an edge like others.
 *    Instructions with an edge to the exit only: ret; calls and system calls that stay; traps
 *    like int3, ud2, hlt; far transfers and iret; indirect jumps without observed targets; what
 *    the engine does not support; bytes that are no instruction or cannot be read (there is an
 *    instruction there, of kind INSN_ILLEGAL). All else that the engine emulates falls through,
 *    int 0x80, too.
 * 2. Code may belong to several functions. Instructions may overlap; each is itself.
 * 3. While there are instructions that do not reach the exit (endless loops), the one with the
 *    highest address among them gets an additional edge to the exit.
 * 4. m post-dominates n: all paths from n to the exit pass through m. Strictly: and m != n.
 *
 * Basic blocks only compress this: the answers are those for the graph of single instructions.
 * Blocks end at every instruction that transfers control, calls and system calls included, and
 * before every instruction that has another way in. Their numbers ascend with their first pc.
 *
 * Used by one thread: the decoder has one memory for all.
 */
#ifndef TRACE_GRAPH_CFG_H
#define TRACE_GRAPH_CFG_H

#include "base/err.h"
#include "engine/x86/insn.h"

enum { CFG_EXIT = -1, CFG_NONE = -1 };

/* What the caller knows. The answers for a pc must not change while the graphs live. */
struct cfg_program {
    void *ctx;
    /* Copies `bytes` bytes of code at pc, or as many as can be read; returns how many. */
    size_t (*read)(void *ctx, gaddr pc, uint8_t *buf, size_t bytes);
    /* Was pc called, or did a thread or signal handler begin there? Asked once per edge. */
    bool (*is_entry)(void *ctx, gaddr pc);
    /* Where the indirect jmp at pc went: their number, and a sorted *list, valid until the next
     * call. */
    size_t (*targets)(void *ctx, gaddr pc, const gaddr **list);
    /* Was the call or system call at pc executed and did it never return? */
    bool (*stays)(void *ctx, gaddr pc);
    /* Does the function at `callee` never return? Asked for direct calls, which then stay. NULL:
     * not known of any. */
    bool (*no_return)(void *ctx, gaddr callee);
};

struct cfg_block {
    gaddr first, last;  /* pc of the first and of the last instruction */
    int32_t ipdom;      /* immediate post-dominator, or CFG_EXIT */
    uint32_t insns;     /* instructions */
    uint32_t succs;     /* different successors besides the exit */
    uint32_t succ_at;   /* for cfg_successors() */
    uint32_t insn_at;   /* of use to cfg.c only, ... */
    uint32_t tree_at;   /* ... like these: the post-dominator tree in preorder, ... */
    uint32_t tree_size; /* ... and the nodes of the subtree */
    uint8_t kind;       /* enum insn_kind of the last instruction */
    bool exits;         /* the exit is a successor, too */
};

struct cfg;
struct cfg_function;

struct cfg *cfg_new(const struct cfg_program *program, struct err *err); /* NULL with *err set */
void cfg_free(struct cfg *cfg);                                          /* NULL is allowed */

/* The function that begins at `entry` (whether is_entry() says so or not), made when it is first
 * asked for. It stays where it is until cfg_free(). NULL with *err set: out of memory. */
const struct cfg_function *cfg_function(struct cfg *cfg, gaddr entry, struct err *err);

gaddr cfg_entry(const struct cfg_function *f);
uint32_t cfg_block_count(const struct cfg_function *f);
uint32_t cfg_insn_count(const struct cfg_function *f);

/* The block of the instruction at pc; CFG_NONE if the function has none there. */
int32_t cfg_block_of(const struct cfg_function *f, gaddr pc);

/* Block b, 0 <= b < cfg_block_count(). */
const struct cfg_block *cfg_block(const struct cfg_function *f, int32_t b);

/* Its `succs` successors besides the exit, ascending. */
const int32_t *cfg_successors(const struct cfg_function *f, int32_t b);

/* Two or more different successors, the exit counted as one? */
static inline bool cfg_is_branch(const struct cfg_block *block)
{
    return block->succs + block->exits >= 2;
}

/* Does s post-dominate x? (s == x counts.) Each may be CFG_EXIT. */
bool cfg_postdominates(const struct cfg_function *f, int32_t s, int32_t x);

/* Is block s control dependent on the edge b -> x? That is: s post-dominates x and does not
 * strictly post-dominate b. Never, if x is the exit. All such blocks are on the way from x up the
 * tree of immediate post-dominators, as far as, and without, that of b. */
bool cfg_depends(const struct cfg_function *f, int32_t s, int32_t b, int32_t x);

/* Is rbp a frame pointer: is one of the first 12 instructions from the entry `mov rbp, rsp` or
 * `lea rbp, [rsp + c]`, with no transfer of control before it? */
bool cfg_frame_pointer(const struct cfg_function *f);

#endif
