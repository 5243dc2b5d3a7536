/* gdb_start.h - start GDB on a stub.
 *
 * SPDX-License-Identifier: MIT
 *
 * This process becomes GDB, or waits for it if GDB is confined. GDB reads gdb/drdebug.py, which
 * this program carries along, from a descriptor that it inherits; the script then starts the stub
 * and connects to it.
 */
#ifndef CLI_GDB_START_H
#define CLI_GDB_START_H

#include <stdbool.h>
#include <stddef.h>

struct gdb_start {
    const char *verb;    /* for messages */
    const char *gdb;     /* its name, or path */
    const char *where;   /* as drdebug.py's start() has it */
    const char *way;     /* how GDB is confined (debug_confined.h); NULL: not */
    char *const *server; /* the stub: words, the second one is the verb; ends with NULL */
    bool live;           /* the stub starts a program, which gets GDB's terminal */
    char **gdb_args;
    size_t gdb_arg_count;
};

/* Returns GDB's status, or why there is none. */
int gdb_start(const struct gdb_start *start);

#endif
