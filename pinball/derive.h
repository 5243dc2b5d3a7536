/* derive.h - begin a pinball that is made from another one. SPDX-License-Identifier: MIT
 *
 * The new one says of program and machine what the old one says, and keeps the same files under the
 * same numbers. Events and end are the caller's to write. It has the user's seal only if the old
 * one has: what a stranger's recording keeps stays a stranger's.
 */
#ifndef PINBALL_DERIVE_H
#define PINBALL_DERIVE_H

#include "pinball/pinball.h"
#include "pinball/writer.h"

/* `more`: lines for the head (text.h). The directory must not be there (err->code EEXIST). */
struct writer *derive_new(struct pinball *from, const char *dir, const struct text *more,
                          struct err *err);

#endif
