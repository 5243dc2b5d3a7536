/* record_head.h - what all records have: a kind, and where a thread is. SPDX-License-Identifier:
 * MIT
 *
 * Part of record.h, which others include.
 */
#ifndef PINBALL_RECORD_HEAD_H
#define PINBALL_RECORD_HEAD_H

#include <stdint.h>

enum record_kind {
#define RECORD(name, number, type, count, text) RECORD_##name = (number),
#include "pinball/records.def"
#undef RECORD
    RECORD_KINDS /* all are smaller; not every smaller number is one */
};

/* Every record begins with this; `bytes` counts all of it, a multiple of 8. */
struct record {
    uint8_t kind;
    uint8_t flags;
    uint16_t nr; /* RECORD_CALL: the system call */
    uint32_t bytes;
};

/* SKIPPABLE: kinds from here on are for what a replay can do without. A reader that does not know
 * one skips it; smaller kinds that are unknown are refused. */
enum { RECORD_MAX_BYTES = 48 << 10, RECORD_SKIPPABLE = 128 };

/* Where a thread is: it comes right behind the head of all kinds that have one (record_at.h). */
struct record_at {
    uint64_t count, pc; /* ticks so far; the next instruction */
    union {
        uint64_t hash;   /* of the thread's registers there */
        uint64_t ranges; /* RECORD_MEMORY: so many struct memory_sum follow */
    };
};

/* RECORD_START, SWITCH, CHECK, THREAD, BEGIN and END may have the time behind their struct: a
 * monotonic clock in nanoseconds. Nothing but a reader's `~` depends on it. */
enum { RECORD_TIME_BYTES = 8 };

_Static_assert(sizeof(struct record) == 8, "record");

#endif
