/* written.h - the call that wrote something, in the trace. SPDX-License-Identifier: MIT */
#ifndef SLICER_CRITERION_WRITTEN_H
#define SLICER_CRITERION_WRITTEN_H

#include "study/study.h"

struct written {
    uint64_t insn;   /* the system call's instruction */
    uint32_t thread; /* as in trace_step.thread */
    uint64_t maker;  /* the innermost call in the user's own code that led there, ... */
    gaddr line_pc;   /* ... and where that is; FRAME_NO_MAKER: none, the system call's own place */
};

/* The system call at a position, and each range that it read, but for vectors of buffers. `range`
 * may be NULL. */
int written_find(struct study *s, const struct position *at,
                 int (*range)(void *arg, const struct flow_range *r, struct err *err), void *arg,
                 struct written *out, struct err *err);

#endif
