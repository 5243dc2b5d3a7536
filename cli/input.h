/* input.h - standard input that several runs of a program get, each from its begin.
 *
 * SPDX-License-Identifier: MIT
 *
 * A file is read from the same offset again. What comes through a pipe or socket is kept, as far
 * as a run had any of it, and given to the next run through a pipe by a process of its own: that
 * waits for more when the program has read what is there, so nobody has to wait for the end of
 * the input. A terminal, and any other device, is the same for all runs.
 *
 *     input_open(&input); for each run { input_give(&input, &err); ...; input_take(&input); }
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct input {
    int64_t offset; /* of a file; -1: it is none */
    int source;     /* of a pipe or socket: what was standard input; -1: it is none */
    int kept;       /* what was read from there so far */
    int control;    /* the feeding process ends when this is closed */
    pid_t feeder;
};

int input_open(struct input *input, struct err *err);
int input_give(struct input *input, struct err *err);
void input_take(struct input *input);

#endif
