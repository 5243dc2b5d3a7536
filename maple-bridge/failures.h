/* failures.h - which failures a search has found: each distinct one once.
 *
 * SPDX-License-Identifier: MIT
 *
 * Two failures are the same if their kind and status are and the program was at the same place of
 * the user's own code: function and line of the thread that ended it; for a deadlock the lines
 * where the threads wait that nothing lets go on.
 */
#ifndef MAPLE_BRIDGE_FAILURES_H
#define MAPLE_BRIDGE_FAILURES_H

#include "maple-bridge/crew.h"

enum { FAILURES_MOST = 64, FAILURES_PLACE = 400 };

struct failure {
    uint64_t run;
    enum crew_kind kind;
    int status; /* as waitpid() tells it */
    char place[FAILURES_PLACE];
};

struct failures {
    struct failure list[FAILURES_MOST]; /* in the order of runs */
    size_t count;
};

/* What is known of a run that failed, by its pinball. The place stays empty if nothing tells it. */
void failures_sign(const char *dir, const struct crew_outcome *o, uint64_t run,
                   struct failure *out);
/* False: it was there already, or there are too many. One that was there gets the lower run. */
bool failures_add(struct failures *f, const struct failure *new);

#endif
