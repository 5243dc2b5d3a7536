/* attempt.h - which way a branch goes if memory had other bytes.
 *
 * SPDX-License-Identifier: MIT
 *
 * Tried in a throw-away copy of a replay, which leaves the log: its thread goes on alone until it
 * has executed the branch. Nothing of it is left.
 */
#ifndef REPLAYER_ATTEMPT_H
#define REPLAYER_ATTEMPT_H

#include "replayer/replay.h"

enum { ATTEMPT_STEPS = 256 };

struct attempt {
    uint64_t addr, value; /* the lowest address in the lowest byte */
    uint32_t bytes;       /* at most 8; 0: nothing is changed */
    uint32_t thread;      /* that runs now */
    unsigned steps;       /* instructions at most */
    uint64_t branch;
};

/* *next is where the thread was behind the branch; 0: it did not come there. The replay needs
 * options.copies. */
int attempt_branch(struct replay *r, const struct attempt *a, uint64_t *next, struct err *err);

#endif
