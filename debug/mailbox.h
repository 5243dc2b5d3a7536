/* mailbox.h - the memory through which the replaying process and its supervisor talk.
 *
 * SPDX-License-Identifier: MIT
 *
 * One piece of shared memory. At any time one side has the turn: the other waits for it. The
 * replaying process asks for log chunks and file contents, hands over output, and tells that it has
 * stopped; the answer to that last one is the next command. The supervisor must not trust anything
 * in here, not even to stay as it is: inbox.c alone reads it, every byte once.
 *
 * Included by code inside the target and by inbox.c; no libc.
 */
#ifndef DEBUG_MAILBOX_H
#define DEBUG_MAILBOX_H

#include <stdint.h>

#include "debug/flow.h"
#include "debug/messages.h"
#include "debug/probe.h"

struct mailbox_map {
    uint64_t start, end;
    uint32_t prot, shared;
    int64_t file; /* number of a kept file, -1: none */
    uint64_t offset;
};

struct mailbox_thread {
    uint32_t number;
    int32_t tid;
    char name[16];
};

enum mailbox_turn { TURN_TARGET, TURN_HOST };

enum {
    MAILBOX_DATA_BYTES = 8 << 20,
    MAILBOX_JOURNAL_BYTES = 64 << 10, /* the most that TELL_JOURNAL tells at a time */
    MAILBOX_RECORDS_BYTES = 1 << 20,  /* ... TELL_RECORDS */
    MAILBOXES = 256,
};

struct mailbox {
    uint32_t turn;  /* futex */
    uint32_t pause; /* asked of a running process: stop soon */
    uint32_t flush; /* asked of a living program: hand the log over soon */
    uint32_t op;    /* enum mailbox_ask or mailbox_command */
    uint64_t arg[6];
    /* Settings, before the start. */
    uint64_t reserved_bytes;                /* below the runtime */
    uint32_t files_fd, box_fd;              /* box_fd: 0 unless copies may be made */
    uint64_t chunk, offset, records, ticks; /* where in the log to begin, and what was before */
    uint8_t leads_to[MAILBOX_FDS];          /* descriptors: 1 and 2 for standard output and error */
    uint8_t data[MAILBOX_DATA_BYTES] __attribute__((aligned(4096)));
    /* A trace (flow.h); behind the words there is room for one more record. */
    uint8_t flow_words[FLOW_WORDS_BYTES + FLOW_WORDS_SLACK], flow_notes[FLOW_NOTES_BYTES];
    uint8_t rows[PROBE_ROWS_BYTES]; /* what probes took (probe.h) */
};

#endif
