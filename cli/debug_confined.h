/* debug_confined.h - GDB in a sandbox of its own, for a stranger's recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB reads debug information itself, and was not made for that of strangers. With `--confined` it
 * and all that it starts see the file system read-only, but for one folder for temporary files that
 * goes afterwards; there are no sockets, and no other processes to signal or trace. Landlock does
 * it (version 6, Linux 6.12), else bubblewrap; a seccomp filter forbids what these leave. The stub
 * is outside, at the other end of a descriptor that GDB is started with.
 */
#ifndef CLI_DEBUG_CONFINED_H
#define CLI_DEBUG_CONFINED_H

#include "base/err.h"

/* What there is on this machine; "" with *err set: nothing. `forced`, for tests: "landlock",
 * "bwrap" or NULL. */
const char *debug_confined_way(const char *forced, struct err *err);

/* Closes what drdebug was started with, but for standard input, output and error: GDB would inherit
 * it. To be called before anything is opened. */
int debug_confined_close(struct err *err);

/* Starts the stub, `server`, outside. Returns the descriptor for GDB; -1 with *err set. */
int debug_confined_serve(char *const server[], struct err *err);

/* Runs GDB at `path`, and returns the status to end with; -1 with *err set. */
int debug_confined_run(const char *way, const char *path, char *const args[], struct err *err);

#endif
