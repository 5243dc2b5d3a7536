/* gdb.h - a GDB in a process of its own, asked through its machine interface.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nothing here waits: commands go into a queue, answers come from the main loop. One command is
 * under way at a time. A command that moves the program (GDB_MOVE) overtakes queries that wait,
 * since what they ask about will be gone, and drops them: what is on the screen is refreshed at the
 * next stop anyway. While a move waits, another one replaces it, so that a key held down queues one
 * at the most.
 */
#ifndef GUI_LINK_GDB_H
#define GUI_LINK_GDB_H

#include "base/err.h"
#include "gui/link/mi.h"

struct gdb;

enum gdb_class {
    GDB_QUERY,   /* may be dropped */
    GDB_COMMAND, /* has an effect: never dropped */
    GDB_MOVE,
};

/* Called once for each command. NULL: it was dropped, or GDB ended. An error is a result, too. */
typedef void gdb_answer(void *arg, const struct mi_record *result);

struct gdb_listener {
    /* What GDB says unasked: streams, notices, stops. */
    void (*record)(void *arg, const struct mi_record *record);
    /* It began or ceased to be busy with a move or a command. */
    void (*busy)(void *arg, bool busy);
    /* It ended without having been told to; `words` are the last that it said on standard error. */
    void (*ended)(void *arg, const char *words);
    void *arg;
};

/* argv: what starts GDB with -i=mi3. NULL with err set if it cannot be started. */
struct gdb *gdb_new(const char *const argv[], const struct gdb_listener *listener, struct err *err);
/* Ends GDB and all that it started. No callback comes any more, but NULL to those who wait. */
void gdb_free(struct gdb *gdb);

/* `command` begins with a dash, without a token. `answer` may be NULL. */
void gdb_send(struct gdb *gdb, enum gdb_class class, const char *command, gdb_answer *answer,
              void *arg);
/* What Ctrl-C does. */
void gdb_interrupt(struct gdb *gdb);
bool gdb_is_busy(const struct gdb *gdb);
int gdb_pid(const struct gdb *gdb);

#endif
