/* filter.h - which events a user wants to see, by a word.
 *
 * SPDX-License-Identifier: MIT
 *
 *   call signal thread output exec exit   a kind of event
 *   openat, 257                           a system call
 *   file net memory process ipc time      calls of a class; %signal, too: any class with %
 *   fd=3                                  calls that use the descriptor
 *   errno=ENOENT, failed                  calls that failed, with this error
 *   a word with / or * or ?               calls with a file of that name, a glob
 */
#ifndef DEBUG_EVENTS_FILTER_H
#define DEBUG_EVENTS_FILTER_H

#include "base/err.h"
#include "debug/events/describer.h"

enum filter_by {
    FILTER_ALL,
    FILTER_KIND,
    FILTER_CALL,
    FILTER_CLASS,
    FILTER_FD,
    FILTER_ERROR,
    FILTER_FAILED,
    FILTER_PATH,
};

struct filter {
    enum filter_by by;
    int64_t number;   /* of the descriptor, the error, the class */
    const char *name; /* kind, call; the user's glob */
};

/* "" is for all events. What it points to must outlive the filter. */
int filter_parse(const char *word, struct filter *out, struct err *err);
bool filter_takes(const struct filter *f, const struct described *event);

#endif
