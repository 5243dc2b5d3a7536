/* derive.h - begin a pinball that is made from another one. SPDX-License-Identifier: MIT
 *
 * The new one describes program and machine as the old one does, and keeps the same files under the
 * same numbers. The caller writes events and end. It has the user's seal only if the old one has:
 * what a stranger's recording keeps stays a stranger's.
 */
#ifndef PINBALL_DERIVE_H
#define PINBALL_DERIVE_H

#include "pinball/pinball.h"
#include "pinball/writer.h"

/* `more`: lines for the head (text.h). The directory must not be there (err->code EEXIST). */
struct writer *derive_new(struct pinball *from, const char *dir, const struct text *more,
                          struct err *err);

#endif
