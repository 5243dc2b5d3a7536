/* executed.h - which kept files of a recording were code.
 *
 * SPDX-License-Identifier: MIT
 *
 * A program may map any file to read it, a stranger's ELF file, too. The names in debug information
 * count only for files that it mapped to be executed.
 */
#ifndef PINBALL_EXECUTED_H
#define PINBALL_EXECUTED_H

#include "pinball/pinball.h"

/* Sets is[n] for each kept file n < pinball_files() that was mapped executable. Reads all events.
 */
int executed_find(struct pinball *pinball, bool *is, struct err *err);

#endif
