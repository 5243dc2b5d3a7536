/* inbox.h - the supervisor's side of a mailbox: the only way in.
 *
 * SPDX-License-Identifier: MIT
 *
 * A replaying process may be a stranger's. It can write to its mailbox whenever it likes, also
 * while it is our turn, and so can a copy of it. So no other file of the supervisor sees that
 * memory. Here every byte of it is read once, into memory of our own, and checked there; what does
 * not pass is "the replaying process talks nonsense: WHAT". What callers get are copies that
 * passed.
 *
 * The order of a conversation: inbox_wait() until it is our turn, inbox_take() what was said, then
 * inbox_answer(), inbox_go_on() or inbox_order(), each of which hands the turn over. After an order
 * that was answered with TELL_DONE, the functions below "answers to orders" tell what it brought.
 */
#ifndef DEBUG_INBOX_H
#define DEBUG_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "debug/messages.h"

struct inbox;
struct program_registers;
struct program_thread;
struct program_map;

/* The most that one DO_READ or DO_WRITE moves, and one DO_MAPS lists. */
enum { INBOX_PIECE = 1 << 20, INBOX_MAPS = 1024 };

/* With `copies` more mailboxes can be had beside it, in the same descriptor. */
struct inbox *inbox_new(bool copies, struct err *err);
struct inbox *inbox_beside(struct inbox *other, struct err *err);
void inbox_free(struct inbox *in); /* NULL is allowed */

int inbox_fd(const struct inbox *in);
unsigned inbox_number(const struct inbox *in); /* in the descriptor */
uint64_t inbox_bytes(void);                    /* of one mailbox */

/* What the process finds when it starts. */
struct inbox_settings {
    uint64_t reserved_bytes;
    uint32_t files_fd, box_fd;
    uint64_t chunk, offset, records, ticks;
    const uint8_t *leads_to; /* MAILBOX_FDS; NULL: none */
};
void inbox_set(struct inbox *in, const struct inbox_settings *settings);

/* ---- whose turn it is ---- */

bool inbox_wait(struct inbox *in);             /* a little; false: it is not ours yet */
bool inbox_wait_briefly(struct inbox *in);     /* a tenth of that */
bool inbox_ours(const struct inbox *in);       /* is it our turn? */
void inbox_pause(struct inbox *in, bool wish); /* a running process shall stop soon */
void inbox_flush(struct inbox *in);            /* a living program shall hand its log over soon */

/* ---- what was said ---- */

/* Points into memory of the inbox, good until the next inbox_take(). */
struct inbox_message {
    enum mailbox_ask ask;
    uint64_t number;     /* ASK_CHUNK, ASK_FILE */
    const uint8_t *data; /* TELL_JOURNAL, TELL_RECORDS; TELL_MESSAGE: ends with a zero */
    size_t bytes;        /* of data */
    const struct mailbox_stop *stop; /* TELL_STOP */
    const uint64_t *words;           /* TELL_FLOW */
    const void *notes;
    size_t words_bytes, notes_bytes;
    const void *rows; /* TELL_ROWS: struct probe_taken each */
    size_t rows_bytes;
};

/* -1: nonsense. */
int inbox_take(struct inbox *in, struct inbox_message *out, struct err *err);

/* The next entry of a journal, whose place is *at; 0 is the first. 1: there is one; 0: no more. */
int inbox_entry(const struct inbox_message *m, size_t *at, struct mailbox_entry *entry,
                const void **text);

void inbox_go_on(struct inbox *in);
void inbox_answer(struct inbox *in, uint64_t arg0, uint64_t arg1, const void *data, size_t bytes);

/* ---- orders ---- */

struct inbox_order {
    enum mailbox_command what;
    uint64_t arg[2];
    const void *data; /* at most inbox_room() */
    size_t bytes;
};
void inbox_order(struct inbox *in, const struct inbox_order *order);
size_t inbox_room(void);

/* ---- answers to orders ---- */

/* Whatever it is: the i-th number of the process's answer. */
uint64_t inbox_result(const struct inbox *in, unsigned i);
/* Nonzero if it was done. */
int inbox_done(const struct inbox *in, bool *done, struct err *err);
/* DO_READ of `asked` bytes: how many came. */
int inbox_read(struct inbox *in, void *out, size_t asked, size_t *got, struct err *err);
int inbox_written(struct inbox *in, size_t asked, size_t *put, struct err *err);
/* 1; 0: there is no such thread. */
int inbox_registers(struct inbox *in, uint32_t thread, struct program_registers *out,
                    struct err *err);
/* Up to `room`, in the order in which they were made; *count and *made tell how many there are and
 * were. */
int inbox_threads(struct inbox *in, struct program_thread *out, size_t room, size_t *count,
                  uint32_t *made, struct err *err);
int inbox_trail(struct inbox *in, struct mailbox_moment *out, size_t *count, struct err *err);
/* A piece of the list, all of it above `above`; room for INBOX_MAPS. */
int inbox_maps(struct inbox *in, uint64_t above, struct program_map *out, size_t *count,
               struct err *err);

#endif
