/* jobs.h - families of replaying processes stop with this process.
 *
 * SPDX-License-Identifier: MIT
 *
 * While the user has stopped drdebug (Ctrl-Z), nobody would watch what replaying processes take:
 * they are process groups of their own, which the terminal does not stop. So they are stopped
 * first, and go on after it. SIGSTOP itself cannot be caught: then they run on.
 */
#ifndef REPLAYER_JOBS_H
#define REPLAYER_JOBS_H

#include <sys/types.h>

/* If there are more than JOBS_MOST groups, the rest run on. */
enum { JOBS_MOST = 256 };

void jobs_add(pid_t group);
void jobs_remove(pid_t group); /* before its number can be another's */

#endif
