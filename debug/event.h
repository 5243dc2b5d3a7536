/* event.h - what a program did, by kinds. SPDX-License-Identifier: MIT
 *
 * Included by code inside the target and outside; no libc.
 */
#ifndef DEBUG_EVENT_H
#define DEBUG_EVENT_H

enum event_kind {
    EVENT_CALL = 1, /* a system call */
    EVENT_SIGNAL,
    EVENT_THREAD, /* a thread begins */
    EVENT_OUTPUT, /* to standard output or error */
    EVENT_EXEC,
    EVENT_MARK,   /* the program is at a mark of its own */
    EVENT_EXIT,   /* a thread ends */
    EVENT_END,    /* the program ends */
    EVENT_SWITCH, /* another thread goes on */
};

/* Why a thread's turn is over. */
enum switch_why {
    SWITCH_SLICE = 1, /* it had run long enough */
    SWITCH_SPINS,     /* it only waited for others, in a loop */
    SWITCH_CALL,      /* it waits in a system call */
    SWITCH_EXIT,      /* it ended */
};

#endif
