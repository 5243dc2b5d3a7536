/* touch.h - who touched some memory: every access to it, in the order of the execution.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TOUCH_H
#define TRACE_TOUCH_H

#include "trace/trace.h"

struct touch_range {
    gaddr start, end;
};

enum touch_by { TOUCH_INSN, TOUCH_CALL, TOUCH_SIGNAL /* a handler's frame was written */ };

struct touch {
    uint64_t insn;      /* its number; of a call or signal: what was executed before it */
    struct position at; /* of that instruction */
    uint32_t thread;    /* as in trace_step.thread */
    gaddr addr;         /* the access, of which a part is in a range */
    uint64_t bytes;
    bool read, write;
    enum touch_by by;
    int64_t call; /* its number, or the signal's */
};

/* From the chunk with instruction `first` on. Not 0, which for an error is -1 with *err set, ends
 * the pass, and is what it returns. */
struct touch_visitor {
    const struct touch_range *range;
    size_t ranges;
    uint64_t first;
    int (*fn)(void *arg, const struct touch *t, struct err *err);
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* may be NULL */
    void *arg;
};
int touch_pass(struct trace *trace, const struct touch_visitor *v, struct err *err);

#endif
