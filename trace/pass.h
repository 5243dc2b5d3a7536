/* pass.h - one pass forwards over a trace, step by step. SPDX-License-Identifier: MIT
 *
 * Follows frames and ticks, so that each step is told with the call it was executed in and its
 * position.
 */
#ifndef TRACE_PASS_H
#define TRACE_PASS_H

#include "trace/frames.h"
#include "trace/walk.h"

struct trace_index;

/* One execution of a block. Valid until the next one. */
struct pass_step {
    const struct trace_step *step;
    const struct code_block *block;
    const uint64_t *values;
    struct frame *frame;
    uint64_t insn;  /* number of its first instruction */
    uint64_t count; /* of the thread: with its number and a pc a position */
};

struct pass {
    struct trace *trace;
    struct frames frames; /* at the end: those that were not left */
    struct trace_chunk chunk;
    struct trace_state *state;
    bool *seen;
    struct trace_walk at; /* in the chunk */
    uint32_t next_chunk;
    bool open; /* the step that was told last is not left yet */
    /* Told of each note, p->at.note, if it is set; the frame is still as before it. Not 0, which is
     * -1 with *err set, ends the pass. */
    int (*note)(void *arg, const struct pass *p, struct err *err);
    void *arg;
};

/* Begins with the trace; goes on at the beginning of a chunk, whose frames the index knows. */
int pass_init(struct pass *p, struct trace *trace, struct err *err);
int pass_seek(struct pass *p, struct trace_index *index, uint32_t chunk, struct err *err);
/* Nothing matters before instruction `insn`: chunks that end before it are passed over. */
int pass_skip(struct pass *p, struct trace_index *index, uint64_t insn, struct err *err);
void pass_deinit(struct pass *p);

/* Has the last step of a chunk been told? And how many instructions are in it and before it. */
static inline bool pass_at_end(const struct pass *p)
{
    return p->at.next_step == p->chunk.steps;
}
static inline uint64_t pass_insns(const struct pass *p)
{
    return p->chunk.first_insn + p->chunk.insns;
}

/* 1, 0 after the last one, -1. */
int pass_next(struct pass *p, struct pass_step *out, struct err *err);

#endif
