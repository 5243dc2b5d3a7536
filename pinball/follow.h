/* follow.h - read a recording while it is written.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recorder appends whole chunks, keeps a file before the log names it, and writes `end` last. So
 * a reader beside it sees a recording that is good up to somewhere: whole chunks, up to where the
 * program maps a file that is not kept yet (pinball_missing()). It takes no lock and writes
 * nothing. What is still in the ring comes with a later refresh.
 *
 *     p = follow_open(dir, &err);
 *     while (follow_goes_on(p)) { ...; follow_refresh(p, &err); }
 */
#ifndef PINBALL_FOLLOW_H
#define PINBALL_FOLLOW_H

#include "pinball/pinball.h"

/* As pinball_open(), but of a recording without an end gives what there is so far. A recorder that
 * was killed leaves one, too: pinball_open() puts it in order. err->code ENOENT: nothing is there
 * yet. */
struct pinball *follow_open(const char *path, struct err *err);

/* Takes in what was written since. Chunks keep their numbers and contents; everything else that the
 * pinball's functions returned is void. 1: there is more than before; 0: there is not; -1: only
 * pinball_close() is allowed. */
int follow_refresh(struct pinball *pinball, struct err *err);

bool follow_goes_on(const struct pinball *pinball); /* it had no end when it was last read */

#endif
