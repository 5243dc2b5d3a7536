/* live_program.h - the program of `drdebug live` and `drdebug serve --live`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_LIVE_PROGRAM_H
#define CLI_LIVE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct debuggee;
struct debuggee_listener;
struct engine_options;

#define LIVE_PROGRAM_HELP                                                                                  \
    "  -o DIR             where the recording goes; by default NAME.pinball, with a number if it exists\n" \
    "  --tty PATH         the program's input and output are that terminal's\n"                            \
    "  --on-loss WHAT     if the debugger is killed the program ends (`end`, as by default) or goes on\n"  \
    "                     (`go-on`)\n"                                                                     \
    "  --no-record        nothing is recorded until `pin record on`\n"

enum { LIVE_OPTION_TTY = 512, LIVE_OPTION_LOSS, LIVE_OPTION_NO_RECORD };
#define LIVE_PROGRAM_OPTIONS                                                                       \
    {"tty", required_argument, NULL, LIVE_OPTION_TTY},                                             \
        {"on-loss", required_argument, NULL, LIVE_OPTION_LOSS},                                    \
    {                                                                                              \
        "no-record", no_argument, NULL, LIVE_OPTION_NO_RECORD                                      \
    }

struct live_program {
    char dir[PATH_MAX], path[PATH_MAX];
    const char *named; /* the directory that the user wants; NULL: by the program's name */
    const char *tty;
    bool goes_on, waits;
    char **argv;
    const char *engine;
    int io[3];
};

bool live_program_takes(int option);
/* 0, or -1 after a line that says what is wrong. */
int live_program_option(struct live_program *p, const char *verb, int option, const char *value);
/* Finds the program and a name. Returns -1 to go on, or the status to end with. */
int live_program_parse(struct live_program *p, const struct engine_options *engine, char *argv[]);
/* Its input and output: the terminal, or this process's own, unless those are the debugger's. */
void live_program_io(struct live_program *p, bool own);
int live_program_open(struct live_program *p, uint64_t memory_bytes,
                      const struct debuggee_listener *listener, struct debuggee *out,
                      struct err *err);
void live_program_say(const struct live_program *p); /* what was recorded */

#endif
