/* server.h - serve a program to GDB.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB's remote protocol (appendix of its manual), as GDB 13 speaks it, on a debuggee. A thread's id
 * is its number in positions: GDB's `p1234.2` is T2 of process 1234. Whatever a client sends, it
 * gets an answer; what a client says is not believed.
 *
 * Requests that GDB's own commands do not make, for scripts inside GDB, are in query.c and
 * docs/gdb-packets.md.
 */
#ifndef DEBUG_GDBSTUB_SERVER_H
#define DEBUG_GDBSTUB_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct debuggee;
struct debuggee_listener;

struct server_options {
    /* Makes the program that is served. -1 with *err set. */
    int (*open)(void *arg, const struct debuggee_listener *listener, struct debuggee *out,
                struct err *err);
    const char *path, *program; /* for scripts: the pinball's, and that of this drdebug */
    const char *listen;         /* link.h; NULL: standard input and output */
    void (*message)(void *arg, const char *line); /* without a newline; NULL: dropped */
    void *arg;
    bool quiet; /* the program's output is not passed on */
    bool live;  /* the program was started for this, and ends with it */
    bool once;  /* ends with its first client */
    int end_fd; /* once it can be read the server ends; -1: none */
};

/* Serves one client after the other until end_fd says so; on standard input and output, the one
 * that is there until it leaves. -1 with *err set: it could not begin. */
int server_run(const struct server_options *options, struct err *err);

#endif
