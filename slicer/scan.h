/* scan.h - one pass forwards over a trace: what walking it backwards needs to know.
 *
 * SPDX-License-Identifier: MIT
 *
 * For each chunk: the frames at its beginning, which of its instructions restore a register that
 * their function had saved, and which returns found a return address that was changed.
 */
#ifndef SLICER_SCAN_H
#define SLICER_SCAN_H

#include "slicer/frames.h"

struct source;

struct scan_chunk {
    struct frames start;
    uint32_t thread;   /* that runs when it begins */
    uint32_t *restore; /* instructions of the chunk, ascending */
    uint32_t restores;
    uint32_t *changed; /* returns */
    uint32_t changes;
};

/* A signal's delivery. */
struct scan_signal {
    uint64_t insn; /* instructions before it */
    gaddr frame, fpstate;
};

struct scan {
    struct scan_signal *signal; /* in order */
    size_t signals, signal_room;
    struct scan_chunk *chunk;
    uint32_t chunks;
};

/* The first max_save instructions of a frame that save a register count, and those that write to a
 * place that call frame information names; `source` may be NULL. */
int scan_init(struct scan *s, struct trace *trace, unsigned max_save, struct source *source,
              struct err *err);
void scan_deinit(struct scan *s);

/* Where the extended state of a signal's frame is, of the last one before `insn`; 0: none. */
gaddr scan_fpstate(const struct scan *s, gaddr frame, uint64_t insn);

#endif
