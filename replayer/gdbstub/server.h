/* server.h - serve a recording to GDB.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB's remote protocol (appendix of its manual), as GDB 13 speaks it, on a timeline. A thread's id
 * is its number in positions: GDB's `p1234.2` is T2 of process 1234. Whatever a client sends, it
 * gets an answer; what a client says is not believed.
 *
 * Requests that GDB's own commands do not make, for scripts inside GDB, are in query.c and
 * docs/gdb-packets.md.
 */
#ifndef REPLAYER_GDBSTUB_SERVER_H
#define REPLAYER_GDBSTUB_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pinball;

struct server_options {
    struct pinball *pinball;
    const char *path, *program; /* for scripts: the pinball's, and that of this drdebug */
    const char *listen;         /* link.h; NULL: standard input and output */
    void (*message)(void *arg, const char *line); /* without a newline; NULL: dropped */
    void *arg;
    bool quiet;            /* the program's output is not passed on */
    bool once;             /* ends with its first client */
    const char *engine;    /* engine options; NULL: none */
    uint64_t memory_bytes; /* for checkpoints; 0: the timeline's choice */
    int end_fd;            /* once it can be read the server ends; -1: none */
};

/* Serves one client after the other until end_fd says so; on standard input and output, the one
 * that is there until it leaves. -1 with *err set: it could not begin. */
int server_run(const struct server_options *options, struct err *err);

#endif
