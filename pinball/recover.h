/* recover.h - make a pinball of what a recorder that was killed left.
 *
 * SPDX-License-Identifier: MIT
 *
 * While a program is recorded, its newest records are in the file `ring`, which it fills through a
 * shared mapping: the kernel keeps them whoever is killed. The recorder holds a lock (flock) on
 * `ring`; once that is free and there is no `end`, what the ring holds is moved to `events`.
 */
#ifndef PINBALL_RECOVER_H
#define PINBALL_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct recovery {
    uint64_t chunks, records; /* moved from the ring */
    bool torn;                /* a chunk or record that was not whole was left out */
};

/* err->code is EBUSY if the recorder is alive. `what` may be NULL. A directory without `ring` or
 * with an `end` is left alone. */
int recover(const char *dir, struct recovery *what, struct err *err);

#endif
