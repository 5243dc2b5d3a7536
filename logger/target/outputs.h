/* outputs.h - which descriptors lead to standard output and error.
 *
 * SPDX-License-Identifier: MIT
 *
 * A replay follows 1 and 2 through dup and its kind by itself. It cannot know that a file which the
 * program opens (/dev/tty, /dev/stdout, /proc/self/fd/1, /dev/pts/3) is the same terminal, pipe or
 * file.
 */
#ifndef LOGGER_TARGET_OUTPUTS_H
#define LOGGER_TARGET_OUTPUTS_H

/* 1 or 2 if what is written to fd appears where drdebug's own standard output or error goes; 2 also
 * for the terminal that is neither. 0: it does not. */
int outputs_of(int fd);

/* For a program that begins: outputs_begin(), then each descriptor that it has inherited. */
void outputs_begin(void);

/* Where a descriptor leads to, in the middle of a run: 1, 2, or 0: neither. */
int outputs_now(int fd);
void outputs_inherited(int fd);

/* Calls fn for each descriptor that a call got with its messages (SCM_RIGHTS). */
void outputs_received(long nr, const long a[6], long result, void (*fn)(int fd));

/* The same as outputs_of() for the descriptor that a call has made; 0 if it did not open one for
 * writing. */
int outputs_opened(long nr, const long a[6], long result);

#endif
