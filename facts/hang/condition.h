/* condition.h - the memory that decides whether a thread goes on waiting.
 *
 * SPDX-License-Identifier: MIT
 *
 * A thread that waits for a condition does so in a loop, which looks at variables when the wait is
 * over: `while (!ready) pthread_cond_wait(...)`. The code behind the wait is tried on memory as it
 * is at the end (ahead.h), until it would wait again or has left the loop. What its branches
 * compared is what the thread waits for. A watchpoint finds who wrote that last.
 */
#ifndef FACTS_HANG_CONDITION_H
#define FACTS_HANG_CONDITION_H

#include "facts/hang/hang_int.h"

/* Fills in what all threads that wait for a condition wait for. */
int condition_find_all(struct hang_job *j, struct err *err);

#endif
