/* live.h - a running program with its history, for a debugger.
 *
 * SPDX-License-Identifier: MIT
 *
 * A debuggee (debug/debuggee.h) whose past is a timeline on the recording that is being written,
 * and whose end is the living program. Backwards moves go from one into the other; forwards it
 * stops once at the living end, and the next move is alive. At the living end it can be changed,
 * and the recording says so.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "debug/debuggee.h"
#include "logger/recorder.h"

struct live_options {
    struct recording what; /* live/living.h; dir[0] is the first part's, region is not looked at */
    bool waits;            /* nothing is recorded until somebody asks for it */
    int io[3];
    const char *engine;    /* of replays: engine options; NULL: none */
    uint64_t memory_bytes; /* for going back quickly; 0: a quarter of the machine's */
    struct debuggee_listener listener;
};

/* Starts it; -1 with *err set, whose code is 126 or 127 if the program cannot be run. */
int live_open(const struct live_options *options, struct debuggee *out, struct err *err);

#endif
