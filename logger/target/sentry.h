/* sentry.h - ends a part of the run while all threads sleep.
 *
 * SPDX-License-Identifier: MIT
 *
 * Time and keys fire while the program may be asleep in the kernel, for hours. A sentry is a
 * process that shares the program's memory and waits for the recorder; as a twin (engine/os/twin.h)
 * it is a child of the recorder and not the program's. If no thread has the baton when the recorder
 * wakes it, it ends the part for them: no system call is interrupted.
 */
#ifndef LOGGER_TARGET_SENTRY_H
#define LOGGER_TARGET_SENTRY_H

#include "engine/rt/types.h"

/* `wanted` says whether there is something to do, `act` does it with the baton kept from everybody.
 * Where the kernel refuses a process there is no sentry, and the part ends when a thread wakes up.
 */
void sentry_start(bool (*wanted)(void), void (*act)(void *arg));

/* The program that was here before an execve has none any more. */
void sentry_replace(void);

#endif
