/* slice_private.h - between the files that make slices. SPDX-License-Identifier: MIT */
#ifndef SLICER_SLICE_PRIVATE_H
#define SLICER_SLICE_PRIVATE_H

#include "slicer/slice.h"
#include "slicer/walk/wanted.h"
#include "trace/forward.h"
#include "trace/graph/control.h"
#include "trace/index.h"
#include "trace/state.h"

/* A bit for each instruction, in pieces as the trace has chunks. */
struct slice {
    uint64_t **bits; /* by chunk; NULL: none */
    uint64_t *first; /* by chunk: the number of its first instruction; one more at the end */
    bool *passed;    /* by chunk: nothing in it changed what was wanted, of a backward slice */
    uint32_t chunks;
    uint64_t count;
    bool closed; /* all that its nodes depend on is in it: backward slices */
    struct slice_figures figures;
};

struct slice *slice_new(const struct trace *trace);
/* Was it new? -1: no memory. */
int slice_add(struct slice *s, uint32_t chunk, uint32_t insn, uint32_t insns);
/* Adds an instruction of the trace by its number. 0, or -1: no memory. */
int slice_put(struct slice *s, uint64_t insn);
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

static inline unsigned slice_max_save(const struct slice_options *o)
{
    return o->max_save ? o->max_save : SLICE_MAX_SAVE;
}

/* The same options, for forward.h. */
static inline struct forward_options slice_forward_options(const struct slice_options *o)
{
    return (struct forward_options){o->keep_saves, o->stack_pointer, slice_max_save(o)};
}

/* walk/walk.c */
int slice_walk(struct trace_index *s, struct slice *out, const struct slice_want *want,
               size_t wants, const struct slice_options *options, struct err *err);

#endif
