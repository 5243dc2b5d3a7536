/* debuggee_fake.h - a program that is made up, to test those who use one.
 *
 * SPDX-License-Identifier: MIT
 *
 * A double behind debug/debuggee.h. The program is a number of steps, and all of its state follows
 * from the step:
 *
 *     thread     1 for ten steps, 2 for ten, ...
 *     pc         0x401000 + 4 * (step % 25); count is step / 25, ticks are steps
 *     rax        the step; rsp FAKE_RSP; other registers their number
 *     memory     code, data, stack; the data's first word is step / 7: a write at every 7th
 *     events     a call (write, 1) at every 20th step; output at steps 30 and 40
 *     signal     SIGSEGV at step 60
 *     exec       at step 150
 *
 * A copy knows four functions. There is one program at a time.
 */
#ifndef TESTS_UNIT_DEBUGGEE_FAKE_H
#define TESTS_UNIT_DEBUGGEE_FAKE_H

#include "debug/debuggee.h"

enum {
    FAKE_STEPS = 200,
    FAKE_SIGNAL_STEP = 60,
    FAKE_EXEC_STEP = 150,
    FAKE_PID = 0x4d2,
    FAKE_CODE = 0x401000,
    FAKE_DATA = 0x601000, /* followed by thread-local structures */
    FAKE_TLS = 0x602000,
    FAKE_STACK = 0x7ffe0000,
    FAKE_RSP = 0x7ffeff00,
    FAKE_PAGES_BYTES = 0x1000,
    FAKE_STACK_BYTES = 0x10000,
    /* Functions: add its arguments; return FAKE_BLOCK; crash; exit. */
    FAKE_ADD = 0x401800,
    FAKE_MALLOC = 0x401810,
    FAKE_CRASH = 0x401820,
    FAKE_EXIT = 0x401830,
    FAKE_BLOCK = 0x601800,
    /* In the thread-local structures. */
    FAKE_LINK_MAP = 0x602800,
    FAKE_DESCRIPTORS = 0x602900, /* five, 16 bytes apart, in the order of tls.c */
};

/* What was asked of it, and how it shall answer. */
struct fake {
    unsigned step;
    int stops_given;             /* calls of debuggee_stops() */
    struct debuggee_stops stops; /* the last ones, without what they point to */
    uint64_t pcs[16];
    uint32_t condition_bytes[16];
    uint32_t stepped_thread;
    uint64_t low, high;
    bool diverge;   /* the next move fails */
    bool interrupt; /* the next move is interrupted, if its caller wants that */
    bool exists, parked;
    int diversions;
    bool no_tls;
    size_t events; /* a list of the test's own, in place of the program's */
    const struct debuggee_event *event;
};

extern struct fake fake;

/* For server_options. */
int fake_open(void *arg, const struct debuggee_listener *listener, struct debuggee *out,
              struct err *err);

unsigned fake_step_of(const struct position *at); /* FAKE_STEPS + 1: none */
struct position fake_at(unsigned step);

#endif
