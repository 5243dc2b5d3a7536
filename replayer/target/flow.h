/* flow.h - a trace, while its tool is installed. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_FLOW_H
#define REPLAYER_TARGET_FLOW_H

#include "engine/core/thread.h"

struct instrument;
const struct instrument *flow_tool(struct thread *self); /* NULL: this CPU cannot */
void flow_switch(struct thread *from, struct thread *to);
void flow_made(const struct thread *parent, const struct thread *child);
void flow_wrote(gaddr addr, uint64_t bytes); /* as the kernel */
/* again: the runtime has made it anew, nothing of it is in the log */
void flow_called(struct thread *t, long nr, int64_t result, bool again);
void flow_again(struct thread *t); /* in a call that it was taken off in */
void flow_fault(const struct thread *t);

/* A gap (gap.h). What it wrote is told between its begin and its end; then come the threads that
 * are new or changed: the one in which it began (NULL: it is over, or as before) and others. */
struct record_did;
void flow_gap_begins(struct thread *t);
void flow_gap_wrote(gaddr addr, uint64_t bytes);
void flow_gap_ends(struct thread *t, uint64_t insns, const struct record_did *d);
void flow_gap_did(struct thread *t, const struct record_did *d);
void flow_gap_told(struct thread *t); /* of all of them; `t` as in flow_gap_ends() */
void flow_gap_over(void);             /* and another thread runs, perhaps */

#endif
