/* forks.h - child processes: GDB's `catch fork` and `catch vfork`.
 *
 * SPDX-License-Identifier: MIT
 *
 * A child process is not in the recording. GDB is told that one was made, and lets it go.
 */
#ifndef DEBUG_GDBSTUB_FORKS_H
#define DEBUG_GDBSTUB_FORKS_H

#include "debug/debuggee.h"
#include "debug/gdbstub/args.h"

struct server;

struct forks {
    bool wanted;               /* somebody wants to know of them */
    bool sought;               /* ... and what runs now stops for them */
    bool elsewhere;            /* packets are about another process than the recorded one */
    bool done_due, rest_due;   /* to be told next: a vfork is over; `rest` */
    uint32_t step;             /* the thread that GDB steps, forwards; 0: none */
    struct debuggee_stop rest; /* where the last one was, as what it is told once more */
};

void forks_begin_session(struct server *s);
/* Before something runs; a step: of which thread. */
void forks_seek(struct server *s, bool step, bool back, uint32_t thread);
void forks_put(const struct server *s, struct debuggee_stops *stops);
/* It is a stop at a call that might have made a child, which nobody wants. */
bool forks_passes(struct server *s, const struct debuggee_stop *stop);
bool forks_report(struct server *s, const struct debuggee_stop *stop); /* false: it is none */
bool forks_report_rest(struct server *s); /* false: nothing is left to be told */
void forks_drop_rest(struct server *s);
void forks_end_step(struct server *s); /* GDB has stopped for its user */
void forks_select(struct server *s, const struct args *id);
bool forks_is_other(struct server *s, struct args *pid); /* `;PID` */
bool forks_answer(struct server *s, char packet);        /* false: it is about the recording */

#endif
