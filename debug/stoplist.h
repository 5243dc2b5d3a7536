/* stoplist.h - what to stop at, in the form that processes take it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DEBUG_STOPLIST_H
#define DEBUG_STOPLIST_H

#include "debug/debuggee.h"

/* {0} is an empty list; stoplist_set() makes it one that can be given to a process. */
struct stoplist {
    uint8_t *bytes; /* struct mailbox_stops and what follows it */
    size_t count;
    uint64_t serial; /* changes with the list */
};

int stoplist_set(struct stoplist *l, const struct debuggee_stops *stops, struct err *err);
int stoplist_copy(struct stoplist *to, const struct stoplist *from, struct err *err);
void stoplist_deinit(struct stoplist *l);

#endif
