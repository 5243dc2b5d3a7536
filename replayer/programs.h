/* programs.h - the programs of a recording: the first one, and one more for each execve.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_PROGRAMS_H
#define REPLAYER_PROGRAMS_H

#include "replayer/timeline.h"

/* {0} is an empty list. */
struct programs {
    struct debuggee_program *list;
    size_t count;
};

/* Notes program `number`, whose first instruction `replay` is at, unless it is known. */
int programs_note(struct programs *p, unsigned number, struct replay *replay,
                  struct pinball *pinball, struct err *err);
void programs_get(const struct programs *p, unsigned number, struct debuggee_program *out);
void programs_deinit(struct programs *p);

#endif
