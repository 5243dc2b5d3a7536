/* trigger.h - what recorded parts of a run begin and end with. SPDX-License-Identifier: MIT
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
    TRIGGER_NAME,   /* text: the recorder says which addresses that means (struct ring_place) */
    TRIGGER_CALL,   /* number: of the system call */
    TRIGGER_SIGNAL, /* number: of the signal, sent or raised by a fault */
    TRIGGER_MARK,   /* number: the kind (marks.h), with this text */
    TRIGGER_FIRED,  /* the recorder says when, by `fired`: time, a key */
    TRIGGER_ASKED,  /* a debugger says when, where the program has stopped */
};

/* To a debugger. */
enum trigger_answer {
    TRIGGER_MET,
    TRIGGER_LATER,   /* when the program goes on: no thread is where it could be noted */
    TRIGGER_ALREADY, /* it is recorded, or is not, as it is asked for */
    TRIGGER_NO_MORE, /* parts */
};

struct trigger {
    uint32_t kind; /* enum trigger_kind */
    uint32_t fired;
    uint64_t number;
    uint64_t times; /* the n-th time it happens, from 1 on */
    char text[256];
};

enum { TRIGGER_PARTS = 16, TRIGGER_MOST = 2 * TRIGGER_PARTS };

/* `to` may be TRIGGER_NONE: to the program's end. */
struct trigger_part {
    struct trigger from, to;
    uint64_t length; /* ends after so many instructions of the first thread; 0: no such end */
};

/* What a process has done until now: its next program counts on. */
struct trigger_counts {
    uint64_t met[TRIGGER_MOST]; /* times that the event of each trigger happened: trigger_of() */
    uint64_t executed;          /* instructions of the first thread */
    uint64_t ticks;             /* of programs before */
};

/* The parts of a run, one after the other. */
struct trigger_region {
    uint32_t parts;               /* 0: all of the run is recorded */
    uint32_t ready;               /* the recorder is ready for so many of them */
    uint32_t begun;               /* the program says that it has met so many `from` ... */
    uint32_t ended;               /* ... and so many `to` */
    struct trigger_counts counts; /* until the last execve */
    struct trigger_part part[TRIGGER_PARTS];
};

/* Triggers have numbers: 0 for the first `from`, 1 for the first `to` and so on. */
static inline struct trigger *trigger_of(struct trigger_region *r, uint32_t number)
{
    struct trigger_part *p = &r->part[number / 2];
    return number % 2 ? &p->to : &p->from;
}

#endif
