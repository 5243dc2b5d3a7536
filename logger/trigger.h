/* trigger.h - what a recorded part of a run begins and ends with, in a user's words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOGGER_TRIGGER_H
#define LOGGER_TRIGGER_H

#include <stdbool.h>

#include "base/err.h"
#include "pinball/trigger.h"

/* A line for each kind. */
#define TRIGGER_HELP                                                                                   \
    "  ticks:N            N ticks of all threads together\n"                                           \
    "  icount:N           N instructions of the first thread (slower until then)\n"                    \
    "  time:SECONDS       so much time since the program's start\n"                                    \
    "  call:NAME[:N]      the N-th call of a system call, over all threads\n"                          \
    "  signal:NAME[:N]    the N-th such signal that is handled or raised by a fault\n"                 \
    "  mark:TEXT[:N]      DRDEBUG_MARK(\"TEXT\") of drdebug.h, the N-th time\n"                        \
    "  region:NAME[:N]    DRDEBUG_REGION_BEGIN(\"NAME\"), and for --to DRDEBUG_REGION_END(\"NAME\")\n" \
    "  func:NAME[:N]      the N-th call of a function, over all threads\n"                             \
    "  line:FILE:N[:TIMES] the n-th time that a breakpoint there would stop\n"                         \
    "  probe:PROVIDER:NAME[:N] a probe of SystemTap's kind, as libstdcxx:throw\n"                      \
    "  addr:0xADDRESS[:N] the N-th execution of the instruction there\n"                               \
    "  key                kill -USR1 to the process of `drdebug record`\n"

/* `number` of a TRIGGER_NAME: what the name is of. */
enum trigger_name { TRIGGER_FUNCTION, TRIGGER_LINE, TRIGGER_PROBE };

/* `begins`: it is the part's begin, else its end. */
int trigger_parse(const char *text, bool begins, struct trigger *out, struct err *err);

/* The number of a signal by name or number; -1: there is none. */
int trigger_signal(const char *text);

#endif
