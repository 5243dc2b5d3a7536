/* stops.h - where to stop.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions that are told what happens stop if that is wanted.
 */
#ifndef DEBUG_TARGET_STOPS_H
#define DEBUG_TARGET_STOPS_H

#include "debug/mailbox.h"
#include "engine/core/thread.h"

struct agent_state;

bool stops_set(const struct mailbox *box);
void stops_run(struct thread *self, const struct mailbox_run *run);
const struct mailbox_what *stops_hit(void);       /* of a scan: the last one */
uint64_t stops_trail(struct mailbox_moment *out); /* at most MAILBOX_TRAIL */
uint64_t stops_ticks(void);                       /* of all threads */
uint64_t stops_budget(void);                      /* ticks that may pass until stops_pause() */
void stops_pause(struct thread *t);
void stops_at_position(struct thread *t); /* a tool that replaces it passes this on */
void stops_end(struct thread *t);         /* right before the recording ends */
void stops_arrived(struct thread *t);     /* right before a switch or signal at a tick */
void stops_new_thread(struct thread *t);
void stops_lost_thread(const struct thread *t);
void stops_wrote(gaddr addr, uint64_t bytes); /* as the kernel */
void stops_entry(struct thread *t, long nr);
void stops_call_waits(struct thread *t); /* it is taken off in the call, or makes it anew */
void stops_call_again(struct thread *t); /* it goes on in the call */
void stops_return(struct thread *t, long nr);
/* The recording leaves instructions out here; and `t` goes on behind them. */
struct gap_thread;
void stops_gap(struct thread *t, const struct gap_thread *changed, uint32_t count);
void stops_behind_gap(struct thread *t);
void stops_signal(struct thread *t, int sig, const void *info); /* info: siginfo or NULL */
bool stops_watches(void);                                       /* is any memory watched? */
bool stops_wants_signal(int sig);
void stops_forget_signal(void); /* the last one was dropped: it may come again */
void stops_signal_always(struct thread *t, int sig, const void *info);
/* A thread as expressions see it, outside a system call. */
struct agent_state stops_agent(struct thread *t);
/* In a diversion: a called function returns to a breakpoint, where nothing can be executed. */
void stops_at_fault(struct thread *t);

#endif
