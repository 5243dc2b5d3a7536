/* walk.h - between the files that walk a trace backwards. SPDX-License-Identifier: MIT */
#ifndef SLICER_WALK_WALK_H
#define SLICER_WALK_WALK_H

#include "base/table.h"
#include "slicer/slice_private.h"
#include "slicer/walk/prune.h"
#include "slicer/walk/transfer.h"

enum { SLICE_WALK_PAGES = 256 };

/* Bytes of a register that are wanted before the save of a pair. */
struct ghost {
    uint64_t serial; /* of the frame; 0: free */
    gaddr addr;
    uint8_t reg, mask;
};

/* What is known of a page of memory. */
struct page {
    gaddr number; /* plus one */
    enum { PAGE_MIXED, PAGE_CHANGES, PAGE_CONSTANT } kind;
};

/* What following a chunk forwards told of a step. */
struct place {
    struct frame *frame;
    gaddr next; /* where its thread went on in the same frame; 0: elsewhere */
};

struct walk {
    struct trace_index *s;
    struct slice *out;
    const struct slice_options *o;
    unsigned edges;
    struct trace_chunk chunk;
    const struct scan_chunk *scan;
    struct scan_lists lists; /* its lists; counts go down as they are met */
    struct place *place;
    struct control *control;
    struct wanted memory;
    struct loc_set *reg; /* by thread */
    struct transfer *transfer;
    struct page page[SLICE_WALK_PAGES]; /* looked at last */
    gaddr *carry; /* by thread: where it went on behind the chunk, in the same frame */
    uint32_t threads;
    TABLE(struct ghost) ghost;
    size_t ghosts_waiting;
    struct state *state;            /* wanted before a resolver saved it */
    const struct slice_want **want; /* sorted by `at`, the last first */
    size_t wants;
    struct prune prune;
    bool ok; /* there was memory */
};

/* One executed instruction. */
struct node {
    const struct trace_step *step;
    const struct code_block *b;
    const struct transfer_block *x;
    const uint64_t *values;
    const struct frame *frame;
    unsigned i;
    uint32_t thread;
    uint32_t insn;                /* in the chunk */
    const struct flow_call *call; /* of a system call; NULL: none */
    const struct flow_access *odd;
    const struct defuse *du;
    bool uses_memory;
    bool criterion; /* all that it uses is asked for */
    unsigned flags; /* enum defuse_flag */
};

static inline void want_loc(struct walk *w, uint32_t thread, unsigned first, unsigned count)
{
    loc_set_add(&w->reg[thread], first, count);
}

/* slicer/walk/insn.c: one instruction. */

/* Instructions of a step, a bit each, are in the slice. */
int slice_walk_put(struct walk *w, const struct transfer_block *x, const struct frame *f,
                   const struct trace_step *s, uint64_t taken, struct err *err);
/* Does what the node does to what is wanted. `take`: it is in the slice in any case. */
int slice_walk_insn(struct walk *w, struct node *n, bool take, struct err *err);
/* Is any of a location's bytes wanted? */
bool slice_walk_any(const struct walk *w, uint32_t thread, unsigned first, unsigned count);
/* Is a read of this memory no use, since it is read-only when the trace ends? The first argument is
 * the walk. */
bool slice_walk_constant(void *walk, gaddr addr, uint64_t bytes);
/* Is a register waited for that the frame may have saved at addr? */
bool slice_walk_saved(const struct walk *w, const struct frame *frame, gaddr addr);

/* slicer/walk/over.c: does nothing in the chunk change what is wanted? Nothing is pending from the
 * chunk behind it. */
bool slice_walk_passes(const struct walk *w, uint32_t number);

/* slicer/walk/notes.c: what the kernel did to registers. */
void slice_walk_signal(struct walk *w, uint32_t thread, const struct flow_signal *s);
void slice_walk_sigreturn(struct walk *w, uint32_t thread, const struct flow_call *c,
                          uint64_t insn);
/* A thread was made: what it wants at its begin, the maker has. True: the call itself is wanted. */
bool slice_walk_begin(struct walk *w, const struct flow_begin *b);
/* What was left out set registers of a thread. True: some were wanted. */
bool slice_walk_did(struct walk *w, uint32_t thread, const struct flow_did *d);

#endif
