/* slice_private.h - between the files that make slices. SPDX-License-Identifier: MIT */
#ifndef SLICER_SLICE_PRIVATE_H
#define SLICER_SLICE_PRIVATE_H

#include "slicer/cfg.h"
#include "slicer/control.h"
#include "slicer/scan.h"
#include "slicer/slice.h"
#include "slicer/wanted.h"

struct slicer {
    struct trace *trace;
    struct code *code;
    struct pinball *pinball;
    struct cfg *cfg;
    uint8_t **contents; /* of mappings, as they were read */
    struct scan scan;
    unsigned max_save; /* that the scan was made with; 0: not yet */
};

/* Is all of it read-only when the trace ends? Such memory is the loader's: constants, tables of
 * virtual functions, addresses of other modules. */
bool slicer_read_only(const struct slicer *s, gaddr addr, uint64_t bytes);

/* A bit for each instruction, in pieces as the trace has chunks. */
struct slice {
    uint64_t **bits; /* by chunk; NULL: none */
    uint64_t *first; /* by chunk: the number of its first instruction; one more at the end */
    uint32_t chunks;
    uint64_t count;
    struct slice_figures figures;
};

struct slice *slice_new(const struct trace *trace);
/* Was it new? -1: no memory. */
int slice_add(struct slice *s, uint32_t chunk, uint32_t insn, uint32_t insns);

/* slice_walk.c: the walk. */
int slice_walk(struct slicer *s, struct slice *out, const struct slice_want *want, size_t wants,
               const struct slice_options *options, struct err *err);

#endif
