/* exec.h - execve of the target: the new program comes under the engine too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ENGINE_START_EXEC_H
#define ENGINE_START_EXEC_H

#include "engine/core/thread.h"

void exec_init(gaddr image, const char *options);

long exec_execve(struct thread *t, long *a);
long exec_execveat(struct thread *t, long *a);

#endif
