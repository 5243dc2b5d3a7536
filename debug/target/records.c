/* records.c - records for the supervisor, through the mailbox.
 *
 * SPDX-License-Identifier: MIT
 *
 * The window is the process's own memory and not the mailbox, where the next chunk of the log or an
 * answer would overwrite it.
 */
#include "debug/target/records.h"

#include "debug/target/post.h"
#include "engine/rt/range.h"
#include "engine/rt/rt.h"

static uint64_t committed, records; /* nobody else reads the window while it fills */

static void hand_over(struct sink_writer *w)
{
    if (!w->used)
        return;
    memcpy(post_box()->data, w->window, w->used);
    post_box()->arg[1] = w->used;
    post_ask(TELL_RECORDS);
}

static void begin(struct sink_writer *w)
{
    w->window = range_alloc(MAILBOX_RECORDS_BYTES);
    w->bytes = MAILBOX_RECORDS_BYTES;
    w->committed = &committed;
    w->records = &records;
}

static bool next(struct sink_writer *w)
{
    hand_over(w);
    memset(w->window, 0, w->bytes);
    w->used = 0;
    return true;
}

static void end(struct sink_writer *w)
{
    hand_over(w);
    range_free(w->window, w->bytes);
}

const struct sink records_sink = {.begin = begin, .next = next, .end = end};
