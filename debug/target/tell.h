/* tell.h - processes and threads of a program in the middle of its run, as records.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recording that begins in the middle begins with them (pinball/record_state.h). A replaying
 * process tells them to its supervisor, a recorded program to its log. The baton is held; threads
 * that do not run are described by their structs, `fs_base` and `xsave` among them.
 */
#ifndef DEBUG_TARGET_TELL_H
#define DEBUG_TARGET_TELL_H

#include "engine/core/thread.h"
#include "pinball/record_state.h"
#include "pinball/sink.h"

struct tell {
    struct sink_writer *out;
    struct thread *self; /* that runs */
    /* What the teller alone knows: the heap and where descriptors lead to. */
    void (*process)(struct record_process *r, bool side);
};

void tell_threads(const struct tell *tell);

#endif
