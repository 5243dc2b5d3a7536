/* summary.h - what a recording amounts to: the text of `end`.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recorder adds every chunk that it writes; recover.h does the same with those it finds.
 * Records may be anything that records.h lets pass.
 */
#ifndef PINBALL_SUMMARY_H
#define PINBALL_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pinball/record.h"
#include "pinball/ring.h"
#include "pinball/text.h"

enum { SUMMARY_MARKS = 64 }; /* so many are listed */

struct summary_mark {
    uint32_t thread;
    uint64_t count, pc;
    unsigned kind;
    char *text;
};

struct summary_thread {
    uint32_t thread;
    uint64_t count; /* largest that was seen */
};

/* {0} is an empty one. */
struct summary {
    uint64_t records, signals;
    struct summary_thread *thread; /* by number */
    size_t threads;
    uint32_t running;
    uint64_t count, pc;    /* of the last position that was noted, the running thread's */
    uint64_t before, last; /* ticks: of programs before execve, and as RECORD_END says them */
    uint64_t at_least;     /* ... and as summary_last() does */
    bool ended;            /* RECORD_END was seen, and set: */
    uint32_t reason;       /* enum end_reason; the caller's to set if !ended */
    int32_t status;
    bool in_middle; /* it begins in the middle of a run: there, with so many ticks before */
    struct summary_thread begin;
    uint64_t begin_pc, begin_ticks;
    uint64_t gaps, left_out; /* and the instructions that these leave out */
    uint64_t changes;        /* that a debugger made to memory and registers */
    uint64_t marks;          /* that the program was at; the first ones are listed */
    struct summary_mark mark[SUMMARY_MARKS];
    uint64_t isa; /* as in struct ring; the caller's to set */
};

/* Whole records, as records_check() passes them. */
void summary_add(struct summary *summary, const void *records, size_t bytes);
uint64_t summary_ticks(const struct summary *summary); /* of all threads */
/* What the ring says of a recording that has no RECORD_END. */
void summary_last(struct summary *summary, const struct ring_last *last);
/* Keys reason, status, threads, ticks, records, signals, isa; gaps, changes and marks if there
 * are any; begin and begin_ticks of a part. */
void summary_text(const struct summary *summary, struct text *text);
void summary_deinit(struct summary *summary);

#endif
