/* diversion.h - functions that GDB calls, in a throw-away copy.
 *
 * SPDX-License-Identifier: MIT
 *
 * GDB does not announce that it calls a function: it saves a thread's state, writes registers and
 * memory, resumes. This part of the stub is asked at each of these, and says what is refused.
 */
#ifndef DEBUG_GDBSTUB_DIVERSION_H
#define DEBUG_GDBSTUB_DIVERSION_H

#include "debug/debuggee.h"
#include "debug/gdbstub/registers.h"

struct server;

enum { DIVERSION_CALLS = 16, DIVERSION_DEPTH = 63 };

struct diversion_call {
    uint32_t thread; /* 0: none */
    uint64_t from;   /* its pc before */
};

struct diversion {
    unsigned depth; /* states that GDB has saved and not brought back */
    uint64_t begun; /* bits by depth: its call has written to the stack, so registers may follow */
    unsigned calls; /* that are under way, the last one last */
    struct diversion_call call[DIVERSION_CALLS];
    struct diversion_call next;  /* is prepared */
    uint64_t back_to;            /* from where the last one that is over was made */
    uint32_t entered;            /* the thread that was written to first */
    bool fresh;                  /* the copy is of the recording, nothing has run there */
    uint64_t low, high;          /* what was written */
    uint64_t argument, result;   /* the last call's first one; what it returned */
    uint64_t block, block_bytes; /* the same, if it was malloc */
    uint64_t written_bytes;      /* to that block, since */
    struct debuggee_stop stop;
};

void diversion_arm(struct server *s);
void diversion_disarm(struct server *s);
void diversion_release(struct server *s);
void diversion_drop(struct server *s);
int diversion_write(struct server *s, uint64_t addr, const void *bytes, size_t n, struct err *err);
int diversion_set(struct server *s, uint32_t thread, const struct registers *want, struct err *err);
/* A call was prepared, and has not begun; whose turn it is. */
bool diversion_is_prepared(const struct server *s);
uint32_t diversion_thread(const struct server *s);
int diversion_run(struct server *s, uint32_t thread, bool step, struct err *err);

#endif
