/* trigger.h - what a recorded part of a run begins and ends with. SPDX-License-Identifier: MIT
 *
 * The recorder tells the program by the ring. Included by code inside the target and outside; no
 * libc.
 */
#ifndef PINBALL_TRIGGER_H
#define PINBALL_TRIGGER_H

#include <stdint.h>

enum trigger_kind {
    TRIGGER_NONE,
    TRIGGER_TICKS,  /* number: of all threads together */
    TRIGGER_ICOUNT, /* number: instructions of the first thread */
    TRIGGER_ADDR,   /* number: the address of an instruction that is executed */
    TRIGGER_CALL,   /* number: of the system call */
    TRIGGER_SIGNAL, /* number: of the signal, sent or raised by a fault */
    TRIGGER_MARK,   /* number: the kind (marks.h), with this text */
    TRIGGER_FIRED,  /* the recorder says when, by `fired`: time, a key */
};

struct trigger {
    uint32_t kind; /* enum trigger_kind */
    uint32_t fired;
    uint64_t number;
    uint64_t times; /* the n-th time it happens, from 1 on */
    char text[256];
};

/* What a process has done until now: its next program counts on. */
struct trigger_counts {
    uint64_t met[2];   /* times that the event of `from` and of `to` happened */
    uint64_t executed; /* instructions of the first thread */
    uint64_t ticks;    /* of programs before */
};

/* A part of a run. `to` may be TRIGGER_NONE: to the program's end. */
struct trigger_region {
    struct trigger from, to;
    uint64_t length; /* ends after so many instructions of the first thread; 0: no such end */
    uint32_t begun;  /* the program says that it has met `from` ... */
    uint32_t ended;  /* ... and `to` */
    struct trigger_counts counts; /* until the last execve */
};

#endif
