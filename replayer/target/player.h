/* player.h - the parts of the replayer that run in the replaying process.
 *
 * SPDX-License-Identifier: MIT
 *
 * One kernel thread replays all threads of the program. No call here reaches anything outside the
 * process (confine.c sees to it), except through the mailbox.
 */
#ifndef REPLAYER_TARGET_PLAYER_H
#define REPLAYER_TARGET_PLAYER_H

#include "debug/mailbox.h"
#include "engine/core/thread.h"
#include "engine/x86/insn.h"
#include "pinball/record_state.h"

/* cursor.c: the event log, one record after the other. */
const struct record *cursor_peek(void); /* NULL: the log ends here */
void cursor_next(void);
void cursor_where(uint64_t *chunk, uint64_t *offset); /* of the next record */
uint64_t cursor_number(void);                         /* records taken so far */
bool cursor_grant(gaddr near, uint64_t bytes, gaddr *start);
void cursor_ranges(void (*fn)(gaddr start, uint64_t bytes)); /* those that were granted so far */

/* post.c: the mailbox. */
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

/* journal.c: what the program did. */
void journal_run(uint64_t flags, uint64_t told_events);
void journal_event(const struct thread *t, enum event_kind kind, int64_t a, int64_t b);
/* False: not all of it is there. */
bool journal_output(const struct thread *t, int fd, gaddr from, uint64_t bytes);
void journal_flush(void);

/* stops.c: where to stop. Those that are told what happens stop if it is wanted. */
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
void stops_signal(struct thread *t, int sig, const void *info); /* info: siginfo or NULL */
void stops_signal_always(struct thread *t, int sig, const void *info);
/* In a diversion: a called function returns to a breakpoint, where nothing can be executed. */
void stops_at_fault(struct thread *t);

/* flow.c: a trace, while its tool is installed. */
struct instrument;
const struct instrument *flow_tool(struct thread *self); /* NULL: this CPU cannot */
void flow_switch(struct thread *from, struct thread *to);
void flow_made(const struct thread *parent, const struct thread *child);
void flow_wrote(gaddr addr, uint64_t bytes); /* as the kernel */
/* again: the runtime has made it anew, nothing of it is in the log */
void flow_called(struct thread *t, long nr, int64_t result, bool again);
void flow_again(struct thread *t); /* in a call that it was taken off in */
void flow_fault(const struct thread *t);

/* gather.c: the elements of a gather or scatter, at most GATHER_MOST; returns how many. -1: it is
 * not known how this one names them. */
enum { GATHER_MOST = 16 };
int gather_elements(struct thread *t, const struct insn *in, const struct insn_operands *ops,
                    const ZydisDecodedOperand *op, struct flow_range *out, bool write);

/* divert.c: this process leaves the log. */
void divert(void);
bool divert_is_on(void);
void divert_go_on(struct thread *t); /* before it runs: a signal may be due */

/* play.c */
void play_become(struct thread *from, struct thread *to); /* another one has the registers */

/* space.c: the program's address space. */
void space_map(const struct record_map *m);
void space_call(struct thread *t, long nr, const long a[6], int64_t result,
                const struct record_map *map);
void space_partly(long nr, const long a[6], const struct record_map *m);
void space_write(gaddr addr, const void *bytes, uint64_t n); /* as the kernel would */
void space_resize(const struct record_size *s);
void space_object(const struct record_object *o);
void space_part(void); /* in a copy of this process */
void space_start(const struct record_start *s);
void space_begin(gaddr heap, gaddr heap_end);   /* it is complete; the heap is here */
bool space_area(int i, struct record_map *out); /* false: there are not so many */
/* Shared memory; *fd is -1 for a number that has none. False: no more numbers. */
bool space_object_get(uint32_t number, int *fd, uint64_t *bytes);
void space_object_make(const struct record_size *s);
int space_list(int from, struct mailbox_map *out, int room);
void space_heap(gaddr *start, gaddr *end);

/* output.c: which descriptors are standard output and error. */
void output_after(struct thread *t, long nr, const long a[6], int64_t result);
/* ... and of a call that opened a descriptor, by the flags of its record. */
void output_opened(struct thread *t, int64_t fd, uint8_t flags);
int64_t output_given(long nr, const long a[6]); /* what a write or writev is to write */
void output_child(void); /* a process that shares the memory begins, with the same descriptors */
void output_inherited(const struct record_output *o);
void output_received(const struct thread *t, const struct record_output *o);
uint8_t *output_table(void);                   /* MAILBOX_FDS entries */
void output_high(void (*fn)(long fd, int to)); /* those that have no entry there */
uint8_t *output_child_table(void);

/* state.c: where a recording begins in the middle. */
void state_tell_space(void); /* to the supervisor */
void state_tell_threads(struct thread *self);
void state_take_process(struct thread *first, const struct record_process *r);
bool state_take_thread(struct thread *first, const struct record_state *s); /* true: the last one */

/* confine.c: what this process may do. Copies are made by clone with these flags alone. */
enum { CONFINE_COPY_FLAGS = 0x8000 /* CLONE_PARENT */ | 17 /* SIGCHLD */, CONFINE_CLOCKS = 15 };
void confine_unmap_others(gaddr keep, gaddr keep_end);
void confine(bool allow_copies);

#endif
