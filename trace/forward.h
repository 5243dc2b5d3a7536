/* forward.h - a trace gone through forwards, instruction by instruction.
 *
 * SPDX-License-Identifier: MIT
 *
 * For passes that carry something along with values: which node defined them last (edges.c), or
 * whether they depend on something (slicer/walk/forward.c). Frames, def/use sets, confirmed
 * restores and what belongs to a system call are found here.
 */
#ifndef TRACE_FORWARD_H
#define TRACE_FORWARD_H

#include "trace/index.h"
#include "trace/walk.h"

/* One executed instruction. */
struct forward_at {
    const struct code_block *b;
    unsigned i;
    const struct insn *in;
    const uint64_t *values;
    struct frame *frame;
    uint32_t thread;
    uint64_t insn;
    uint64_t count;               /* ticks of the thread */
    const struct defuse *du;      /* rt_sigreturn, and the resolver's saves of state: NULL */
    const struct flow_call *call; /* of a system call */
    const struct flow_access *odd;
    int saves;    /* the register that it saves; -1: none */
    int restores; /* that it restores, as the save of a pair has it; -1: none */
    gaddr pair;   /* where */
    bool intact;  /* a return whose address is what its call wrote */
};

struct forward_went {
    struct frame *frame;
    uint64_t insn;
    gaddr pc, next;
};

struct forward_visitor {
    void *arg;
    uint64_t first, last; /* instructions that it begins and ends with, or some around; 0, 0: all */
    /* Only saves and restores of these instructions matter, and not where they led. NULL: all do.
     */
    bool (*quiet)(void *arg, uint64_t first, uint64_t insns);
    /* Nothing of the chunk matters at all: it is passed over. NULL: all do. */
    bool (*passes)(void *arg, uint32_t chunk);
    /* Not 0, which for an error is -1 with *err set, ends the pass. All but `insn` may be NULL. */
    int (*insn)(void *arg, const struct forward_at *at, struct err *err);
    /* The transfer at pc, the end of a step, led to `next` in the same frame. */
    int (*went)(void *arg, const struct forward_went *w, struct err *err);
    int (*signal)(void *arg, uint32_t thread, const struct flow_signal *s, struct err *err);
    /* `by`: the signal whose frame it was; NULL: not in the trace. */
    int (*sigreturn)(void *arg, uint32_t thread, const struct flow_call *c,
                     const struct scan_signal *by, struct err *err);
    /* A thread was made by the call with this number; UINT64_MAX: not completed. */
    int (*begin)(void *arg, uint32_t thread, uint32_t child, uint64_t call, struct err *err);
    /* Instructions are left out, for which `insn` stands, of another thread, and here is what this
     * one did in them. */
    int (*did)(void *arg, uint32_t thread, uint64_t insn, const struct flow_did *d,
               struct err *err);
};

struct forward_options {
    bool keep_saves;    /* do not look through saved and restored registers */
    bool stack_pointer; /* rsp and rbp carry dependences like other registers */
    unsigned max_save;  /* saves of a function that are looked for; 0: any will do */
};

/* Returns 0, -1 with *err set, or what the visitor ended it with. */
int forward_pass(struct trace_index *index, const struct forward_options *o,
                 const struct forward_visitor *v, struct err *err);

/* The bytes of access k of the instruction; false: it has no place of its own (n->odd tells). */
bool forward_extent(const struct forward_at *n, unsigned k, gaddr *addr, uint64_t *bytes);

/* A repeated copy. */
static inline bool forward_copies(const struct forward_at *n, struct copied *out)
{
    return access_copies(n->b, n->i, n->values, out);
}

/* Places of general registers in a signal's frame: register, and how far behind the frame. */
enum { FORWARD_CONTEXT = 48, FORWARD_CONTEXT_FLAGS = FORWARD_CONTEXT + 17 * 8 };
extern const uint8_t forward_context[15]; /* without rsp */

#endif
