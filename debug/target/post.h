/* post.h - the mailbox, and the commands that come through it while the program is stopped.
 *
 * SPDX-License-Identifier: MIT
 *
 * Runs inside the process that is looked into. What is the same for all programs is done here:
 * registers, threads, memory, stops, tools. The rest is the program's own (struct post_program).
 */
#ifndef DEBUG_TARGET_POST_H
#define DEBUG_TARGET_POST_H

#include "debug/mailbox.h"
#include "engine/core/thread.h"

struct instrument;

enum post_answer {
    POST_DONE,     /* the command is done */
    POST_ANSWERED, /* ... and was answered; the next one is there */
    POST_UNKNOWN,
};

struct post_program {
    uint64_t (*events)(void); /* records of the log so far */
    void (*stopping)(void);   /* the supervisor is told of a stop next */
    /* It is to run on: stops_run(), and what else it needs for that. */
    void (*run)(struct thread *self, const struct mailbox_run *how);
    bool (*is_writable)(void); /* registers may be set, and memory below the stack written */
    /* A debugger's changes, if the program is to do them itself; NULL: not. write() returns how
     * many bytes were written, set() is false if it cannot be done. */
    uint64_t (*write)(struct thread *self, gaddr addr, const void *from, uint64_t bytes);
    bool (*set)(struct thread *self, struct thread *t, const struct mailbox_registers *r);
    /* Asked while it waits for the supervisor: is that gone? Then the program goes on. NULL: never.
     */
    bool (*lost)(void);
    const struct instrument *(*tool)(struct thread *self, const char *name); /* NULL: none */
    enum post_answer (*command)(struct thread *t, struct mailbox *box);      /* one of its own */
};

void post_serve(const struct post_program *program); /* before anything else here */

struct mailbox *post_box(void);
void post_ask(enum mailbox_ask op);
struct thread *post_thread(uint64_t number); /* NULL: there is none */
uint64_t post_events(void);                  /* the program's */
/* The program stops here; comes back when it is told to go on. */
void post_stop(struct thread *t, struct mailbox_stop *why);
/* The same for `reason`, with the thread's position. */
void post_stop_for(struct thread *t, enum stop_kind reason, struct mailbox_stop *why);
void post_stop_at(struct thread *t, enum stop_kind reason, enum mailbox_stage stage,
                  struct mailbox_stop *why);
_Noreturn void post_diverged(struct thread *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void post_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
