/* job.h - a drdebug that answers a question in a process of its own, while the window lives.
 *
 * SPDX-License-Identifier: MIT
 *
 * Its standard error is a terminal of its own, since drdebug tells a terminal how far long work is
 * (cli/progress.h). What else it says there is the complaint if it fails.
 */
#ifndef GUI_LINK_JOB_H
#define GUI_LINK_JOB_H

#include <stdbool.h>

#include "base/err.h"

struct job;

struct job_listener {
    void (*progress)(void *arg, int percent, const char *words); /* may be NULL; -1: not known */
    /* Each whole line that it prints, as it comes; what the user does goes before. NULL: done()
     * gets all of them. */
    void (*line)(void *arg, const char *line);
    /* Called once, and the job is gone then. out: all that it printed. complaint: NULL if it ended
     * well, "" if it was cancelled. */
    void (*done)(void *arg, const char *out, const char *complaint);
    void *arg;
};

struct job *job_new(const char *const argv[], const struct job_listener *listener, struct err *err);
/* done() comes later, from the main loop. */
void job_cancel(struct job *job);
/* As above, but done() does not come at all. NULL is allowed. */
void job_forget(struct job *job);

#endif
