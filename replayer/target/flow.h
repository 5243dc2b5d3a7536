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

#endif
