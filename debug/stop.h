/* stop.h - why a program stops, and what it can be asked to stop at.
 *
 * SPDX-License-Identifier: MIT
 *
 * One list of kinds for all: the process that stops, its supervisor, the timeline, the stub.
 *
 * Included by code inside the target and outside; no libc.
 */
#ifndef DEBUG_STOP_H
#define DEBUG_STOP_H

#include <stdint.h>

enum stop_kind {
    STOP_NONE,
#define STOP(kind, name, of) STOP_##kind,
#include "debug/stops.def"
#undef STOP
    STOP_KINDS,
};

enum watch_kind { WATCH_WRITE = 1, WATCH_READ = 2, WATCH_ACCESS = 3 };

/* Call numbers and signals are below these; watchpoints and edges are at most so many. */
enum {
    STOP_MAX_CALLS = 1024,
    STOP_MAX_SIGNALS = 65,
    STOP_MAX_WATCHES = 16,
    STOP_MAX_EDGES = 1024,
};

/* An instruction, and the one that its thread executed next. */
struct stop_edge {
    uint64_t pc, next;
};

/* Not inside the target: for users; what it is of, as stops.def says. */
enum stop_of { STOP_OF_NOBODY, STOP_OF_THREAD, STOP_OF_LIMIT };
const char *stop_name(enum stop_kind kind);
enum stop_of stop_of(enum stop_kind kind);

#endif
