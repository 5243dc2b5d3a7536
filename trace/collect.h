/* collect.h - make a trace by replaying. SPDX-License-Identifier: MIT */
#ifndef TRACE_COLLECT_H
#define TRACE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/position.h"

struct pinball;
struct trace;

struct collect_options {
    const struct position *from, *to; /* NULL: all of it */
    bool unnamed;                     /* there is no `path`: the trace goes to this open file */
    int fd;
    uint32_t chunk_steps; /* that make a chunk full, for tests; 0: TRACE_STEPS */
    void (*progress)(void *arg, uint64_t insns);
    void *arg;
};

struct collect_result {
    uint64_t insns, steps, threads, blocks, bytes;
    bool ended; /* the recording's end was reached */
    uint32_t reason;
    int32_t status;
};

/* What a trace says it is of: the pinball, by what is the same for a directory and for what it was
 * packed into and differs from all others; and the window, if it is of one. */
enum { COLLECT_ABOUT = 40 + 2 * POSITION_TEXT };
int collect_about(struct pinball *pinball, const struct position *from, const struct position *to,
                  char about[COLLECT_ABOUT], struct err *err);

/* Replays the pinball and writes the trace to `path`. A program that executed
 * another one has its last part traced: one program, one memory. trace_about() is what
 * collect_about() says. */
int collect(struct pinball *pinball, const char *path, const struct collect_options *options,
            struct collect_result *result, struct err *err);

/* Is that the trace_about() of a whole trace of the recording, from before it grew? */
bool collect_is_earlier(struct pinball *pinball, const char *about);

/* The same as collect(), but the replay is traced only where `old` has not come to: a trace from
 * options->from to an earlier position, of the same recording or of what it was before it grew. A
 * system call that a thread was in there is told with what it wrote from then on. `old` may be at
 * `path`, or NULL. */
int collect_more(struct pinball *pinball, struct trace *old, const char *path,
                 const struct collect_options *options, struct collect_result *result,
                 struct err *err);

#endif
