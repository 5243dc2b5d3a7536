/* player.h - the parts of the replayer that run in the replaying process.
 *
 * SPDX-License-Identifier: MIT
 *
 * One kernel thread replays all threads of the program. No call here reaches anything outside the
 * process (confine.c sees to it), except through the mailbox.
 */
#ifndef REPLAYER_TARGET_PLAYER_H
#define REPLAYER_TARGET_PLAYER_H

#include "engine/core/thread.h"
#include "pinball/record.h"
#include "replayer/mailbox.h"

/* cursor.c: the event log, one record after the other. */
const struct record *cursor_peek(void); /* NULL: the log ends here */
void cursor_next(void);
void cursor_where(uint64_t *chunk, uint64_t *offset); /* of the next record */
uint64_t cursor_number(void);                         /* records taken so far */
bool cursor_grant(gaddr near, uint64_t bytes, gaddr *start);

/* post.c: the mailbox, and what goes out through it. */
struct mailbox *post_box(void);
void post_ask(enum mailbox_ask op);
void post_output(int fd, gaddr from, uint64_t bytes); /* the program's, at from */
void post_flush(void);
/* The replay stops here; comes back when it is told to go on. */
void post_stop(struct thread *t, struct mailbox_stop *why);
_Noreturn void post_diverged(struct thread *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void post_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool post_verifies(void);
void post_reached(struct thread *t); /* stops if this is the position to stop at */
void post_watch(struct thread *t);   /* a new one: is it the one to stop in? */

/* space.c: the program's address space. */
void space_map(const struct record_map *m);
void space_call(struct thread *t, long nr, const long a[6], int64_t result,
                const struct record_map *map);
void space_write(gaddr addr, const void *bytes, uint64_t n); /* as the kernel would */
void space_resize(const struct record_size *s);
void space_object(const struct record_object *o);
void space_part(void); /* in a copy of this process */
void space_start(const struct record_start *s);
int space_list(int from, struct mailbox_map *out, int room);

/* output.c: which descriptors are standard output and error. */
void output_after(const struct thread *t, long nr, const long a[6], int64_t result);
void output_child(void); /* a process that shares the memory begins, with the same descriptors */
uint8_t *output_table(void); /* MAILBOX_FDS entries */

/* confine.c */
void confine_unmap_others(gaddr keep, gaddr keep_end);
void confine(bool allow_copies);

#endif
