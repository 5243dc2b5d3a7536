/* signals.c - GDB's numbers for signals. SPDX-License-Identifier: MIT */
#include "debug/gdbstub/signals.h"

enum { CLASSIC = 32, REALTIME_LAST = 64 };

/* By Linux's number for x86-64. SIGSTKFLT has none. */
static const unsigned char classic[CLASSIC] = {
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    10, /* HUP INT QUIT ILL TRAP ABRT BUS */
    8,
    9,
    30,
    11,
    31,
    13,
    14,
    15, /* FPE KILL USR1 SEGV USR2 PIPE ALRM TERM */
    SIGNALS_UNKNOWN,
    20,
    19,
    17,
    18,
    21,
    22,
    16, /* STKFLT CHLD CONT STOP TSTP TTIN TTOU URG */
    24,
    25,
    26,
    27,
    28,
    23,
    32,
    12, /* XCPU XFSZ VTALRM PROF WINCH IO PWR SYS */
};

int signals_to_gdb(int linux_signal)
{
    if (linux_signal < 0 || linux_signal > REALTIME_LAST)
        return SIGNALS_UNKNOWN;
    if (linux_signal < CLASSIC)
        return classic[linux_signal];
    if (linux_signal == 32)
        return 77;
    return linux_signal == REALTIME_LAST ? 78 : linux_signal - 33 + 45;
}

int signals_from_gdb(int gdb_signal)
{
    for (int i = 1; i <= REALTIME_LAST; i++)
        if (signals_to_gdb(i) == gdb_signal && gdb_signal != SIGNALS_UNKNOWN)
            return i;
    return 0;
}
