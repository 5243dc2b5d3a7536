/* loop.h - single steps back through a loop. Part of the stub: server_private.h.
 * SPDX-License-Identifier: MIT */
#ifndef DEBUG_GDBSTUB_LOOP_H
#define DEBUG_GDBSTUB_LOOP_H

#include "debug/debuggee.h"

struct server;

struct loop {
    bool wanted;       /* GDB steps by lines, once: it told so */
    unsigned steps;    /* made one after the other */
    unsigned patience; /* ... that are to be made before a loop is looked for */
    uint32_t thread;
    struct position last; /* where the last one began */
    struct stop_edge edges[STOP_MAX_EDGES];
    size_t count;
    bool off;      /* the step gets the thread off a breakpoint, which is out */
    uint64_t mark; /* of the breakpoints that it goes by */
};

void loop_wanted(struct server *s);
void loop_packet(struct server *s, const char *data, size_t n); /* each one, before its answer */
int loop_step_back(struct server *s, uint32_t thread, struct debuggee_stop *stop, struct err *err);

#endif
