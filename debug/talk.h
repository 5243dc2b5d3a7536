/* talk.h - orders to a process that is stopped, and what they bring.
 *
 * SPDX-License-Identifier: MIT
 *
 * The same for a replaying process and a living one; each has its own way to give an order and to
 * wait until it is done. All that comes back was checked (inbox.h).
 */
#ifndef DEBUG_TALK_H
#define DEBUG_TALK_H

#include "debug/inbox.h"
#include "debug/program.h"

struct talk {
    struct inbox *inbox;
    int (*order)(void *arg, const struct inbox_order *order, struct err *err);
    void *arg;
};

/* struct mailbox_stops and what follows it. */
int talk_set_stops(const struct talk *t, const void *stops, size_t bytes, struct err *err);
int talk_set_registers(const struct talk *t, uint32_t thread, const struct program_registers *regs,
                       struct err *err);
/* Thread 0 is the running one. */
int talk_registers(const struct talk *t, uint32_t thread, struct program_registers *out,
                   struct err *err);
/* Is `thread` there (0), over (1), or not made yet (-1)? *registers are its own if it is there. */
int talk_thread_state(const struct talk *t, uint32_t thread, struct program_registers *registers,
                      int *state, struct err *err);
/* Returns how many there are, which may be more than room. */
size_t talk_threads(const struct talk *t, struct program_thread *out, size_t room);
/* Return how many bytes were moved, from the first on. */
size_t talk_read(const struct talk *t, uint64_t addr, void *out, size_t bytes);
size_t talk_write(const struct talk *t, uint64_t addr, const void *bytes, size_t n);

#endif
