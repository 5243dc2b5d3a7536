/* hostsig.h - what the kernel calls when a signal arrives.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_OS_HOSTSIG_H
#define ENGINE_OS_HOSTSIG_H

#include "engine/os/kernel.h"

void hostsig_handler(int sig, struct siginfo_raw *info, struct kucontext *uc);
void hostsig_setup_stack(struct thread *t); /* for the calling kernel thread */

#endif
