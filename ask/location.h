/* location.h - memory that a question is about, in the user's words.
 *
 * SPDX-License-Identifier: MIT
 *
 * `WHAT [at WHERE]` as criterion.h has it: an expression whose value is in memory, or `0xADDRESS
 * BYTES`. A variable of a function is meant as long as the function's frame is there.
 */
#ifndef ASK_LOCATION_H
#define ASK_LOCATION_H

#include "ask/question.h"
#include "source/types.h"
#include "trace/touch.h"

enum { LOCATION_RANGES = 16, LOCATION_TEXT = 1024, LOCATION_LEADS = 4 };

struct chain;

struct location {
    char what[LOCATION_TEXT];
    struct touch_range range[LOCATION_RANGES]; /* the value's bytes first, ... */
    size_t ranges;
    gaddr pc;               /* where it is visible, and ... */
    gaddr cfa;              /* ... the frame; 0: not known */
    uint64_t first, behind; /* instructions in whose time it is meant */
    struct position end;    /* of `behind`; thread 0: the end of the trace */
    bool local;
    bool computed;                 /* it is no place: the ranges are what it is made from */
    struct source_type type;       /* of the first range, if there is one only */
    uint32_t bit, bits;            /* of a bit-field */
    uint64_t lead[LOCATION_LEADS]; /* where in it pointers to strings are */
    size_t leads;
};

/* The words behind the question. */
int location_find(struct asking *q, struct location *out, struct err *err);

/* The same of an expression that is evaluated anew at each moment: there are no ranges. To be
 * freed; NULL with *err set. */
struct chain *location_chain(struct asking *q, struct location *out, struct err *err);

/* What is at that address: `node.next`; an address where nothing is known. */
void location_name(struct asking *q, const struct location *l, gaddr addr, uint64_t bytes,
                   char *buf, size_t room);
/* Bytes as the type of what is at that address, else as a number or bytes. */
void location_value(struct asking *q, const struct location *l, gaddr addr, const void *value,
                    size_t bytes, char *buf, size_t room);
/* The place of an instruction. */
void location_place(struct asking *q, unsigned column, gaddr pc);
/* The same; of what is inlined from headers of the system, the user's line that called it. */
void location_own(struct asking *q, unsigned column, gaddr pc);
/* The system call or signal that an access is of; empty: an instruction did it. */
void location_by(struct asking *q, unsigned column, const struct touch *t);

#endif
