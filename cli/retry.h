/* retry.h - which runs leave a recording, and how often a program runs until one does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_RETRY_H
#define CLI_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { RETRY_KEEPS = 16 };

/* {0}: one run, which is kept. */
struct retry {
    struct retry_keep {
        int kind; /* a row of keeps[] in retry.c */
        int number;
    } keep[RETRY_KEEPS];
    size_t keeps;                 /* 0: every run is kept */
    uint64_t most_runs, most_ns;  /* both 0: one run */
    uint64_t runs;                /* so far */
    uint64_t begin_ns;            /* when the first one began */
    uint64_t shown_ns, shown_for; /* the last line of progress, and how long it is good for */
};

/* `failed`, `status:N` or `signal:NAME`; a run is kept if any of them holds. */
int retry_add_keep(struct retry *retry, const char *text, struct err *err);
/* `N` runs, or `Ns`: seconds in which runs may begin. */
int retry_limit(struct retry *retry, const char *text, struct err *err);
static inline bool retry_wanted(const struct retry *retry)
{
    return retry->most_runs || retry->most_ns;
}

void retry_begin_run(struct retry *retry);
/* Whether a run that ended so, as waitpid tells it, leaves its recording. */
bool retry_keeps(const struct retry *retry, int wait_status);
/* After a run that is not kept: whether there is to be another one. Says on a terminal, now and
 * then, how many there were. */
bool retry_again(struct retry *retry);

#endif
