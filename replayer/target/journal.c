/* journal.c - what the program did, told to the supervisor. SPDX-License-Identifier: MIT
 *
 * Entries are collected and told when there are many of them, or when the replay stops. What was
 * told by an earlier execution of the same stretch is not told again: output appears once.
 */
#include "replayer/target/journal.h"

#include "debug/target/post.h"
#include "engine/core/engine.h"
#include "engine/rt/rt.h"
#include "replayer/target/cursor.h"

enum { ROOM = MAILBOX_JOURNAL_BYTES, TEXT = 16 << 10 };
#define PADDED(bytes) (((bytes) + 7) & ~7ull)

static struct {
    uint64_t bytes;
    uint8_t entry[ROOM] __attribute__((aligned(8)));
} journal;
static uint64_t wanted, told;

void journal_run(uint64_t flags, uint64_t told_events)
{
    wanted = flags & (RUN_OUTPUT | RUN_EVENTS);
    told = told_events;
}

void journal_flush(void)
{
    struct mailbox *box = post_box();
    if (!journal.bytes)
        return;
    memcpy(box->data, journal.entry, journal.bytes);
    box->arg[1] = journal.bytes;
    journal.bytes = 0;
    post_ask(TELL_JOURNAL);
}

static bool wants(uint64_t what)
{
    return (wanted & what) && cursor_number() >= told;
}

static struct mailbox_entry *new_entry(const struct thread *t, enum event_kind kind, uint64_t text)
{
    uint64_t bytes = sizeof(struct mailbox_entry) + PADDED(text);
    if (ROOM - journal.bytes < bytes)
        journal_flush();
    struct mailbox_entry *e = (struct mailbox_entry *)(journal.entry + journal.bytes);
    *e = (struct mailbox_entry){.kind = kind,
                                .text_bytes = (uint32_t)text,
                                .at = {.events = cursor_number(),
                                       .count = thread_count(t),
                                       .pc = t->cpu.rip,
                                       .thread = t->number,
                                       .stage = STAGE_BEFORE}};
    journal.bytes += bytes;
    return e;
}

void journal_event(const struct thread *t, enum event_kind kind, int64_t a, int64_t b)
{
    if (!wants(RUN_EVENTS))
        return;
    struct mailbox_entry *e = new_entry(t, kind, 0);
    e->a = a;
    e->b = b;
}

bool journal_output(const struct thread *t, int fd, gaddr from, uint64_t bytes)
{
    while (bytes && wants(RUN_OUTPUT)) {
        uint64_t n = bytes < TEXT ? bytes : TEXT;
        struct mailbox_entry *e = new_entry(t, EVENT_OUTPUT, n);
        uint64_t missing = engine_copy(e + 1, (const void *)from, n);
        e->a = fd;
        if (missing) { /* more than is there cannot have been written, whatever the log says */
            journal.bytes -= PADDED(n) - PADDED(n - missing);
            e->text_bytes = (uint32_t)(n - missing);
            return false;
        }
        from += n;
        bytes -= n;
    }
    return true;
}
