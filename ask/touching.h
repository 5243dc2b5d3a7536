/* touching.h - a replay that stops by at each of a list of accesses.
 *
 * SPDX-License-Identifier: MIT
 *
 * Probes at the instructions of the accesses (replayer/probes.h) take something before each
 * execution. What an access left is there when the next one comes: nobody touched that memory in
 * between. So a single replay tells what was there before and after each, in the order of the
 * execution.
 */
#ifndef ASK_TOUCHING_H
#define ASK_TOUCHING_H

#include "ask/question.h"
#include "study/probe.h"
#include "trace/touch.h"

/* Before accesses first to behind, without that, which are those of one instruction. An instruction
 * that is begun again is told again, and only the last time counts. 0: go on; 1: enough. */
typedef int touching_fn(void *arg, size_t first, size_t behind, const struct probe_row *row,
                        struct err *err);

struct touching {
    const struct touch *list; /* as touch_pass() told them, in its order, or some of them */
    size_t count;
    const struct touch_range *range; /* all accesses touch one of them */
    size_t ranges;
    const uint8_t *take; /* the probes' bytecode */
    uint32_t take_bytes;
};

int touching_run(struct asking *q, const struct touching *t, touching_fn *fn, void *arg,
                 struct err *err);

#endif
