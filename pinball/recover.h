/* recover.h - make a pinball of what a recorder that was killed left.
 *
 * SPDX-License-Identifier: MIT
 *
 * While a program is recorded, its newest records are in the file `ring`, which it fills through a
 * shared mapping: the kernel keeps them even if both processes are killed. The recorder holds a
 * lock (flock) on `ring`; once that is free and there is no `end`, what the ring holds is moved to
 * `events`.
 */
#ifndef PINBALL_RECOVER_H
#define PINBALL_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct recovery {
    uint64_t chunks, records; /* moved from the ring */
    bool torn;                /* a chunk or record that was not whole was left out */

    /* Nothing could be written (the disk is full, or not ours): the directory is as it was. In
     * memory, to be closed by the caller: what follows the first whole_bytes of `events`, and all
     * of `index` and `end`. */
    bool in_memory;
    uint64_t whole_bytes;
    int events, index, end;
};

/* err->code is EBUSY if the recorder is alive. `what` may be NULL: then it is an error if nothing
 * can be written. A directory without `ring` or with an `end` is left alone. */
int recover(const char *dir, struct recovery *what, struct err *err);

#endif
