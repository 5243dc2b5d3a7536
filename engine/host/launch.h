/* launch.h - start a program under the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_HOST_LAUNCH_H
#define ENGINE_HOST_LAUNCH_H

#include "base/err.h"

struct launch {
    const char *path;
    char *const *argv;
    const char *options; /* engine options, "key=value,..."; NULL: none */
};

/* The calling process becomes the program, by execve: its id, parent, terminal, open files and exit
 * status are the program's. Returns only on failure, -1 with *err set. */
int launch_exec(const struct launch *l, struct err *err);

#endif
