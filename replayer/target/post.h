/* post.h - the mailbox, and the commands that come through it. SPDX-License-Identifier: MIT */
#ifndef REPLAYER_TARGET_POST_H
#define REPLAYER_TARGET_POST_H

#include "debug/mailbox.h"
#include "engine/core/thread.h"

struct mailbox *post_box(void);
void post_ask(enum mailbox_ask op);
struct thread *post_thread(uint64_t number); /* NULL: there is none */
/* The replay stops here; comes back when it is told to go on. */
void post_stop(struct thread *t, struct mailbox_stop *why);
/* The same for `reason`, with the thread's position. */
void post_stop_for(struct thread *t, enum stop_kind reason, struct mailbox_stop *why);
_Noreturn void post_diverged(struct thread *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void post_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool post_verifies(void);

#endif
