/* group.h - the recorder among the processes of the program's group.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recorder is in the program's process group and in the shell's view stands for the program. A
 * signal to the group (keys of the terminal, kill(0), a shell's kill %1) reaches both, and is the
 * program's business. A signal to the recorder alone is meant for the program, too: the recorder
 * passes it on. When the program stops, the recorder stops in the same way, so that a shell sees
 * it.
 *
 * One recording at a time; its process has one thread. Several may follow each other.
 */
#ifndef LOGGER_GROUP_H
#define LOGGER_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From here on no signal that can be caught ends this process. Signals are blocked until
 * group_begin(). After group_pause() it goes on as it was. */
void group_take(void);
/* Each one raises *bell. */
void group_bell(uint32_t *bell);
/* In the child that becomes the program: signals are as this process found them. */
void group_give_back(void);
/* The program is there: signals may come. */
void group_begin(pid_t program);

/* From now on this signal is not passed on, but counted: group_keys(). 0: none is. */
void group_key(int sig);
unsigned group_keys(void);

/* Passes on the signals that only this process got. */
void group_pass_on(pid_t program);
/* The program was stopped by `sig`: so is this process, with *paused set meanwhile, until somebody
 * continues it or the program. */
void group_stop(pid_t program, int sig, uint32_t *paused);

/* The program has ended: what is left to do is short, and signals are ignored. Otherwise they are
 * as this process found them. */
void group_leave(bool ended);
/* The program has ended, and another one may follow, with group_take(): no signal ends this
 * process, and none is passed on. */
void group_pause(void);

/* The last signal, since the first group_take(), with which somebody else than the program asked
 * this process or its group to end: SIGINT, SIGTERM, SIGHUP or SIGQUIT, unless it was ignored from
 * the start. 0: none. */
int group_interrupted(void);

#endif
