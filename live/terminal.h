/* terminal.h - the terminal, shared by a program and its debugger.
 *
 * SPDX-License-Identifier: MIT
 *
 * While the program runs it is in the foreground, with its own settings: keys are its own, and one
 * that would interrupt it stops it for the debugger. While it stands still the debugger has what it
 * had.
 */
#ifndef LIVE_TERMINAL_H
#define LIVE_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
    int fd;                  /* -1: there is none, or it is not ours to give */
    pid_t debugger, program; /* the groups in the foreground; 0: not known yet */
    struct termios of_debugger, of_program;
    bool given, has_program;
};

/* `fd` is the program's standard input: it counts if it is the terminal that controls us. */
void terminal_open(struct terminal *t, int fd);
void terminal_close(struct terminal *t);
/* To the program's group, or to the one that it put there itself, as a shell does. */
void terminal_give(struct terminal *t, pid_t group);
void terminal_take(struct terminal *t);

#endif
