/* region.h - a recording of a part of the run: what it begins and ends with.
 *
 * SPDX-License-Identifier: MIT
 *
 * Before the part begins, `session` is session_waiting: nothing is logged, and the hooks below look
 * for the trigger. Then it is session_record, whose hooks look for the other one.
 */
#ifndef LOGGER_TARGET_REGION_H
#define LOGGER_TARGET_REGION_H

#include "engine/core/session.h"
#include "pinball/trigger.h"

/* Whether the recording is of a part; then the caller leaves all to session_waiting. */
bool region_prepare(void);

void region_start(struct thread *t); /* before the first instruction */

/* What happens in the part, told by session_record before it notes it. True: the part has ended
 * right before, and nothing is to be noted in it; if region_is_on(), in the next one, which begins
 * here. */
bool region_is_on(void);
void region_signal_again(struct thread *t, const struct siginfo_raw *info); /* if it is on */
bool region_tick(struct thread *t);
void region_running(struct thread *t); /* it has got the baton, and that is noted */
void region_forked(void);              /* in the child, which is not recorded */
void region_exec(void);                /* before an execve */
bool region_call(struct thread *t, long nr);
bool region_signal(struct thread *t, int sig);
void region_called(const struct thread *t, long nr, long result); /* and that is noted */
/* For a part that may follow. */
bool region_more(void);
void region_leaves(struct thread *t);
void region_thread(struct thread *t, struct thread *child);
bool region_mark(struct thread *t, enum mark_kind kind, const char *text, size_t bytes);

/* A part that a debugger asks for (TRIGGER_ASKED), where the program has stopped. t: the thread
 * that has, outside a system call; NULL: all wait, or are in calls. */
enum trigger_answer region_ask(struct thread *t, bool on);

/* Whom to tell which table is the recorder's from now on, if a session stands on top of it; NULL:
 * it becomes `session`. */
extern void (*region_turns)(const struct session *now);

#endif
