/* journal.h - what the program did, as far as it was replayed.
 *
 * SPDX-License-Identifier: MIT
 *
 * Entries are kept in order, up to a limit; then the oldest outputs and calls stay and later ones
 * are not kept. {0} is an empty journal.
 */
#ifndef REPLAYER_JOURNAL_H
#define REPLAYER_JOURNAL_H

#include "debug/messages.h"
#include "replayer/timeline.h"

struct journal {
    uint8_t *bytes;
    size_t used, room;
    uint64_t told; /* events of the log before this one are in here */
    bool full;
    /* The number of the last entry's event, and how many entries it has; and how many of them the
     * present run has told. */
    uint64_t last_event;
    unsigned last_entries, last_again;
};

/* A process starts from somewhere: what it tells may be known. */
void journal_run(struct journal *j);
/* False: it was known. */
bool journal_add(struct journal *j, const struct mailbox_entry *e, const void *text);
void journal_told(struct journal *j, uint64_t events);
/* An entry in other words. The event points to the text. */
void journal_read(const struct mailbox_entry *e, const void *text, struct debuggee_event *event);
int journal_next(const struct journal *j, size_t *place, struct debuggee_event *event);
void journal_deinit(struct journal *j);

#endif
