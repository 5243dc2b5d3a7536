/* stoplist.h - what to stop at, in the form that replaying processes take it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef REPLAYER_STOPLIST_H
#define REPLAYER_STOPLIST_H

#include "replayer/replay_private.h"
#include "replayer/timeline.h"

/* {0} is an empty list. */
struct stoplist {
    uint8_t *bytes; /* struct mailbox_stops and what follows it */
    size_t count;
    uint64_t serial; /* changes with the list */
};

int stoplist_set(struct stoplist *l, const struct debuggee_stops *stops, struct err *err);
int stoplist_give(struct stoplist *l, struct replay *to, struct err *err);
void stoplist_deinit(struct stoplist *l);

#endif
