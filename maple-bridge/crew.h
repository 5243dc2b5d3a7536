/* crew.h - processes that run the program again and again, several at once.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each worker is a process of its own, because a recorder has its process to itself. A job goes to
 * it by a pipe, the agenda by memory that both share, and the outcome comes back by a pipe. A run
 * that does not fail leaves nothing on disk; one that fails leaves a pinball under a name of the
 * worker's, which the driver renames or removes.
 */
#ifndef MAPLE_BRIDGE_CREW_H
#define MAPLE_BRIDGE_CREW_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "maple-bridge/agenda.h"

enum { CREW_MOST = 64, CREW_TEXT = 600 };

/* How runs are made: the same for all of them. */
struct crew_options {
    const char *version;
    const char *path;
    char *const *argv;
    const char *engine;         /* its options; NULL: none */
    const char *dir;            /* pinballs are made beside it */
    const char *check;          /* a command that says whether a run failed; NULL: none */
    const char *before, *after; /* commands around each run; NULL: none */
    const char *match;          /* it has failed if its standard error has this text; NULL: not */
    uint64_t cpu_ns;            /* the first limit of a run's CPU time */
};

enum crew_kind {
    CREW_PASSED,
    CREW_SIGNAL,
    CREW_STATUS,
    CREW_CIRCLE,
    CREW_STUCK,
    CREW_LONG,
    CREW_TEXT_MATCHED, /* a sanitizer's report, or crew_options.match */
    CREW_CHECK,
};

struct crew_job {
    uint64_t run;
    bool plain; /* nothing is perturbed */
    bool keep;  /* even if it does not fail */
    uint64_t cpu_ns;
};

struct crew_outcome {
    uint64_t run;
    int worker;
    enum crew_kind kind;
    int wait_status;
    bool kept;        /* there is a pinball: crew_place() */
    bool failed;      /* the run could not be made: text says why */
    int code;         /* ... as struct err has it */
    uint64_t used_ns; /* CPU time */
    uint32_t threads;
    char text[CREW_TEXT]; /* the end of its standard error */
};

struct crew;

struct crew *crew_new(const struct crew_options *o, int workers, struct err *err);
void crew_free(struct crew *c); /* ends them all; NULL is allowed */

int crew_size(const struct crew *c);
bool crew_is_free(const struct crew *c, int worker);
struct agenda *crew_agenda(const struct crew *c, int worker);
int crew_start(struct crew *c, int worker, const struct crew_job *job, struct err *err);
/* Waits for the next outcome. 1: there is one; 0: interrupted by a signal; -1 with *err. */
int crew_wait(struct crew *c, struct crew_outcome *out, struct err *err);
void crew_place(const struct crew *c, int worker, char out[PATH_MAX]); /* of its pinball */

#endif
