/* journal.c - what the program did, as far as it was replayed. SPDX-License-Identifier: MIT */
#include "replayer/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FIRST_BYTES = 1 << 20, MOST_BYTES = 256 << 20 }; /* MOST is FIRST, doubled a few times */

static bool make_room(struct journal *j, size_t bytes)
{
    size_t need = j->used + bytes < FIRST_BYTES ? (size_t)FIRST_BYTES : j->used + bytes;
    return bytes <= MOST_BYTES - j->used && !array_reserve(&j->bytes, &j->room, need);
}

void journal_run(struct journal *j)
{
    j->last_again = 0;
}

/* Numbers of events grow, and an event's entries come in the same order every time. */
static bool is_known(struct journal *j, uint64_t event)
{
    if (event < j->last_event)
        return true;
    if (event == j->last_event && ++j->last_again <= j->last_entries)
        return true;
    j->last_entries = event == j->last_event ? j->last_entries + 1 : 1;
    j->last_again = j->last_entries;
    j->last_event = event;
    return false;
}

bool journal_add(struct journal *j, const struct mailbox_entry *e, const void *text)
{
    size_t padded = ((size_t)e->text_bytes + 7) & ~(size_t)7;
    if (is_known(j, e->at.events))
        return false;
    if (j->full || !make_room(j, sizeof *e + padded)) {
        j->full = true;
        return true;
    }
    memcpy(j->bytes + j->used, e, sizeof *e);
    memcpy(j->bytes + j->used + sizeof *e, text, e->text_bytes);
    j->used += sizeof *e + padded;
    return true;
}

void journal_told(struct journal *j, uint64_t events)
{
    if (events > j->told)
        j->told = events;
}

void journal_read(const struct mailbox_entry *e, const void *text, struct debuggee_event *event)
{
    *event = (struct debuggee_event){
        .kind = (enum event_kind)e->kind,
        .at = {.thread = e->at.thread, .count = e->at.count, .pc = e->at.pc},
        .number = e->at.events,
        .ticks = e->ticks,
        .unfinished = e->at.stage == STAGE_ENTERED,
        .call = e->a,
        .result = e->b,
        .text = text,
        .text_bytes = e->text_bytes};
}

int journal_next(const struct journal *j, size_t *place, struct debuggee_event *event)
{
    struct mailbox_entry e;
    if (j->used - *place < sizeof e || *place > j->used)
        return 0;
    memcpy(&e, j->bytes + *place, sizeof e);
    /* The place is what somebody says, and what is there may be a program's output. */
    if (e.text_bytes > j->used - *place - sizeof e)
        return 0;
    journal_read(&e, j->bytes + *place + sizeof e, event);
    *place += sizeof e + (((size_t)e.text_bytes + 7) & ~(size_t)7);
    return 1;
}

void journal_deinit(struct journal *j)
{
    free(j->bytes);
    *j = (struct journal){0};
}
