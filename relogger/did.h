/* did.h - what threads did in a gap, for traces of the new recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * Follows the trace that the gap is made of: which registers each thread writes there, and which
 * frames of calls it leaves and makes. Registers that are saved and restored are as they were:
 * those that calls preserve, all that the lazy resolver puts back, and all behind a signal's
 * handler.
 */
#ifndef RELOGGER_DID_H
#define RELOGGER_DID_H

#include "replayer/leave.h"
#include "trace/pass.h"

struct did;

struct did *did_new(struct trace *trace); /* NULL: no memory */
void did_free(struct did *d);             /* NULL is allowed */

/* Told of every note, before the pass takes it. */
void did_note(struct did *d, const struct pass *p);

/* The gap begins in `thread` (as in trace_step.thread), in `frame`; the pass is at the next step,
 * which is of thread `next`. */
void did_begins(struct did *d, const struct pass *p, uint32_t thread, struct frame *frame,
                uint32_t next);
/* Instructions [from, to) of a step are left out. */
void did_insns(struct did *d, uint32_t thread, const struct code_block *b, uint32_t from,
               uint32_t to, struct frame *frame);
/* It ends, in `thread`, in `frame`. -1: no memory. */
int did_ends(struct did *d, const struct pass *p, uint32_t thread, struct frame *frame);
/* struct leave_gap.did; the list lives until the next call. */
int did_tell(void *did, uint32_t number, uint64_t pc, uint64_t same, struct leave_did *out,
             struct err *err);

#endif
