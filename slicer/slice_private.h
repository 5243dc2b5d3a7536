/* slice_private.h - between the files that make slices. SPDX-License-Identifier: MIT */
#ifndef SLICER_SLICE_PRIVATE_H
#define SLICER_SLICE_PRIVATE_H

#include "slicer/cfg.h"
#include "slicer/control.h"
#include "slicer/copied.h"
#include "slicer/scan.h"
#include "slicer/slice.h"
#include "slicer/state.h"
#include "slicer/wanted.h"

enum { SLICER_ARGS = 6 }; /* of a system call, at most */

struct slicer {
    struct trace *trace;
    struct code *code;
    struct pinball *pinball;
    struct source *source; /* NULL: saves are found by MaxSave alone */
    struct cfg *cfg;
    uint8_t **contents; /* of mappings, as they were read */
    struct scan scan;
    unsigned max_save;                          /* that the scan was made with; 0: not yet */
    struct defuse call[SLICER_ARGS];            /* for slicer_call_defuse() */
    bool (*no_return)(void *ctx, gaddr callee); /* may be NULL */
    void *no_return_ctx;
};

/* Is all of it read-only when the trace ends? Such memory is the loader's: constants, tables of
 * virtual functions, addresses of other modules. */
bool slicer_read_only(const struct slicer *s, gaddr addr, uint64_t bytes);
/* Is nothing of it? */
bool slicer_is_writable(const struct slicer *s, gaddr addr, uint64_t bytes);

/* A bit for each instruction, in pieces as the trace has chunks. */
struct slice {
    uint64_t **bits; /* by chunk; NULL: none */
    uint64_t *first; /* by chunk: the number of its first instruction; one more at the end */
    uint32_t chunks;
    uint64_t count;
    bool closed; /* all that its nodes depend on is in it: backward slices */
    struct slice_figures figures;
};

struct slice *slice_new(const struct trace *trace);
/* Was it new? -1: no memory. */
int slice_add(struct slice *s, uint32_t chunk, uint32_t insn, uint32_t insns);
/* Adds instructions from `insn` on, a bit each. False: no memory. */
bool slice_add_bits(struct slice *s, uint32_t chunk, uint32_t insn, uint64_t which, uint32_t insns);

/* Which of `n` instructions from `insn` of a chunk on are in it, a bit each; n <= 64. */
static inline uint64_t slice_bits(const struct slice *s, uint32_t chunk, uint32_t insn, uint32_t n)
{
    const uint64_t *bits = s->bits[chunk];
    if (!bits || !n)
        return 0;
    uint64_t word = bits[insn / 64] >> insn % 64;
    if (insn % 64 + n > 64)
        word |= bits[insn / 64 + 1] << (64 - insn % 64);
    return n < 64 ? word & ((1ull << n) - 1) : word;
}

/* node.c: what instructions do that def/use sets do not tell. */
enum { SLICER_SIGRETURN = 15 }; /* the system call's number */
/* The range of an access, all elements of a repeated one. */
gaddr slicer_extent(const struct code_block *b, const struct plan_access *a, const uint64_t *values,
                    uint64_t *bytes);
bool slicer_is_odd(const struct plan_access *a); /* a note tells its addresses */
/* rep movs: what it copies. */
bool slicer_copies(const struct code_block *b, unsigned i, const uint64_t *values,
                   struct copied *out);
/* The sets of a completed system call, of whose arguments only those are used that it has. The
 * result lives until the next call. */
const struct defuse *slicer_call_defuse(struct slicer *s, const struct defuse *du,
                                        const struct flow_call *call);
/* A ret in `frame` that pops a frame: the one whose call's return address it reads. */
bool slicer_returns(const struct frame *frame, const struct code_block *b, unsigned i,
                    const uint64_t *values);

/* Makes sure that the scan is there; NULL: any will do. */
int slicer_scan(struct slicer *s, const struct slice_options *o, struct err *err);

/* slice_walk.c: the walk. */
int slice_walk(struct slicer *s, struct slice *out, const struct slice_want *want, size_t wants,
               const struct slice_options *options, struct err *err);

#endif
