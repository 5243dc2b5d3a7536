/* newest.h - the pinball that a verb is about when none is named.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_NEWEST_H
#define CLI_NEWEST_H

#include <limits.h>

#include "base/err.h"

/* The name of the *.pinball in the working directory that changed last. */
int newest_find(char path[PATH_MAX], struct err *err);

#endif
