/* cage.h - what a replaying process gives up before it enters the runtime.
 *
 * SPDX-License-Identifier: MIT
 *
 * In the new process, while all of its code still is ours: it leaves the supervisor's process group
 * for one of its own, ties that group's life to the supervisor's, and drops all capabilities. Its
 * copies inherit all of that. The filter of system calls comes later, from the runtime itself
 * (target/confine.c), and allows nothing that would undo it.
 */
#ifndef REPLAYER_CAGE_H
#define REPLAYER_CAGE_H

/* A process that could not give something up ends with one of these. */
enum cage_status {
    CAGE_GROUP = 101,
    CAGE_SWITCH,
    CAGE_LIMITS,
    CAGE_CAPABILITIES,
    CAGE_STATUS_END,
};

/* The switch is a pipe: when its write end is closed in the supervisor, the kernel kills the whole
 * group. The read end must stay open here. Ends the process if anything fails. */
void cage_enter(int read_end, int write_end);

/* What a status says; NULL: it is none of the above. */
const char *cage_text(int status);

#endif
